"""
Execution tallies and latency over a minute, of one runtime or of several.

The members are amounts of the period, not totals since start (measured), so
they add up. Percentiles do not merge: what a minute can say is the
execution-weighted mean of the medians and the greatest 99th percentile.
`error_summary` counts some failures again by cause: its types are details and
never added to `ExecutionErrors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import astuple

from emitter.fold.amounts import MAX_LATENCY_S, amount

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from emitter.reports.groups import Executions, ExecutionSummary, Percentiles

_FAILED: Final = (
    "ExecutionsCompletedWithErr", "ExecutionsCompletedWithNumErr", "ExecutionsTimedOut",
    "ExecutionsIncorrectInput", "ExecutionsFailedToQueue",
)  # fmt: skip
CAUSES: Final = {
    # Junk in 2023 (23,650 in a second without a failed execution), absent in
    # 2026: a detail when above 0, in no metric and no alarm.
    "generic": "ErrorsGeneric", "numerical": "ErrorsNumerical", "transient": "ErrorsTransient",
    "model": "ErrorsModel", "runtime": "ErrorsRuntime", "hardware": "ErrorsHardware",
}  # fmt: skip
OTHER_CAUSE: Final = "ErrorsOther"  # a cause that a newer tool names
_EQUAL_WITHIN: Final = 1e-9  # what two means of the same numbers may differ by
_NO_FAILURES: Final = [0.0] * len(_FAILED)


class LatencyFold:
    """
    One of the two latencies: total or device.

    Attributes:
        p99_max_s: Greatest 99th percentile, seconds, or None.
    """

    __slots__ = ("_weight", "_weighted_p50_s", "p99_max_s")

    def __init__(self) -> None:
        self._weight = 0
        self._weighted_p50_s = 0.0
        self.p99_max_s: float | None = None

    def add(self, percentiles: Percentiles, completed: int) -> None:
        """Take one runtime's percentiles of one report, and how many executions they are of."""
        p50_s, p99_s = percentiles.p50, percentiles.p99
        if p50_s is not None and 0 <= p50_s <= MAX_LATENCY_S:
            weight = completed or 1
            self._weight += weight
            self._weighted_p50_s += weight * p50_s
        if p99_s is not None and 0 <= p99_s <= MAX_LATENCY_S:
            before_s = self.p99_max_s
            if before_s is None or p99_s > before_s:
                self.p99_max_s = p99_s

    def include(self, other: LatencyFold) -> None:
        """Take what another runtime had."""
        self._weight += other._weight
        self._weighted_p50_s += other._weighted_p50_s
        self.p99_max_s = _greater(self.p99_max_s, other.p99_max_s)

    def p50_mean_s(self) -> float | None:
        """Execution-weighted mean of the medians, seconds."""
        return self._weighted_p50_s / self._weight if self._weight else None


