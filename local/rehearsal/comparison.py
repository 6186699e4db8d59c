"""
Compare rollups with the simulators' output, and with the metrics extracted from them.

Every minute that is over must have a rollup per cluster, with the right number of instances, cores
and core states, utilization within a tolerance, executions exactly, and the owner of each idle core
that is held. `local.monitor.simulator_truth` computes the expected minute. A live minute with a
report so close to its start or end that its minute is uncertain is not compared. The stack promises
the lines; alarms and people use the metrics. They are read separately, so that they can be
compared.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from local.monitor.owner_processes import name_of
from local.monitor.simulator_truth import (
    expected_minutes,
    expected_rollups,
    is_right,
    read_truth,
)
from local.rehearsal.live_fleet import REHEARSED_FLEET
from neuron_wire import CLUSTER_NAMESPACE
from neuron_wire.catalogue import DEFAULT_ROLLUP_METRICS, ROLLUP_NUMBERS
from neuron_wire.core_members import core_indexes, core_ranges
from neuron_wire.names import CLUSTER_DIMENSION, MINUTE_S, ROLLUP_KIND

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from local.alarms.history import CloudWatchHistory, StatisticSet
    from local.monitor.simulator_truth import Expected
    from local.rehearsal.live_fleet import LiveFleet


ClusterMinute = tuple[str, int]
"""Cluster, and start of the minute in seconds since the epoch."""

COMPARED_GAUGES: Final = tuple(
    name for name, number in ROLLUP_NUMBERS.items() if number.family == "gauge"
)
_ROLLUP_MARK: Final = f'"Kind":"{ROLLUP_KIND}"'


@dataclass(slots=True)
class PublishedMinute:
    """
    All lines of one cluster and minute.

    Attributes:
        printed: Every line, including lines repeated after a crash.
    """

    printed: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def publications(self) -> list[Mapping[str, Any]]:
        """Return the lines, each once, in the order of their publication."""
        by_id = {line["RollupId"]: line for line in self.printed}
        return sorted(by_id.values(), key=lambda line: int(line["Publication"]))

    def gauge(self, name: str) -> float | None:
        """Return the last value; None if there is no such member."""
        found = self.publications[-1].get(name)
        return None if found is None else float(found)

    def tally(self, name: str) -> float | None:
        """Return the sum over all lines, each once; None if none has the member."""
        said = [float(line[name]) for line in self.publications if name in line]
        return sum(said) if said else None

    def values(self, name: str) -> list[float]:
        """Return every value that CloudWatch extracts, one per line that has it."""
        return [float(line[name]) for line in self.printed if name in line]


def add_rollups(minutes: dict[ClusterMinute, PublishedMinute], messages: Iterable[str]) -> int:
    """Add the rollups among *messages* to *minutes*. Return their number."""
    lines = [json.loads(message) for message in messages if _ROLLUP_MARK in message]
    for line in lines:
        key = line[CLUSTER_DIMENSION], line["_aws"]["Timestamp"] // 1000
        minutes.setdefault(key, PublishedMinute()).printed.append(line)
    return len(lines)


def read_metrics(
    history: CloudWatchHistory, start_s: int, end_s: int
) -> dict[ClusterMinute, dict[str, StatisticSet]]:
    """Return the metrics of the clusters, for minutes that start in [*start_s*, *end_s*)."""
    figures: dict[ClusterMinute, dict[str, StatisticSet]] = {}
    for name in DEFAULT_ROLLUP_METRICS:
        by_metric = history.read_metric(CLUSTER_NAMESPACE, name, MINUTE_S, start_s, end_s)
        for dimensions, minutes in by_metric.items():
            for minute_s, statistics in minutes.items():
                key = dimensions[0][1], minute_s
                figures.setdefault(key, {})[name] = statistics
    return figures


UTILIZATION_TOLERANCE_PERCENT: Final = 0.05
"""
The permitted difference of a mean, in percentage points. Records round to two decimals, and a
report may cover some milliseconds more than the requested period.
"""

# A live report this close to the end of a minute may count in either minute.
MARGIN_MS: Final = 500


@dataclass(frozen=True, slots=True)
class Problem:
    """One value that is wrong or missing."""

    cluster: str
    minute_s: int
    member: str
    expected: str
    found: str

    def __str__(self) -> str:
        minute = time.strftime("%H:%M UTC", time.gmtime(self.minute_s))
        where = f"{self.cluster}, {minute}, {self.member}"
        return f"{where}: expected {self.expected}, found {self.found}"


def against_truth(
    expected: Mapping[ClusterMinute, Expected], found: Mapping[ClusterMinute, PublishedMinute]
) -> list[Problem]:
    """Return the wrong or missing values of rollup lines."""
    problems: list[Problem] = []
    for (cluster, minute_s), wanted in sorted(expected.items()):
        lines = found.get((cluster, minute_s))
        if lines is None:
            problems.append(Problem(cluster, minute_s, "rollup", "one", "none"))
            continue
        for name in wanted.keys() & ROLLUP_NUMBERS.keys():
            value = lines.gauge(name) if name in COMPARED_GAUGES else lines.tally(name)
            if not is_right(name, wanted[name], value, UTILIZATION_TOLERANCE_PERCENT):
                said = name, _number(wanted[name]), _number(value)
                problems.append(Problem(cluster, minute_s, *said))
    return problems


def against_owners(
    owners: Mapping[str, Mapping[int, str]], found: Mapping[ClusterMinute, PublishedMinute]
) -> list[Problem]:
    """Return held idle cores whose owner in the rollup is not the simulated one."""
    problems = []
    for (cluster, minute_s), lines in sorted(found.items()):
        for instance in lines.publications[-1].get("TopIdleInstances", ()):
            named = {
                core: holder.get("Name")
                for holder in instance.get("Holders", ())
                for core in core_indexes(holder["Cores"])
            }
            played = owners.get(instance["InstanceId"], {})
            wrong: dict[tuple[str, str], list[int]] = {}
            for core in core_indexes(instance.get("AttachedCores", "")):
                names = played.get(core, "no owner"), named.get(core) or "no owner"
                if names[0] != names[1]:
                    wrong.setdefault(names, []).append(core)
            problems += [
                Problem(cluster, minute_s, f"{instance['InstanceId']} {core_ranges(cores)}", *names)
                for names, cores in wrong.items()
            ]
    return problems


def _number(value: float | None) -> str:
    if value is None:
        return "none"
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.3f}"


def against_metrics(
    lines: Mapping[ClusterMinute, PublishedMinute],
    metrics: Mapping[ClusterMinute, Mapping[str, StatisticSet]],
) -> list[Problem]:
    """
    Return the differences between the extracted metrics and the lines.

    Gauges are read with Maximum and tallies with Sum, over every line of the minute, including
    repeated and restated ones.
    """
    problems = []
    for (cluster, minute_s), minute in lines.items():
        extracted = metrics.get((cluster, minute_s), {})
        for name in DEFAULT_ROLLUP_METRICS:
            values = minute.values(name)
            if not values:
                continue
            is_gauge = name in COMPARED_GAUGES
            wanted = max(values) if is_gauge else sum(values)
            value = None
            if (statistics := extracted.get(name)) is not None:
                value = statistics.maximum if is_gauge else statistics.total
            if value is None or abs(value - wanted) > 1e-6 * max(1.0, abs(wanted)):
                said = f"metric {name}", _number(wanted), _number(value)
                problems.append(Problem(cluster, minute_s, *said))
    return problems


def expected_live(fleet: LiveFleet, stopped_s: float) -> dict[ClusterMinute, Expected]:
    """
    Return the expected rollups of the live minutes that had ended at *stopped_s*.

    The first such minute is the first in which every instance wrote a report. An earlier minute
    depends on when each emitter started.
    """
    truths = fleet.written_truths
    began_ms = [min(report.at_ms for report in read_truth([truth])) for truth in truths]
    all_there_s = max(began_ms, default=0) // 1000 // MINUTE_S * MINUTE_S
    expected = expected_of(truths, MARGIN_MS)
    return {
        (cluster, minute_s): rollup
        for (cluster, minute_s), rollup in expected.items()
        if minute_s >= all_there_s and minute_s + MINUTE_S <= stopped_s
    }


def core_owners() -> dict[str, dict[int, str]]:
    """Return the owner of each held core, by instance ID and core, as reports name it."""
    return {
        member.instance_id: {
            core: name_of(owner)
            for runtime, owner in zip(member.simulated.runtimes, member.owners, strict=True)
            for core in runtime.held
        }
        for member in REHEARSED_FLEET
    }


def expected_of(truths: Iterable[Path], margin_ms: int) -> dict[ClusterMinute, Expected]:
    """Return the expected rollups of truth files; *margin_ms* as for `expected_minutes`."""
    cluster_of = {member.instance_id: member.cluster for member in REHEARSED_FLEET}
    minutes = expected_minutes(read_truth(truths), margin_ms=margin_ms)
    rollups = expected_rollups(minutes, cluster_of)
    return {(cluster, at_ms // 1000): rollup for (cluster, at_ms), rollup in rollups.items()}
