"""
Are the rollups right? Held against what the simulators say they produced.

Pure. Every minute that is over must have a rollup per cluster, with the right
number of instances, cores and core states, utilization within a tolerance,
executions to the last one, and the owner of each idle core. What a
minute must come to is for the simulators' own reading of the truth to say; where
a report was written so near to a full minute that nobody can know its minute,
that is an interval, and the sum over all minutes is still held to the last
execution.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from local.monitor.intervals import UTILIZATION, Interval
from local.rehearsal.figures import GAUGES, TALLIES, ClusterMinute, utc
from neuron_wire.holders import core_indexes, core_ranges
from neuron_wire.names import UNALLOCATED_OWNER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.alarms import StatisticSet
    from local.monitor.intervals import Expected
    from local.rehearsal.figures import MinuteLines

UTILIZATION_TOLERANCE_PERCENT: Final = 0.05
"""
In points of the mean. Records carry two decimals per core; and a report may
cover some milliseconds more than it was asked for, which weigh.
"""

EXECUTIONS: Final = ("Executions", "ExecutionErrors")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is not as it should be."""

    cluster: str
    minute_s: int | None
    member: str
    expected: str
    found: str

    def __str__(self) -> str:
        when = "all minutes together" if self.minute_s is None else utc(self.minute_s)
        return (
            f"{self.cluster}, {when}, {self.member}: expected {self.expected}, found {self.found}"
        )


def against_truth(
    expected: Mapping[ClusterMinute, Expected], found: Mapping[ClusterMinute, MinuteLines]
) -> list[Problem]:
    """What the rollup lines say wrongly, or not at all."""
    problems: list[Problem] = []
    for (cluster, minute_s), wanted in sorted(expected.items(), key=lambda item: item[0]):
        lines = found.get((cluster, minute_s))
        if lines is None:
            problems.append(Problem(cluster, minute_s, "rollup", "one", "none"))
            continue
        for name in wanted.keys() & {*GAUGES, *TALLIES}:
            interval = wanted[name]
            value = lines.tally(name) if name in TALLIES else lines.gauge(name)
            tolerance = UTILIZATION_TOLERANCE_PERCENT if name == UTILIZATION else 0.0
            if not interval.admits(value, tolerance):
                said = name, _interval(interval), _number(value)
                problems.append(Problem(cluster, minute_s, *said))
    return problems


def against_totals(
    certain: Mapping[ClusterMinute, Expected],
    uncertain: Mapping[ClusterMinute, Expected],
    found: Mapping[ClusterMinute, MinuteLines],
) -> list[Problem]:
    """
    Where all executions of a cluster together are more or less than were produced.

    What moved from one minute into the next is in the sum all the same, so only
    the last minute is *uncertain*; the others are taken as *certain*.
    """
    problems = []
    for cluster in sorted({cluster for cluster, _ in certain}):
        minutes = sorted(minute_s for one, minute_s in certain if one == cluster)
        for name in EXECUTIONS:
            parts = [certain[cluster, minute_s][name] for minute_s in minutes[:-1]]
            parts.append(uncertain[cluster, minutes[-1]][name])
            total = Interval(
                sum(part.lo or 0.0 for part in parts), sum(part.hi or 0.0 for part in parts)
            )
            keys = [(cluster, minute_s) for minute_s in minutes]
            value = sum(found[key].tally(name) or 0.0 for key in keys if key in found)
            if not total.admits(value):
                problems.append(Problem(cluster, None, name, _interval(total), _number(value)))
    return problems


def against_owners(
    owners: Mapping[str, Mapping[int, str]], found: Mapping[ClusterMinute, MinuteLines]
) -> list[Problem]:
    """
    Where the rollup does not name the owner of an idle core, or names another.

    Core by core where it is held, and in the sums of the cluster.
    """
    problems = []
    for (cluster, minute_s), lines in sorted(found.items(), key=lambda item: item[0]):
        sums = _played_sums(owners, lines), _told_sums(lines)
        if sums[0] != sums[1]:
            problems.append(Problem(cluster, minute_s, "TopIdleOwners", *map(_sums, sums)))
        for instance in lines.publications[-1].get("TopIdleInstances", ()):
            told = {
                core: holder.get("Name")
                for holder in instance.get("Holders", ())
                for core in core_indexes(holder["Cores"])
            }
            played = owners.get(instance["InstanceId"], {})
            wrong: dict[tuple[str, str], list[int]] = {}
            for core in core_indexes(instance.get("AttachedCores", "")):
                names = played.get(core, "nobody"), told.get(core) or "nobody"
                if names[0] != names[1]:
                    wrong.setdefault(names, []).append(core)
            problems += [
                Problem(cluster, minute_s, f"{instance['InstanceId']} {core_ranges(cores)}", *names)
                for names, cores in wrong.items()
            ]
    return problems


def _played_sums(
    owners: Mapping[str, Mapping[int, str]], lines: MinuteLines
) -> Mapping[str, float]:
    """Idle cores by who holds them in the cast, where each has one owner, or none."""
    sums: Counter[str] = Counter()
    for instance in lines.publications[-1].get("TopIdleInstances", ()):
        played = owners.get(instance["InstanceId"], {})
        held = core_indexes(instance.get("AttachedCores", ""))
        for core in core_indexes(instance["Cores"]):
            sums[played.get(core, "nobody") if core in held else UNALLOCATED_OWNER] += 1
    return sums


def _told_sums(lines: MinuteLines) -> Mapping[str, float]:
    rows = lines.publications[-1].get("TopIdleOwners", ())
    return {row["Owner"]: row["Cores"] for row in rows}


def _sums(sums: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {_number(cores)}" for name, cores in sorted(sums.items())) or "none"


def _interval(interval: Interval) -> str:
    if interval.lo is None or interval.lo == interval.hi:
        return _number(interval.lo)
    return f"{_number(interval.lo)} to {_number(interval.hi)}"


def _number(value: float | None) -> str:
    if value is None:
        return "none"
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.3f}"


def against_metrics(
    lines: Mapping[ClusterMinute, MinuteLines],
    metrics: Mapping[ClusterMinute, Mapping[str, StatisticSet]],
) -> list[Problem]:
    """
    Where the extracted metrics do not say what the lines say.

    Gauges are read with Maximum and tallies with Sum, over every line of the
    minute, the repeated and restated ones included.
    """
    problems = []
    for (cluster, minute_s), minute in lines.items():
        extracted = metrics.get((cluster, minute_s), {})
        for name in (*GAUGES, *TALLIES):
            values = minute.values(name)
            if not values:
                continue
            wanted = max(values) if name in GAUGES else sum(values)
            value = None
            if (statistics := extracted.get(name)) is not None:
                value = statistics.maximum if name in GAUGES else statistics.total
            if value is None or abs(value - wanted) > 1e-6 * max(1.0, abs(wanted)):
                said = f"metric {name}", _number(wanted), _number(value)
                problems.append(Problem(cluster, minute_s, *said))
    return problems
