"""
No late record waits without end, and close catches up after a pause.

The real runs of close, on a clock that advances only by their work.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from aggregator.close.run import CloseRun
from aggregator.environment import Rules
from aggregator.storage.record_items import TABLE_BUCKETS
from neuron_emf.cost.quantities import FIRST_CLOSE_S
from proof.memory_table import MemoryTable

CLOSE_TICKS_LATE = 195
PAUSE = 30  # ticks of a pause without a run
TIMEOUT_S = 55.0
FIRST_LATE_MINUTE = 30_000_000  # an epoch minute
ONE_LATE = (5,)
"""Ages of minutes with a late record at each tick: five minutes old."""

AN_HOUR_LATE = range(2, 61)
"""
Ages of minutes with late records, if 1 % of 100,000 records of each minute come within an hour.
"""


@dataclass
class Watch:
    """The clock, and the times since which minutes wait."""

    now_s: float
    marked_at: dict[int, float] = field(default_factory=dict)  # minutes that are not restated yet
    waited_s: list[float] = field(default_factory=list)


class SlowTable(MemoryTable):
    """A table whose minute takes as long to read as a real one takes to read and publish."""

    def __init__(self, watch, minute_s):
        super().__init__()
        self._watch = watch
        self._bucket_s = minute_s / TABLE_BUCKETS

    def put_markers(self, minutes, token, expires_s):
        minutes = list(minutes)
        for minute in minutes:
            self._watch.marked_at.setdefault(minute, self._watch.now_s)
        super().put_markers(minutes, token, expires_s)

    def clear_marker(self, minute, token):
        super().clear_marker(minute, token)
        self._watch.waited_s.append(self._watch.now_s - self._watch.marked_at.pop(minute))

    def read_bucket(self, minute, bucket):
        self._watch.now_s += self._bucket_s
        return super().read_bucket(minute, bucket)


def waits(minute_s, late_ages, pause=0):
    """
    Run close for CLOSE_TICKS_LATE minutes, without the first *pause* runs.

    Returns the longest minutes that a late record waited, the runs after the pause until
    nothing waited (None if it always did), and the seconds of the busiest run.
    """
    watch = Watch(FIRST_LATE_MINUTE * 60.0)
    table = SlowTable(watch, minute_s)
    busiest_s = 0.0
    waiting = []
    close(table, watch)
    for tick in range(1, CLOSE_TICKS_LATE + 1):
        begun_s = watch.now_s = (FIRST_LATE_MINUTE + tick) * 60.0
        marked = [FIRST_LATE_MINUTE + tick - age for age in late_ages if age < tick]
        table.put_markers(marked, f"{tick}", 0)
        if tick > pause:
            waiting.append(close(table, watch))
            busiest_s = max(busiest_s, watch.now_s - begun_s)
    still = [watch.now_s - since_s for since_s in watch.marked_at.values()]
    worked_off = next((runs for runs, left in enumerate(waiting, 1) if not left), None)
    return max([*watch.waited_s, *still], default=0.0) / 60, worked_off, busiest_s


def close(table, watch):
    """Run close once; return the number of due minutes that stay open."""
    end_s = watch.now_s + TIMEOUT_S
    outcome = CloseRun(
        table=table,
        rules=Rules(),
        emit=lambda _: None,
        now_s=lambda: watch.now_s,
        remaining_s=lambda: end_s - watch.now_s,
    ).run()
    return 0 if outcome.seconds_behind < Rules().grace_s + 60 else outcome.minutes_waiting


@pytest.mark.parametrize(
    ("late_ages", "longest_minutes"), [((), 0), (ONE_LATE, 1), (AN_HOUR_LATE, 30)]
)
def test_late_records_are_published_within_half_an_hour(late_ages, longest_minutes):
    """
    Late records are published within half an hour, with the memory that the page of scale
    recommends.
    """
    longest, _, busiest_s = waits(FIRST_CLOSE_S, late_ages)
    assert longest <= longest_minutes
    assert busiest_s < 50


def test_half_an_hour_without_a_run_is_made_up():
    """
    Close catches up within ten runs after half an hour without a run, while late records arrive and
    wait no longer.
    """
    longest, backlog_runs, _ = waits(FIRST_CLOSE_S, AN_HOUR_LATE, PAUSE)
    assert 10 == backlog_runs
    assert (longest <= PAUSE) is True
