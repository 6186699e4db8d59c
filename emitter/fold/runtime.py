"""
What one runtime did in the open minute, and all of them.

Kept per runtime, by pid and tag; what the instance did is summed from it when
the minute closes, so that a report costs no more than its own numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import astuple

from emitter.fold.samples import MAX_LATENCY_S, MAX_VCPU_PERCENT, amount, is_long_enough
from neuron_wire.holders import MAX_NAME_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from emitter.reports.groups import (
        Executions,
        ExecutionSummary,
        Percentiles,
        Runtime,
        RuntimeVcpu,
        Uses,
    )


RuntimeKey = tuple[int | None, str | None]
"""Pid and tag: tags collide (an unset one is "1" in every container), and so do pids over time."""


class RuntimeOwner(NamedTuple):
    """
    The owner of one runtime.

    Attributes:
        name: What people group by, such as `namespace/pod/container`; None when nobody says.

        team: Of whom, as the scheduler says; None where it does not.

        gone: Its pod or job is no longer on the instance, and its process is.

        is_sure: The process itself says that it is in a pod, task or job, whatever was given.
    """

    name: str | None = None
    team: str | None = None
    gone: bool = False
    is_sure: bool = False


NOBODY = RuntimeOwner()


def runtime_key(runtime: Runtime) -> RuntimeKey:
    """What tells one runtime from another: of the tag, as much as a line has."""
    tag = runtime.neuron_runtime_tag
    return runtime.pid, tag[:MAX_NAME_CHARS] if tag else tag


MAX_RUNTIMES: Final = 512
"""Runtimes told apart in one minute; an instance of today has 128 cores at most."""


class RuntimeFold:
    """
    One runtime.

    Attributes:
        key: Its pid and tag, or None for all that came after the first `MAX_RUNTIMES`.

        executions: Its tallies and latencies.

        used: Cores that it showed above 0.

        listed: The cores that it listed last, whatever that was worth; None
            before it had the group.

        has_failed: Whether a report said that something is wrong with it as a whole.
    """

    __slots__ = (
        "_flops_s", "_vcpu_s", "_weighted_flops", "_weighted_system", "_weighted_user",
        "executions", "has_failed", "key", "listed", "used",
    )  # fmt: skip

    def __init__(self, key: RuntimeKey | None) -> None:
        self.key = key
        self.executions = ExecutionFold()
        self.used: set[int] = set()
        self.listed: Uses | None = None
        self.has_failed = False
        self._flops_s = 0.0
        self._weighted_flops = 0.0
        self._vcpu_s = 0.0
        self._weighted_user = 0.0
        self._weighted_system = 0.0

    def add(self, runtime: Runtime) -> None:
        """Take what one report says, without the cores."""
        if runtime.error:
            self.has_failed = True
        report = runtime.report
        if report is None:
            return
        if report.execution_stats is not None:
            self.executions.add(report.execution_stats)
        if report.neuron_runtime_vcpu_usage is not None:
            self._add_vcpu(report.neuron_runtime_vcpu_usage)

    def add_cores(self, used: list[int], flops: float | None, weight_s: float) -> None:
        """
        Take its part of an accepted report that counts for *weight_s*.

        *used* are the cores above 0, *flops* the FLOP/s of all of them together.
        """
        if used:
            self.used.update(used)
        if flops is not None:
            self._flops_s += weight_s
            self._weighted_flops += weight_s * flops

    def tera_flops(self) -> float | None:
        """Achieved 10^12 FLOP/s, or None when no report told."""
        return self._weighted_flops / self._flops_s / 1e12 if self._flops_s else None

    def vcpu_percent(self) -> tuple[float | None, float | None]:
        """Percent of a vCPU that it spent in its own code and in the kernel."""
        if not self._vcpu_s:
            return None, None
        return self._weighted_user / self._vcpu_s, self._weighted_system / self._vcpu_s

    def _add_vcpu(self, vcpu: RuntimeVcpu) -> None:
        shares, period_s = vcpu.vcpu_usage, vcpu.period
        if vcpu.error or shares is None or not is_long_enough(period_s):
            return
        user, system = shares.user, shares.system
        if user is None or system is None:
            return
        if not (0 <= user < MAX_VCPU_PERCENT and 0 <= system < MAX_VCPU_PERCENT):
            return
        self._vcpu_s += period_s
        self._weighted_user += period_s * user
        self._weighted_system += period_s * system


class RuntimeFolds:
    """All runtimes of the open minute."""

    def __init__(self) -> None:
        self._by_key: dict[RuntimeKey | None, RuntimeFold] = {}

    def __iter__(self) -> Iterator[RuntimeFold]:
        return iter(self._by_key.values())

    def add(self, runtimes: list[Runtime]) -> list[RuntimeFold]:
        """Take the runtimes of one report; return the fold of each."""
        folds = []
        for runtime in runtimes:
            key: RuntimeKey | None = runtime_key(runtime)
            fold = self._by_key.get(key)
            if fold is None:
                if len(self._by_key) >= MAX_RUNTIMES:
                    # Whoever starts processes in a loop still gets true totals.
                    key = None
                fold = self._by_key.setdefault(key, RuntimeFold(key))
            fold.add(runtime)
            folds.append(fold)
        return folds

    def executions(self) -> ExecutionFold:
        """What all did together."""
        return ExecutionFold.over(one.executions for one in self)


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
