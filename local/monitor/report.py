"""
One report and the truth about it.

A report holds only the groups that are due at its moment. Every group measures
its own period, a little off the one that was asked for; in the first report
all of them cover milliseconds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from local.monitor.configuration import COUNTERS, HARDWARE, HOST_MEMORY, HOST_VCPU, MEMORY
from local.monitor.hosts import PAGE_BYTES
from local.monitor.instance import ECC_COUNTERS
from local.monitor.runtime_groups import RuntimeEntry

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from local.monitor.configuration import Configuration
    from local.monitor.instance import SimulatedInstance
    from local.monitor.schedule import Tick

_FIRST_PERIOD_S: Final = (0.0005, 0.07)
_VCPU_USES: Final = ("user", "nice", "system", "idle", "io_wait", "irq", "soft_irq")
_LATENESS_S: Final = 0.0005  # how far a measured period is off, at most


@dataclass(frozen=True, slots=True)
class Produced:
    """
    What is true about one report.

    Attributes:
        period_s: What its core counters cover, the longest of the usable ones; for an empty
            list the longest of its system groups; None when it has none of them.

        runtimes: Entries in its list of runtimes; None when the list is null.

        percents: Utilization by core; None for a core that this report tells nothing about;
            None as a whole when no core counters were due.

        held: Whether each core is held; None when no memory group was due.

        executions: What became of the executions; None when they were not due.

        ecc_rises: New errors by counter since the last report that had them; None without.
    """

    period_s: float | None
    runtimes: int | None
    percents: tuple[float | None, ...] | None
    held: tuple[bool, ...] | None
    executions: Mapping[str, int] | None
    ecc_rises: Mapping[str, int] | None


class ReportWriter:
    """Writes the reports of one instance, in order."""

    def __init__(self, instance: SimulatedInstance, configuration: Configuration) -> None:
        self._instance = instance
        self._configuration = configuration
        told = [one for one in instance.runtimes if configuration.tag_filter.search(one.tag)]
        self._entries = [RuntimeEntry(instance, one) for one in told]
        self._system = SystemEntry(instance)
        self._identity = instance.identity_block()
        self._hardware = instance.host.hardware_block()
        self._ecc_totals: dict[str, int] | None = None

    def write(self, tick: Tick) -> tuple[bytes, Produced]:
        """
        Write the report that is due at *tick*.

        Returns:
            The line with its newline, and what is true about it.
        """
        rng = self._instance.rng(f"report {tick.number}")
        periods_s = {
            group: _measured_s(elapsed_ms, rng) for group, elapsed_ms in tick.elapsed_ms.items()
        }
        runtime_s = {
            name: period_s
            for name, period_s in periods_s.items()
            if name in self._configuration.runtime_periods_ms
        }
        system_s = {name: period_s for name, period_s in periods_s.items() if name not in runtime_s}
        collected = bool(self._configuration.runtime_periods_ms)
        written = _Runtimes(self._instance, runtime_s)
        for entry in self._entries:
            written.add(entry, tick.number, rng)
        report = {
            # Runtimes that are not due make an empty list, like runtimes that do not
            # exist; null means that nobody asked for them.
            "neuron_runtime_data": written.entries if collected else None,
            "system_data": self._system.write(tick.number, system_s, rng),
            "instance_info": self._identity,
            "neuron_hardware_info": self._hardware,
        }
        rises = self._ecc_rises(tick.number) if HARDWARE in system_s else None
        nobody = collected and not self._instance.runtimes
        produced = Produced(
            period_s=max(system_s.values(), default=None) if nobody else written.period_s(),
            runtimes=len(written.entries) if collected else None,
            percents=written.percents() if collected else None,
            held=written.held() if collected else None,
            executions=written.executions,
            ecc_rises=rises,
        )
        line = json.dumps(report, separators=(",", ":"), allow_nan=False)
        return line.encode() + b"\n", produced

    def _ecc_rises(self, number: int) -> dict[str, int]:
        totals = dict.fromkeys(ECC_COUNTERS, 0)
        for device in range(self._instance.host.hardware.devices):
            for name, value in self._instance.ecc(device, number).items():
                totals[name] += value
        before = self._ecc_totals or totals
        self._ecc_totals = totals
        return {name: totals[name] - before[name] for name in ECC_COUNTERS}


class _Runtimes:
    """The runtimes of one report while it is written, each group over the period in *due_s*."""

    def __init__(self, instance: SimulatedInstance, due_s: Mapping[str, float]) -> None:
        self.entries: list[dict[str, object]] = []
        self.executions: dict[str, int] | None = None
        self._instance = instance
        self._due_s = due_s
        self._percents: dict[int, float] = {}
        self._held: set[int] = set()

    def add(self, entry: RuntimeEntry, number: int, rng: random.Random) -> None:
        """Write one runtime, unless nothing of it is due."""
        percents = self._instance.percents(entry.runtime, number, rng)
        if not self._due_s:
            return
        document, ended = entry.write(percents, self._due_s, rng)
        self.entries.append(document)
        self._percents |= percents
        self._held |= set(entry.runtime.held)
        if ended is not None:
            sums = self.executions or dict.fromkeys(ended, 0)
            self.executions = {name: sums[name] + count for name, count in ended.items()}

    def period_s(self) -> float | None:
        """What its core counters cover."""
        return self._due_s.get(COUNTERS) if self.entries else None

    def percents(self) -> tuple[float | None, ...] | None:
        """Utilization by core; nobody tells about cores of runtimes that a filter hides."""
        if not self._tells(COUNTERS):
            return None
        hides = len(self.entries) < len(self._instance.runtimes)
        other = None if hides else 0.0
        told = {**dict.fromkeys(self._held, 0.0), **self._percents}
        return tuple(told.get(core, other) for core in range(self._instance.cores))

    def held(self) -> tuple[bool, ...] | None:
        """Whether each core is held by a runtime of the report."""
        if not self._tells(MEMORY):
            return None
        return tuple(core in self._held for core in range(self._instance.cores))

    def _tells(self, group: str) -> bool:
        """An instance without runtimes always does."""
        return not self._instance.runtimes or (group in self._due_s and bool(self.entries))


def _measured_s(elapsed_ms: int | None, rng: random.Random) -> float:
    if elapsed_ms is None:
        low, high = _FIRST_PERIOD_S
        return round(low + (high - low) * rng.random(), 9)
    return round(elapsed_ms / 1000 + _LATENESS_S * (2 * rng.random() - 0.5), 9)


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
