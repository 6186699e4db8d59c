"""
Are the rollups right? Held against what the simulators say they produced.

Every minute that is over must have a rollup per cluster, with the right
number of instances, cores and core states, utilization within a tolerance,
executions to the last one, and the owner of each idle core that is held. What a
minute must come to is for the simulators' own reading of the truth to say; where
a report was written so near to a full minute that nobody can know its minute,
that is an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from local.monitor.processes import name_of
from local.monitor.truth import (
    UTILIZATION,
    Interval,
    expected_minutes,
    expected_rollups,
    read_truth,
)
from local.rehearsal.figures import GAUGES, TALLIES, ClusterMinute, utc
from local.rehearsal.fleet import FLEET
from neuron_wire.catalogue import ROLLUP
from neuron_wire.cores import core_indexes, core_ranges
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from local.alarms.history import StatisticSet
    from local.monitor.truth import Expected
    from local.rehearsal.figures import MinuteLines
    from local.rehearsal.fleet import LiveFleet
    from local.rehearsal.past import Past

UTILIZATION_TOLERANCE_PERCENT: Final = 0.05
"""
In points of the mean. Records carry two decimals per core; and a report may
cover some milliseconds more than it was asked for, which weigh.
"""

MARGIN_MS: Final = 500  # from a full minute: which side a live report was received on is not known


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is not as it should be."""

    cluster: str
    minute_s: int
    member: str
    expected: str
    found: str

    def __str__(self) -> str:
        where = f"{self.cluster}, {utc(self.minute_s)}, {self.member}"
        return f"{where}: expected {self.expected}, found {self.found}"


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


def against_owners(
    owners: Mapping[str, Mapping[int, str]], found: Mapping[ClusterMinute, MinuteLines]
) -> list[Problem]:
    """Where the rollup does not name the owner of a held idle core, or names another."""
    problems = []
    for (cluster, minute_s), lines in sorted(found.items(), key=lambda item: item[0]):
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
        for name in ROLLUP:
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


def expected_past(past: Past) -> dict[ClusterMinute, Expected]:
    """What the rollups of the history must come to."""
    return _expected([past.truth(member) for member in FLEET], 0)


def expected_live(fleet: LiveFleet, stopped_s: float) -> dict[ClusterMinute, Expected]:
    """
    What the rollups of the live minutes that were over at *stopped_s* must come to.

    From the first minute on in which every instance wrote a report: what an
    emitter without one says about its first minute depends on when it woke up.
    """
    began_s: dict[str, int] = {}
    for report in read_truth(fleet.written_truths):
        minute_s = report.at_ms // 1000 // MINUTE_S * MINUTE_S
        began_s[report.instance] = min(minute_s, began_s.get(report.instance, minute_s))
    all_there_s = max(began_s.values(), default=0)
    expected = _expected(fleet.written_truths, MARGIN_MS)
    return {
        (cluster, minute_s): rollup
        for (cluster, minute_s), rollup in expected.items()
        if minute_s >= all_there_s and minute_s + MINUTE_S <= stopped_s
    }


def core_owners() -> dict[str, dict[int, str]]:
    """Whose each held core is, by instance id and core: the names that people shall read."""
    return {
        member.instance_id: {
            core: name_of(owner)
            for runtime, owner in zip(member.simulated.runtimes, member.owners, strict=True)
            for core in runtime.held
        }
        for member in FLEET
    }


def _expected(truths: Iterable[Path], margin_ms: int) -> dict[ClusterMinute, Expected]:
    cluster_of = {member.instance_id: member.cluster for member in FLEET}
    minutes = expected_minutes(read_truth(truths), margin_ms=margin_ms)
    rollups = expected_rollups(minutes, cluster_of)
    return {(cluster, at_ms // 1000): rollup for (cluster, at_ms), rollup in rollups.items()}
