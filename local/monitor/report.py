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

from local.monitor.configuration import COUNTERS, EVERYTHING, MEMORY, SYSTEM_SECTION
from local.monitor.instance import ECC_COUNTERS
from local.monitor.runtime_groups import RuntimeEntry
from local.monitor.system_groups import SystemEntry

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from local.monitor.configuration import Configuration
    from local.monitor.instance import Moment, SimulatedInstance
    from local.monitor.schedule import Tick

_FIRST_PERIOD_S: Final = (0.0005, 0.07)
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
        self._entries = [RuntimeEntry(instance, one) for one in instance.runtimes]
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
        periods_s: dict[int, dict[str, float]] = {}
        for group, elapsed_ms in tick.elapsed_ms.items():
            period_s = _measured_s(elapsed_ms, rng)
            periods_s.setdefault(group.section, {})[group.name] = period_s
        system_periods_s = periods_s.pop(SYSTEM_SECTION, {})
        written = _Runtimes(self._instance, self._configuration)
        for entry in self._entries:
            written.add(entry, tick.number, periods_s, rng)
        collected = any(one.periods_ms for one in self._configuration.sections)
        report = {
            # Runtimes that are not due make an empty list, like runtimes that do not
            # exist; null means that nobody asked for them.
            "neuron_runtime_data": written.entries if collected else None,
            "system_data": self._system.write(tick.number, system_periods_s, rng),
            "instance_info": self._identity,
            "neuron_hardware_info": self._hardware,
        }
        produced = self._produced(written, tick.number, system_periods_s, collected=collected)
        line = json.dumps(report, separators=(",", ":"), allow_nan=False)
        return line.encode() + b"\n", produced

    def _produced(
        self,
        written: _Runtimes,
        number: int,
        system_periods_s: Mapping[str, float],
        *,
        collected: bool,
    ) -> Produced:
        rises = self._ecc_rises(number) if "neuron_hw_counters" in system_periods_s else None
        if collected and not self._instance.runtimes:
            nothing = self._instance.cores
            return Produced(
                period_s=max(system_periods_s.values(), default=None),
                runtimes=0,
                percents=(0.0,) * nothing,
                held=(False,) * nothing,
                executions=None,
                ecc_rises=rises,
            )
        return Produced(
            period_s=written.period_s(),
            runtimes=len(written.entries) if collected else None,
            percents=written.percents(),
            held=written.held(),
            executions=written.executions,
            ecc_rises=rises,
        )

    def _ecc_rises(self, number: int) -> dict[str, int]:
        totals = dict.fromkeys(ECC_COUNTERS, 0)
        for device in range(self._instance.host.hardware.devices):
            for name, value in self._instance.ecc(device, number).items():
                totals[name] += value
        before = self._ecc_totals or totals
        self._ecc_totals = totals
        return {name: totals[name] - before[name] for name in ECC_COUNTERS}


class _Runtimes:
    """The runtimes of one report while it is written."""

    def __init__(self, instance: SimulatedInstance, configuration: Configuration) -> None:
        self.entries: list[dict[str, object]] = []
        self.executions: dict[str, int] | None = None
        self._instance = instance
        self._configuration = configuration
        self._written: list[tuple[RuntimeEntry, Moment, Mapping[str, float]]] = []

    def add(
        self,
        entry: RuntimeEntry,
        number: int,
        periods_s: Mapping[int, Mapping[str, float]],
        rng: random.Random,
    ) -> None:
        """Write one runtime, unless nothing of it is due."""
        moment = self._instance.moment(entry.runtime, number, rng)
        section = self._configuration.section_of(entry.runtime.tag)
        due_s = {} if section is None else periods_s.get(section, {})
        if not due_s:
            return
        document, ended = entry.write(moment, due_s, rng)
        self.entries.append(document)
        self._written.append((entry, moment, due_s))
        if ended is not None:
            sums = self.executions or dict.fromkeys(ended, 0)
            self.executions = {name: sums[name] + count for name, count in ended.items()}

    def period_s(self) -> float | None:
        """The longest period of usable core counters, or of any when none is usable."""
        periods = [
            (not moment.counters_failed, due_s[COUNTERS])
            for _, moment, due_s in self._written
            if COUNTERS in due_s
        ]
        return max(periods)[1] if periods else None

    def percents(self) -> tuple[float | None, ...] | None:
        """Utilization by core."""
        counted = [(entry, moment) for entry, moment, due in self._written if COUNTERS in due]
        if not counted:
            return None
        # Cores of runtimes that a filter hides may be busy: nobody tells.
        hides = any(
            one.tag_filter.pattern not in {EVERYTHING, ""} for one in self._configuration.sections
        )
        percents_by_core: list[float | None] = [None if hides else 0.0] * self._instance.cores
        for entry, moment in counted:
            for core in entry.runtime.held:
                told = None if moment.counters_failed else moment.percents.get(core, 0.0)
                percents_by_core[core] = told
        return tuple(percents_by_core)

    def held(self) -> tuple[bool, ...] | None:
        """Whether each core is held by a runtime of the report."""
        told = [entry for entry, _, due in self._written if MEMORY in due]
        if not told:
            return None
        held = {core for entry in told for core in entry.runtime.held}
        return tuple(core in held for core in range(self._instance.cores))


def _measured_s(elapsed_ms: int | None, rng: random.Random) -> float:
    if elapsed_ms is None:
        low, high = _FIRST_PERIOD_S
        return round(low + (high - low) * rng.random(), 9)
    return round(elapsed_ms / 1000 + _LATENESS_S * (2 * rng.random() - 0.5), 9)
