"""
vCPU and memory of the host over a minute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.fold.amounts import amount
from emitter.fold.periods import is_long_enough
from emitter.reports.groups import VcpuShares

if TYPE_CHECKING:
    from emitter.reports.groups import System, VcpuUsage

_UNTOLD: Final = VcpuShares()


class HostFold:
    """
    Readings of the open minute.

    Attributes:
        memory_used_bytes: As last read, or None.

        memory_total_bytes: As last read, or None.
    """

    def __init__(self) -> None:
        self.memory_used_bytes: int | None = None
        self.memory_total_bytes: int | None = None
        self._weight_s = 0.0
        self._weighted_percent = 0.0

    def add(self, system: System) -> None:
        """
        Take the system groups of one report.
        """
        memory = system.memory_info
        if memory is not None and not memory.error:
            used, total = amount(memory.memory_used_bytes), amount(memory.memory_total_bytes)
            self.memory_used_bytes = self.memory_used_bytes if used is None else used
            self.memory_total_bytes = self.memory_total_bytes if total is None else total
        vcpu = system.vcpu_usage
        if vcpu is not None and not vcpu.error and is_long_enough(vcpu.period):
            percent = _working_percent(vcpu)
            if percent is not None:
                self._weight_s += vcpu.period
                self._weighted_percent += vcpu.period * percent

    def cpu_percent(self) -> float | None:
        """
        Share of vCPU time in which something ran, 0 to 100.
        """
        return self._weighted_percent / self._weight_s if self._weight_s else None


def _working_percent(vcpu: VcpuUsage) -> float | None:
    """
    Time in which something runs; waiting for I/O is not work.
    """
    average = vcpu.average_usage
    if average is None or average == _UNTOLD:
        return None
    percent = (
        (average.user or 0.0)
        + (average.nice or 0.0)
        + (average.system or 0.0)
        + (average.irq or 0.0)
        + (average.soft_irq or 0.0)
    )
    return min(100.0, max(0.0, percent))
