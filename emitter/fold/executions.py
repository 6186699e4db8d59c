"""
Execution tallies and latency of the runtimes over a minute.

The members are amounts of the period, not totals since start (measured), so
they add up. Percentiles do not merge: what a minute can say is the
execution-weighted mean of the medians and the greatest 99th percentile.
`error_summary` counts some failures again by cause: its types are details and
never added to `ExecutionErrors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.fold.amounts import amount, latency_s

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.reports.groups import ExecutionSummary, Percentiles, Runtime

_FAILED: Final = (
    "ExecutionsCompletedWithErr",
    "ExecutionsCompletedWithNumErr",
    "ExecutionsTimedOut",
    "ExecutionsIncorrectInput",
    "ExecutionsFailedToQueue",
)
_CAUSES: Final = {
    # Junk in 2023 (23,650 in a second without a failed execution), absent in
    # 2026: a detail when above 0, in no metric and no alarm.
    "generic": "ErrorsGeneric",
    "numerical": "ErrorsNumerical",
    "transient": "ErrorsTransient",
    "model": "ErrorsModel",
    "runtime": "ErrorsRuntime",
    "hardware": "ErrorsHardware",
}
OTHER_CAUSE: Final = "ErrorsOther"  # a cause that a newer tool names


class LatencyFold:
    """
    One of the two latencies: total or device.
    """

    def __init__(self) -> None:
        self._weight = 0
        self._weighted_p50_s = 0.0
        self.p99_max_s: float | None = None

    def add(self, percentiles: Percentiles, completed: int) -> None:
        """
        Take one runtime's percentiles of one report, and how many executions they are of.
        """
        p50_s, p99_s = latency_s(percentiles.p50), latency_s(percentiles.p99)
        if p50_s is not None:
            weight = completed or 1
            self._weight += weight
            self._weighted_p50_s += weight * p50_s
        if p99_s is not None:
            self.p99_max_s = max(p99_s, self.p99_max_s or 0.0)

    def p50_mean_s(self) -> float | None:
        """
        Execution-weighted mean of the medians, seconds.
        """
        return self._weighted_p50_s / self._weight if self._weight else None


class ExecutionFold:
    """
    Tallies of the open minute.

    Attributes:
        ended: Executions that ended, or None when nothing was read.

        failed: Executions that failed, or None when nothing was read.

        details: Failures by type and errors by cause, only above 0.
    """

    def __init__(self) -> None:
        self.ended: int | None = None
        self.failed: int | None = None
        self.details: dict[str, int] = {}
        self.total = LatencyFold()
        self.device = LatencyFold()

    def add(self, runtimes: Iterable[Runtime]) -> None:
        """
        Take the runtimes of one report; short first periods count here too.
        """
        for runtime in runtimes:
            stats = None if runtime.report is None else runtime.report.execution_stats
            if stats is None or stats.error:
                continue
            summary = stats.execution_summary
            completed = 0 if summary is None else self._add_summary(summary)
            if stats.error_summary and any(stats.error_summary.values()):
                for cause, count in stats.error_summary.items():
                    self._detail(_CAUSES.get(cause, OTHER_CAUSE), amount(count))
            latency = stats.latency_stats
            if latency is not None:
                if latency.total_latency is not None:
                    self.total.add(latency.total_latency, completed)
                if latency.device_latency is not None:
                    self.device.add(latency.device_latency, completed)

    def gap_s(self) -> float | None:
        """
        Time an execution spends outside of the device: median total less median device.
        """
        total_s, device_s = self.total.p50_mean_s(), self.device.p50_mean_s()
        if total_s is None or device_s is None:
            return None
        return max(0.0, total_s - device_s)

    def _add_summary(self, summary: ExecutionSummary) -> int:
        """
        Add the counts of one runtime, and say how many executions completed.
        """
        completed = amount(summary.completed)
        with_err = amount(summary.completed_with_err)
        with_num_err = amount(summary.completed_with_num_err)
        failures = (
            with_err,
            with_num_err,
            amount(summary.timed_out),
            amount(summary.incorrect_input),
            amount(summary.failed_to_queue),
        )
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
    """
    What was counted before and now, or None as long as nothing was.
    """
    for count in counts:
        if count is not None:
            before = count if before is None else before + count
    return before
