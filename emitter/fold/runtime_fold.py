"""
What one runtime did in the open minute, and all of them.

Kept per runtime, by pid and tag; what the instance did is summed from it when
the minute closes, so that a report costs no more than its own numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.fold.amounts import MAX_VCPU_PERCENT
from emitter.fold.executions import ExecutionFold
from emitter.fold.periods import is_long_enough
from emitter.fold.runtime_owner import runtime_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.fold.runtime_owner import RuntimeKey
    from emitter.reports.groups import Runtime, RuntimeVcpu, Uses

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
