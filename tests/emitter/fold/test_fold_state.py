"""What is read back of an earlier run, of this release or of another."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from neuron_reports import START_S, add, closed, counters, new_fold, report, runtime

from emitter.fold.state import FoldState, read_state


def stored():
    """The state after one minute of four idle cores."""
    fold = new_fold()
    for second in range(0, 60, 5):
        add(fold, report(runtime(counters([0, 0, 0, 0]))), START_S + second)
    closed(fold)
    return json.loads(fold.encode_state())


@pytest.mark.parametrize(
    ("changes", "lost"),
    [
        ({"ecc": [1, 2]}, {"ecc"}),
        ({"ecc": {"0:mem_ecc_corrected": -1}}, {"ecc"}),
        ({"cores": "four"}, {"cores"}),
        ({"cores": 100_000}, {"cores"}),
        ({"cores_per_device": 0}, {"cores_per_device"}),
        ({"idle_minutes": [0] * 2000}, {"idle_minutes"}),
        ({"idle_minutes": [-1]}, {"idle_minutes"}),
        ({"idle_label": "yesterday"}, {"idle_label", "idle_minutes"}),
        *(({"instance_id": text}, {"instance_id"}) for text in ("", " ", "i" * 129, "i\x7f")),
        ({"new_in_the_next_release": {"a": 1}}, set()),
    ],
)
def test_a_member_that_cannot_be_read_begins_again_alone(changes, lost):
    """
    Written by an older or a newer release, or damaged: nothing else is lost. Idle minutes
    without their label are of any age.
    """
    whole = stored()
    found = json.loads(read_state(json.dumps({**whole, **changes}).encode()).encoded())
    fresh = json.loads(FoldState().encoded())
    assert {**whole, **{name: fresh[name] for name in lost}} == found


@pytest.mark.parametrize("encoded", [None, b"", b"\xff", b"[]", b"{", b"null", b"7"])
def test_what_is_no_state_is_a_first_start(encoded):
    """It costs idle minutes and nothing else."""
    assert FoldState() == read_state(encoded)


@given(st.binary() | st.text().map(str.encode))
def test_no_state_stops_the_emitter(encoded):
    """Whatever stands in the spool."""
    fold = new_fold(encoded)
    add(fold, report(runtime(counters([0, 0, 0, 0]))), START_S)
    assert "aaaa" == closed(fold).core_state
