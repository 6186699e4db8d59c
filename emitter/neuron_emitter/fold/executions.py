"""
Executions of a minute and their latencies, of one runtime or of several.

The execution members are amounts of the period, not totals since start (measured), so they add up.
Percentiles do not merge: a minute has the execution-weighted mean of the medians and the greatest
99th percentile. `error_summary` counts some failures again by cause: its types are details and are
never added to `ExecutionErrors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import astuple

from neuron_emitter.fold.amounts import MAX_AMOUNT, MAX_LATENCY_S, amount, sum_known

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from neuron_emitter.reports.groups import (
        Executions,
        ExecutionSummary,
        Number,
        Percentiles,
        Whole,
    )

CAUSES: Final = {
    # Unreliable in 2023 (23,650 in a second without a failed execution) and absent in 2026: a
    # detail if above 0, in no metric and no alarm.
    "generic": "ErrorsGeneric",
    "numerical": "ErrorsNumerical",
    "transient": "ErrorsTransient",
    "model": "ErrorsModel",
    "runtime": "ErrorsRuntime",
    "hardware": "ErrorsHardware",
}
OTHER_CAUSE: Final = "ErrorsOther"  # a cause that a newer tool reports
_FAILED_COUNTERS: Final = (
    "ExecutionsCompletedWithErr",
    "ExecutionsCompletedWithNumErr",
    "ExecutionsTimedOut",
    "ExecutionsIncorrectInput",
    "ExecutionsFailedToQueue",
)
_EQUAL_WITHIN: Final = 1e-9  # the most that two means of the same numbers may differ


class LatencyFold:
    """
    One of the two latencies: total or device.

    Attributes:
        p99_max_s: Greatest 99th percentile, seconds, or None.
    """

    def __init__(self) -> None:
        self._weight = 0
        self._weighted_p50_s = 0.0
        self.p99_max_s: Number = None

    def add_percentiles(self, percentiles: Percentiles, completed: int) -> None:
        """Add one runtime's percentiles of one report, over *completed* executions."""
        p50_s = percentiles.p50
        p99_s = percentiles.p99
        if p50_s is not None and 0 <= p50_s <= MAX_LATENCY_S:
            weight = completed or 1
            self._weight += weight
            self._weighted_p50_s += weight * p50_s
        if p99_s is not None and 0 <= p99_s <= MAX_LATENCY_S:
            before_s = self.p99_max_s
            if before_s is None or p99_s > before_s:
                self.p99_max_s = p99_s

    def merge_latency(self, other: LatencyFold) -> None:
        """Add the latency of another runtime."""
        self._weight += other._weight
        self._weighted_p50_s += other._weighted_p50_s
        maxima = (self.p99_max_s, other.p99_max_s)
        self.p99_max_s = max((p99_s for p99_s in maxima if p99_s is not None), default=None)

    def p50_mean_s(self) -> Number:
        """Execution-weighted mean of the medians, seconds."""
        return self._weighted_p50_s / self._weight if self._weight else None


