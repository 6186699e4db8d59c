"""The whole proof runs each of its parts."""

from proof.__main__ import Part, PartResult, prove

PARTS = [Part("red", ("a",)), Part("away", ("b",), unavailable=3), Part("green", ("c",))]
CODES = {"red": 3, "away": 3, "green": 0}


def test_every_part_runs_whatever_the_parts_before_it_returned():
    """A failed part stops no other part, and is not taken for one that cannot be tried here."""
    results = prove(PARTS, lambda part: CODES[part.name])
    states = {result.part.name: result.state for result in results}
    assert {"red": "FAILED", "away": "not tried", "green": "passed"} == states


def test_a_killed_part_has_failed():
    """A part that a signal ended has failed."""
    assert "FAILED" == PartResult(PARTS[1], -9, 1.0).state
