"""What repeats: said once, then with its number."""

from __future__ import annotations

from emitter.logs import Repeats


def test_what_repeats_is_said_with_its_number():
    """
    At once, then once per interval; the interval is inclusive, a clock set back does not silence.
    """
    times_s = [1000.0]
    repeats = Repeats(10, lambda: times_s[0])
    assert 3 == repeats.due("a", 3)
    assert 0 == repeats.due("a", 4)
    assert 1 == repeats.due("b")
    times_s[0] += 10
    assert 5 == repeats.due("a")
    times_s[0] -= 5
    assert 1 == repeats.due("a")