class ExecutionFold:
    """
    Executions of the open minute, of one runtime or of several.

    Attributes:
        ended: Executions that ended, or None when nothing was read.

        failed: Executions that failed, or None when nothing was read.

        details: Failures by type and errors by cause, only above 0.

        has_causes: True if errors by cause were read.

        min_s: Shortest execution of one runtime, seconds, or None.

        max_s: Longest execution of one runtime, seconds, or None.
    """

    def __init__(self) -> None:
        self.ended: Whole = None
        self.failed: Whole = None
        self.details: dict[str, int] = {}
        self.has_causes = False
        self.min_s: Number = None
        self.max_s: Number = None
        self.total = LatencyFold()
        self.device = LatencyFold()

    @classmethod
    def without_runtime(cls) -> ExecutionFold:
        """Return the executions of a minute in which no runtime exists: 0, and known."""
        none = cls()
        none.ended = none.failed = 0
        none.has_causes = True
        return none

    @classmethod
    def merged(cls, parts: Iterable[ExecutionFold]) -> ExecutionFold:
        """Return the executions of several runtimes, without the shortest and the longest."""
        whole = cls()
        for part in parts:
            whole.ended = sum_known(whole.ended, (part.ended,))
            whole.failed = sum_known(whole.failed, (part.failed,))
            for member, count in part.details.items():
                whole._add_detail(member, count)
            whole.has_causes = whole.has_causes or part.has_causes
            whole.total.merge_latency(part.total)
            whole.device.merge_latency(part.device)
        return whole

    def add_stats(self, stats: Executions) -> None:  # noqa: C901 - one function, for its speed
        """Add one runtime's group of one report. Short first periods count here too."""
        if stats.error:
            return
        completed = 0
        if stats.execution_summary is not None:
            completed = self._add_summary(stats.execution_summary)
        if stats.error_summary:
            self.has_causes = True
            if any(stats.error_summary.values()):
                for cause, count in stats.error_summary.items():
                    self._add_detail(CAUSES.get(cause, OTHER_CAUSE), amount(count))
        latency = stats.latency_stats
        if latency is None:
            return
        if (total := latency.total_latency) is not None:
            self.total.add_percentiles(total, completed)
            p0 = total.p0
            p100 = total.p100
            min_s = self.min_s
            max_s = self.max_s
            if p0 is not None and 0 <= p0 <= MAX_LATENCY_S and (min_s is None or p0 < min_s):
                self.min_s = p0
            if p100 is not None and 0 <= p100 <= MAX_LATENCY_S and (max_s is None or p100 > max_s):
                self.max_s = p100
        if (device := latency.device_latency) is not None:
            self.device.add_percentiles(device, completed)

    @property
    def done(self) -> Whole:
        """The number of executions that ended or failed, each once; None if none was read."""
        if self.ended is None or self.failed is None:
            return self.ended
        twice = sum(self.details.get(member, 0) for member in _FAILED_COUNTERS[:2])
        return self.ended + self.failed - twice

    def chosen_zeros(self, chosen: AbstractSet[str]) -> dict[str, int]:
        """Return 0 for each read member of *chosen*: a metric needs the 0, a line omits it."""
        endings = _FAILED_COUNTERS if self.ended is not None else ()
        causes = (*CAUSES.values(), OTHER_CAUSE) if self.has_causes else ()
        return {member: 0 for member in (*endings, *causes) if member in chosen}

    def latencies(self) -> dict[str, Number]:
        """
        Return seconds by the name of their member, None if they were not read.

        The gap is the time that an execution spends outside the device: median total minus median
        device.
        """
        total_s = self.total.p50_mean_s()
        device_s = self.device.p50_mean_s()
        gap_s = None
        if total_s is not None and device_s is not None:
            gap_s = total_s - device_s
            gap_s = gap_s if gap_s > _EQUAL_WITHIN * total_s else 0.0
        return {
            "LatencyP50Mean": total_s,
            "LatencyP99Max": self.total.p99_max_s,
            "LatencyMin": self.min_s,
            "LatencyMax": self.max_s,
            "DeviceLatencyP50Mean": device_s,
            "DeviceLatencyP99Max": self.device.p99_max_s,
            "LatencyGapP50": gap_s,
        }

    def _add_summary(self, summary: ExecutionSummary) -> int:
        """Add the counts of one runtime. Return the number of completed executions."""
        if (
            summary.completed_with_err
            == summary.completed_with_num_err
            == summary.timed_out
            == summary.incorrect_input
            == summary.failed_to_queue
            == 0
            and summary.completed is not None
            and 0 <= summary.completed <= MAX_AMOUNT
        ):
            # In nearly every report nothing has failed.
            ended = int(summary.completed)
            self.ended = (self.ended or 0) + ended
            self.failed = self.failed or 0
            return ended
        completed, *failures = (amount(count) for count in astuple(summary))
        if completed is not None:
            # Without the group, the failures alone would suggest that nothing was executed.
            self.ended = sum_known(self.ended, (completed, *failures[:2]))
        self.failed = sum_known(self.failed, failures)
        if any(failures):
            for member, count in zip(_FAILED_COUNTERS, failures, strict=True):
                self._add_detail(member, count)
        return completed or 0

    def _add_detail(self, member: str, count: Whole) -> None:
        if count:
            self.details[member] = self.details.get(member, 0) + count
