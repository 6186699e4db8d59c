"""Rule: time. A report has no timestamp inside."""

from __future__ import annotations

import pytest

from proof.factories.reports import START_S, Reading, inf1_busy, trn1_nobody


def test_the_minute_is_that_of_receipt():
    """The minute is that of receipt."""
    reading = Reading()
    reading.take(inf1_busy(), START_S + 59.9)
    assert not reading.fold.is_due(START_S + 59.999)
    assert reading.fold.is_due(START_S + 60)
    assert START_S * 1000 == reading.close().minute_ms
    reading.take(inf1_busy(), START_S + 60)
    assert (START_S + 60) * 1000 == reading.close().minute_ms


def test_a_straddling_report_is_not_split():
    """
    A straddling report is not split: received 1 s into a minute, all its 5 s are of that minute.
    """
    reading = Reading()
    first = reading.minute()
    reading.take(inf1_busy(), START_S + 61)
    second = reading.close()
    assert (0, 5.0) == (first.covered_seconds, second.covered_seconds)
    assert 300 == second.executions


@pytest.mark.parametrize("received_s", [0, 17.3, 59.99])
def test_a_records_timestamp_is_the_start_of_its_minute(received_s):
    """A record's timestamp is the start of its minute."""
    reading = Reading()
    reading.take(trn1_nobody(), START_S + received_s)
    assert START_S * 1000 == reading.close().minute_ms


def test_minutes_never_reopen():
    """
    Minutes never reopen: after a backward clock step reports go to the open minute until the
    clock passes it.
    """
    reading = Reading()
    closed = reading.minute(inf1_busy())
    reading.take(inf1_busy(), START_S - 30)
    assert not reading.fold.is_due(START_S - 25)
    reading.take(inf1_busy(), START_S + 30)
    assert not reading.fold.is_due(START_S + 119)
    assert reading.fold.is_due(START_S + 120)
    after = reading.close()
    assert closed.minute_ms + 60_000 == after.minute_ms
    assert 2 == after.reports
