"""
How long late records wait: the real runs of close, on a clock that only their work moves.

`python -m proof.lateness SECONDS...` prints it for a close that takes so many
seconds to read and publish one minute.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aggregator.close.run import CloseRun
from aggregator.environment import Rules
from aggregator.storage.item import BUCKETS
from proof.memory_table import MemoryTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

TICKS = 195
PAUSE = 30  # ticks without a run, of the backlog
TIMEOUT_S = 55.0
_START = 30_000_000  # an epoch minute
ONE_LATE: Sequence[int] = (5,)
"""Ages of minutes for which something comes late at each tick: one, five minutes old."""

AN_HOUR_LATE: Sequence[int] = range(2, 61)
"""The same where 1 % of 100,000 records of each minute come any time within an hour."""


@dataclass(frozen=True)
class Waits:
    """
    What late records saw.

    Attributes:
        longest_minutes: That one waited to be published.

        backlog_runs: After a pause, until nothing waited; None if that never came.

        busiest_s: Of a run.
    """

    longest_minutes: float
    backlog_runs: int | None
    busiest_s: float


@dataclass
class _Watch:
    now_s: float
    marked_at: dict[int, float] = field(default_factory=dict)  # what nobody has restated
    waited_s: list[float] = field(default_factory=list)


class _SlowTable(MemoryTable):
    """To read all buckets of a minute takes as long as to read and publish it does."""

    def __init__(self, watch: _Watch, minute_s: float) -> None:
        super().__init__()
        self._watch = watch
        self._bucket_s = minute_s / BUCKETS

    def put_markers(self, minutes: Iterable[int], token: str, expires_s: int) -> None:
        minutes = list(minutes)
        for minute in minutes:
            self._watch.marked_at.setdefault(minute, self._watch.now_s)
        super().put_markers(minutes, token, expires_s)

    def clear_marker(self, minute: int, token: str) -> None:
        super().clear_marker(minute, token)
        self._watch.waited_s.append(self._watch.now_s - self._watch.marked_at.pop(minute))

    def read_bucket(self, minute: int, bucket: int) -> Iterator[bytes]:
        self._watch.now_s += self._bucket_s
        return super().read_bucket(minute, bucket)


def waits(minute_s: float, late_ages: Sequence[int], pause: int = 0) -> Waits:
    """Run close for `TICKS` minutes; without runs for the first *pause* of them."""
    watch = _Watch(_START * 60.0)
    table = _SlowTable(watch, minute_s)
    busiest_s, waiting = 0.0, []
    _close(table, watch)
    for tick in range(1, TICKS + 1):
        begun_s = watch.now_s = (_START + tick) * 60.0
        marked = [_START + tick - age for age in late_ages if age < tick]
        table.put_markers(marked, f"{tick}", 0)
        if tick > pause:
            waiting.append(_close(table, watch))
            busiest_s = max(busiest_s, watch.now_s - begun_s)
    still = [watch.now_s - since_s for since_s in watch.marked_at.values()]
    worked_off = next((runs for runs, left in enumerate(waiting, 1) if not left), None)
    return Waits(max([*watch.waited_s, *still], default=0.0) / 60, worked_off, busiest_s)


def _close(table: MemoryTable, watch: _Watch) -> int:
    """One run; the minutes that it left open although they were due."""
    end_s = watch.now_s + TIMEOUT_S
    outcome = CloseRun(
        table=table,
        rules=Rules(),
        emit=lambda _: None,
        now_s=lambda: watch.now_s,
        remaining_s=lambda: end_s - watch.now_s,
    ).run()
    return 0 if outcome.seconds_behind < Rules().grace_s + 60 else outcome.minutes_waiting


def main(arguments: Sequence[str]) -> None:
    """Print a row for each number of seconds."""
    sys.stdout.write("seconds of a minute: late, longest wait in minutes, backlog, busiest run\n")
    for minute_s in map(float, arguments):
        for name, ages in (("none", ()), ("one", ONE_LATE), ("an hour", AN_HOUR_LATE)):
            quiet, paused = waits(minute_s, ages), waits(minute_s, ages, PAUSE)
            sys.stdout.write(
                f"{minute_s}: {name}, {quiet.longest_minutes:.1f}, {paused.backlog_runs} runs"
                f" ({paused.longest_minutes:.1f}), {quiet.busiest_s:.0f} s\n"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
