"""Run a synthetic fleet through simulated time: deliveries and a run of close each minute."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

from aggregator.minutes import minute_at
from proof.chaos.chaos_fleet import CHAOS_START_MINUTE
from proof.chaos.chaos_truth import compare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aggregator.storage.table import Table
    from neuron_wire import MinuteRecord
    from proof.chaos.chaos_fleet import Accepted

DELIVERED_S: Final = 45.0  # second of the minute at which its lines arrive
CLOSED_S: Final = 50.0  # second of the minute at which close runs
MOST_RUNS: Final = 60  # runs of close until no minute is open
LOSSES: Final = ("MinutesDropped", "RecordsUnreadable", "LinesRefused", "RecordsRejected")


class PlayedHour(ABC):
    """
    The hour of a fleet, and the rollups that close printed about it.

    Attributes:
        table: The functions' table.

        now_s: Simulated time, seconds since the epoch.

        runs: Number of runs of close.
    """

    table: Table

    def __init__(self, lived: Sequence[Accepted]) -> None:
        self.now_s = 0.0
        self.runs = 0
        self._lived = lived
        self._printed: list[str] = []
        self._restated: list[str] = []
        self._lines = self._printed

    @abstractmethod
    def deliver(self, records: list[MinuteRecord]) -> None:
        """Deliver the lines of *records* to ingest."""

    @abstractmethod
    def run_close(self) -> Mapping[str, float]:
        """Run close once; return the counts that close reports."""

    def take_line(self, line: str) -> None:
        """Keep one rollup line that close printed."""
        self._lines.append(line)

    def live(self) -> Counter[str]:
        """
        Run all minutes, and restate each minute once after every line has arrived.

        Returns:
            Compared rollups by cluster.

        Raises:
            AssertionError: With the first differences from the reference.
        """
        by_minute: dict[int, list[Any]] = defaultdict(list)
        for line in self._lived:
            by_minute[minute_at(line.at_s)].append(line.record)
        last = max(by_minute)
        self._close(CHAOS_START_MINUTE)
        for minute in range(CHAOS_START_MINUTE, last + 1):
            self.now_s = 60.0 * minute + DELIVERED_S
            self.deliver(by_minute[minute])
            self._close(minute)
        last = self._close_all(last)
        self._lines = self._restated
        closed = range(CHAOS_START_MINUTE, self._first_open())
        self.table.put_markers(closed, "again", 0)
        self._close_all(last)
        records = [line.record for line in self._lived]
        rollups, problems = compare(records, self._printed, self._restated, closed)
        assert not problems, "\n".join(map(str, problems[:20]))
        return rollups

    def _close_all(self, minute: int) -> int:
        """Run close after *minute* until it has no work; return the minute of the last run."""
        for later in range(minute + 1, minute + MOST_RUNS):
            if not self._close(later):
                return later
        message = f"close still has work after {MOST_RUNS} runs"
        raise AssertionError(message)

    def _close(self, minute: int) -> bool:
        """Run close in *minute*; return True if close restated a minute or left one."""
        self.now_s = 60.0 * minute + CLOSED_S
        counts = self.run_close()
        self.runs += 1
        losses = {name: counts[name] for name in LOSSES if counts[name]}
        assert not losses, f"minute {minute}: close reports {losses}"
        return bool(counts["MinutesWaiting"] or counts["MinutesRestated"])

    def _first_open(self) -> int:
        progress = self.table.read_progress()
        assert progress is not None
        return min([*progress.open_minutes, progress.next_minute])