class ExecutionFold:
    """
    Tallies of the open minute.

    Attributes:
        ended: Executions that ended, or None when nothing was read.

        failed: Executions that failed, or None when nothing was read.

        details: Failures by type and errors by cause, only above 0.

        has_causes: Whether errors by cause were read.

        min_s: Shortest execution, seconds, or None.

        max_s: Longest execution, seconds, or None.
    """

    __slots__ = (
        "details", "device", "ended", "failed", "has_causes", "max_s", "min_s", "total",
    )  # fmt: skip

    def __init__(self) -> None:
        self.ended: int | None = None
        self.failed: int | None = None
        self.details: dict[str, int] = {}
        self.has_causes = False
        self.min_s: float | None = None
        self.max_s: float | None = None
        self.total = LatencyFold()
        self.device = LatencyFold()

    @classmethod
    def of_nobody(cls) -> ExecutionFold:
        """Where no runtime exists, none executed anything."""
        nobody = cls()
        nobody.ended = nobody.failed = 0
        nobody.has_causes = True
        return nobody

    @classmethod
    def over(cls, parts: Iterable[ExecutionFold]) -> ExecutionFold:
        """What several runtimes had together, but for the shortest and the longest."""
        whole = cls()
        for part in parts:
            whole.ended = _sum(whole.ended, (part.ended,))
            whole.failed = _sum(whole.failed, (part.failed,))
            for member, count in part.details.items():
                whole._detail(member, count)
            whole.has_causes = whole.has_causes or part.has_causes
            whole.total.include(part.total)
            whole.device.include(part.device)
        return whole

    def add(self, stats: Executions) -> None:
        """Take one runtime's group of one report; short first periods count here too."""
        if stats.error:
            return
        completed = 0
        if stats.execution_summary is not None:
            completed = self._add_summary(stats.execution_summary)
        if stats.error_summary:
            self.has_causes = True
            if any(stats.error_summary.values()):
                for cause, count in stats.error_summary.items():
                    self._detail(CAUSES.get(cause, OTHER_CAUSE), amount(count))
        latency = stats.latency_stats
        if latency is None:
            return
        if (total := latency.total_latency) is not None:
            self.total.add(total, completed)
            self._bound(total.p0, total.p100)
        if (device := latency.device_latency) is not None:
            self.device.add(device, completed)

    @property
    def done(self) -> int | None:
        """Those that ended or failed, each once; None when nothing was read."""
        if self.ended is None or self.failed is None:
            return self.ended
        twice = sum(self.details.get(member, 0) for member in _FAILED[:2])
        return self.ended + self.failed - twice

    def _bound(self, min_s: float | None, max_s: float | None) -> None:
        if min_s is not None and 0 <= min_s <= MAX_LATENCY_S:
            before_s = self.min_s
            if before_s is None or min_s < before_s:
                self.min_s = min_s
        if max_s is not None and 0 <= max_s <= MAX_LATENCY_S:
            self.max_s = _greater(self.max_s, max_s)

    def zeros(self, chosen: AbstractSet[str]) -> dict[str, int]:
        """Those of *chosen* that were read, as the 0 that a metric needs and a line leaves out."""
        endings = _FAILED if self.ended is not None else ()
        causes = (*CAUSES.values(), OTHER_CAUSE) if self.has_causes else ()
        return {member: 0 for member in (*endings, *causes) if member in chosen}

    def gap_s(self) -> float | None:
        """Time an execution spends outside of the device: median total less median device."""
        total_s, device_s = self.total.p50_mean_s(), self.device.p50_mean_s()
        if total_s is None or device_s is None:
            return None
        gap_s = total_s - device_s
        return gap_s if gap_s > _EQUAL_WITHIN * total_s else 0.0

    def _add_summary(self, summary: ExecutionSummary) -> int:
        """Add the counts of one runtime, and say how many executions completed."""
        completed_raw, *failures_raw = astuple(summary)
        if failures_raw == _NO_FAILURES and (completed := amount(completed_raw)) is not None:
            self.ended = (self.ended or 0) + completed
            self.failed = self.failed or 0
            return completed
        completed = amount(summary.completed)
        with_err = amount(summary.completed_with_err)
        with_num_err = amount(summary.completed_with_num_err)
        failures = (
            with_err, with_num_err, amount(summary.timed_out), amount(summary.incorrect_input),
            amount(summary.failed_to_queue),
        )  # fmt: skip
        self.ended = _sum(self.ended, (completed, with_err, with_num_err))
        self.failed = _sum(self.failed, failures)
        if any(failures):
            for member, count in zip(_FAILED, failures, strict=True):
                self._detail(member, count)
        return completed or 0

    def _detail(self, member: str, count: int | None) -> None:
        if count:
            self.details[member] = self.details.get(member, 0) + count


def _sum(before: int | None, counts: tuple[int | None, ...]) -> int | None:
    """What was counted before and now, or None as long as nothing was."""
    for count in counts:
        if count is not None:
            before = count if before is None else before + count
    return before


def _greater(one: float | None, other: float | None) -> float | None:
    """The greater of two, where None is no value."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)
