"""
vCPU and memory of the host over a minute.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from emitter.fold.amounts import amount
from emitter.fold.periods import is_long_enough

if TYPE_CHECKING:
    from emitter.reports.system_groups import HostMemory, System, VcpuShares

MAX_READINGS: Final = 60
"""Readings of a gauge that one minute looks back on: one a second."""


class HostFold:
    """
    Readings of the open minute.
    """

    def __init__(self) -> None:
        # Of gauges the last reading counts, and that is found when the minute closes.
        self._memory: deque[HostMemory] = deque(maxlen=MAX_READINGS)
        self._weight_s = 0.0
        self._weighted_percent = 0.0

    def add(self, system: System) -> None:
        """
        Take the system groups of one report.
        """
        memory = system.memory_info
        if memory is not None and not memory.error:
            self._memory.append(memory)
        vcpu = system.vcpu_usage
        if vcpu is None or vcpu.error:
            return
        period_s, average = vcpu.period, vcpu.average_usage
        if average is not None and is_long_enough(period_s):
            percent = _working_percent(average)
            if percent is not None:
                self._weight_s += period_s
                self._weighted_percent += period_s * percent

    def cpu_percent(self) -> float | None:
        """
        Share of vCPU time in which something ran, 0 to 100.
        """
        return self._weighted_percent / self._weight_s if self._weight_s else None

    def memory_bytes(self) -> tuple[int | None, int | None]:
        """
        Memory in use and in all, as last read.
        """
        return self._last("memory_used_bytes"), self._last("memory_total_bytes")

    def _last(self, name: str) -> int | None:
        sizes = (amount(getattr(memory, name)) for memory in reversed(self._memory))
        return next((size for size in sizes if size is not None), None)


def _working_percent(average: VcpuShares) -> float | None:
    """
    Time in which something runs; waiting for I/O is not work.
    """
    percent = (
        (average.user or 0.0)
        + (average.nice or 0.0)
        + (average.system or 0.0)
        + (average.irq or 0.0)
        + (average.soft_irq or 0.0)
    )
    if not percent and average.user is average.nice is average.system is None:
        return 0.0 if average.irq is not None or average.soft_irq is not None else None
    return min(100.0, max(0.0, percent))
