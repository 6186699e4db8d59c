"""
One report and the truth about it.

Every report contains every group, and every group measures its own period, which differs slightly
from the requested one; in the first report all of them cover milliseconds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from local.monitor.hosts import PAGE_BYTES
from local.monitor.runtime_groups import WRITTEN_RUNTIME_GROUPS, RuntimeEntry, group
from local.monitor.simulated_instance import SIMULATED_ECC_COUNTERS
from local.monitor.simulator_truth import ReportTruth

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from local.monitor.simulated_instance import SimulatedInstance

WRITTEN_SYSTEM_GROUPS: Final = ("memory_info", "neuron_hw_counters", "vcpu_usage")
_FIRST_PERIOD_S: Final = (0.0005, 0.07)
_VCPU_USES: Final = ("user", "nice", "system", "idle", "io_wait", "irq", "soft_irq")
_LATENESS_S: Final = 0.0005  # the largest difference of a measured period


class ReportWriter:
    """Writes the reports of one instance, in order, for a monitor of one period."""

    def __init__(self, instance: SimulatedInstance, period_s: int) -> None:
        self._instance = instance
        self._period_s = period_s
        self._entries = [RuntimeEntry(instance, runtime) for runtime in instance.runtimes]
        self._vcpu_keys = sorted(range(instance.host.vcpus), key=str)
        self._working_vcpus = len(instance.runtimes) and instance.host.vcpus // 2
        self._number = 0
        self._last_ms = 0

    def write_report(self, at_ms: int) -> tuple[bytes, ReportTruth]:
        """
        Write the next report, due at *at_ms*.

        Returns:
            The line with its newline, and what is true about it.
        """
        instance = self._instance
        number = self._number
        rng = instance.rng(f"report {number}")
        elapsed_s = (at_ms - self._last_ms) / 1000 if number else None
        periods_s = {
            name: _measured_s(elapsed_s, rng)
            for name in (*WRITTEN_SYSTEM_GROUPS, *WRITTEN_RUNTIME_GROUPS)
        }
        self._number += 1
        self._last_ms = at_ms
        percent_by_core: dict[int, float] = {}
        executions: dict[str, int] = {}
        documents = []
        for entry in self._entries:
            percents = instance.percents(entry.runtime, number, rng)
            document, ended = entry.runtime_entry(percents, periods_s, rng)
            documents.append(document)
            percent_by_core |= percents
            executions = {name: executions.get(name, 0) + ended[name] for name in ended}
        report = {
            "neuron_runtime_data": documents,
            "system_data": {
                "memory_info": self._memory(periods_s["memory_info"], rng),
                "neuron_hw_counters": self._hardware(periods_s["neuron_hw_counters"]),
                "vcpu_usage": self._vcpu(number, periods_s["vcpu_usage"], rng),
            },
            "instance_info": instance.identity_block(),
            "neuron_hardware_info": instance.host.hardware_block(),
        }
        held = {core for runtime in instance.runtimes for core in runtime.held}
        produced = ReportTruth(
            instance=instance.instance_id,
            cores=instance.cores,
            nominal_s=self._period_s,
            at_ms=at_ms,
            period_s=periods_s["neuroncore_counters"]
            if documents
            else max(periods_s[name] for name in WRITTEN_SYSTEM_GROUPS),
            runtimes=len(documents),
            percents=[percent_by_core.get(core, 0.0) for core in range(instance.cores)],
            held=[core in held for core in range(instance.cores)],
            executions=executions,
        )
        line = json.dumps(report, separators=(",", ":"), allow_nan=False)
        return line.encode() + b"\n", produced

    def _memory(self, period_s: float, rng: random.Random) -> dict[str, object]:
        total_bytes = self._instance.host.memory_bytes
        share = 0.15 if self._instance.runtimes else 0.04
        used_bytes = int(total_bytes * (share + 0.01 * rng.random()))
        return group(
            period_s,
            memory_total_bytes=total_bytes,
            memory_used_bytes=used_bytes // PAGE_BYTES * PAGE_BYTES,
            swap_total_bytes=0,
            swap_used_bytes=0,
        )

    def _hardware(self, period_s: float) -> dict[str, object]:
        devices = [
            {"neuron_device_index": device, **dict.fromkeys(SIMULATED_ECC_COUNTERS, 0)}
            for device in range(self._instance.host.hardware.devices)
        ]
        return group(period_s, neuron_devices=devices)

    def _vcpu(self, number: int, period_s: float, rng: random.Random) -> dict[str, object]:
        usage = {str(vcpu): self._one_vcpu(vcpu, number, rng) for vcpu in self._vcpu_keys}
        mean = {
            name: _plain(round(sum(percent[name] for percent in usage.values()) / len(usage), 2))
            for name in _VCPU_USES
        }
        switches = int((700 + 300 * rng.random()) * len(usage) * period_s)
        return group(period_s, average_usage=mean, usage_data=usage, context_switch_count=switches)

    def _one_vcpu(self, vcpu: int, number: int, rng: random.Random) -> Mapping[str, float]:
        chance = rng.random()
        user_share = 20 + 30 * chance
        system_share = 4 * chance
        if vcpu >= self._working_vcpus:
            user_share = 1.5 * chance
            system_share = 0.4 * chance
        if number == 0:  # milliseconds: shorter than a tick of the kernel's clock
            user_share = system_share = 0.0
        user = round(user_share, 2)
        system = round(system_share, 2)
        idle = _plain(round(100 - user - system, 2))
        given = {"user": _plain(user), "system": _plain(system), "idle": idle}
        return {name: given.get(name, 0) for name in _VCPU_USES}


def _measured_s(elapsed_s: float | None, rng: random.Random) -> float:
    if elapsed_s is None:
        low, high = _FIRST_PERIOD_S
        return round(low + (high - low) * rng.random(), 9)
    return round(elapsed_s + _LATENESS_S * (2 * rng.random() - 0.5), 9)


def _plain(value: float) -> float:
    """Return a whole number without its ".0", as the real monitor writes it."""
    return int(value) if value == int(value) else value
