"""`system_data`: the host's CPU and memory, and the hardware counters of its devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from local.monitor.configuration import HARDWARE, HOST_MEMORY, HOST_VCPU
from local.monitor.hosts import PAGE_BYTES

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from local.monitor.instance import SimulatedInstance

_VCPU_USES: Final = ("user", "nice", "system", "idle", "io_wait", "irq", "soft_irq")


class SystemEntry:
    """The host as its reports say it."""

    def __init__(self, instance: SimulatedInstance) -> None:
        self._instance = instance
        self._vcpu_keys = sorted(range(instance.host.vcpus), key=str)
        self._working_vcpus = len(instance.runtimes) and instance.host.vcpus // 2

    def write(
        self, number: int, periods_s: Mapping[str, float], rng: random.Random
    ) -> dict[str, object] | None:
        """Write the groups named in *periods_s*; None (null) when none is due."""
        groups: dict[str, object] = {}
        if HOST_MEMORY in periods_s:
            groups[HOST_MEMORY] = self._memory(periods_s[HOST_MEMORY], rng)
        if HARDWARE in periods_s:
            groups[HARDWARE] = self._hardware(number, periods_s[HARDWARE])
        if HOST_VCPU in periods_s:
            groups[HOST_VCPU] = self._vcpu(number, periods_s[HOST_VCPU], rng)
        return groups or None

    def _memory(self, period_s: float, rng: random.Random) -> dict[str, object]:
        total_bytes = self._instance.host.memory_bytes
        share = 0.15 if self._instance.runtimes else 0.04
        used_bytes = int(total_bytes * (share + 0.01 * rng.random()))
        return {
            "period": period_s,
            "memory_total_bytes": total_bytes,
            "memory_used_bytes": used_bytes // PAGE_BYTES * PAGE_BYTES,
            "swap_total_bytes": 0,
            "swap_used_bytes": 0,
            "error": "",
        }

    def _hardware(self, number: int, period_s: float) -> dict[str, object]:
        return {
            "period": period_s,
            "neuron_devices": [
                {"neuron_device_index": device, **self._instance.ecc(device, number)}
                for device in range(self._instance.host.hardware.devices)
            ],
            "error": "",
        }

    def _vcpu(self, number: int, period_s: float, rng: random.Random) -> dict[str, object]:
        usage = {str(vcpu): self._one_vcpu(vcpu, number, rng) for vcpu in self._vcpu_keys}
        mean = {
            name: _plain(round(sum(one[name] for one in usage.values()) / len(usage), 2))
            for name in _VCPU_USES
        }
        return {
            "period": period_s,
            "average_usage": mean,
            "usage_data": usage,
            "context_switch_count": int((700 + 300 * rng.random()) * len(usage) * period_s),
            "error": "",
        }

    def _one_vcpu(self, vcpu: int, number: int, rng: random.Random) -> dict[str, float]:
        chance = rng.random()
        if number == 0:
            user = system = 0.0  # milliseconds: no tick of the kernel's clock in them
        elif vcpu < self._working_vcpus:
            user, system = round(20 + 30 * chance, 2), round(4 * chance, 2)
        else:
            user, system = round(1.5 * chance, 2), round(0.4 * chance, 2)
        return {
            "user": _plain(user),
            "nice": 0,
            "system": _plain(system),
            "idle": _plain(round(100 - user - system, 2)),
            "io_wait": 0,
            "irq": 0,
            "soft_irq": 0,
        }


def _plain(value: float) -> float:
    """A whole number without its ".0", as the real one writes it."""
    return int(value) if value == int(value) else value
