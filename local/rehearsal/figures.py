"""
What the rollups say, once by their lines and once by the metrics made of them.

The lines are what the stack promises; the metrics are what alarms and people
see. They are read apart, so that a verdict can hold one against the other.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from neuron_wire import CLUSTER_NAMESPACE
from neuron_wire.catalogue import ROLLUP
from neuron_wire.names import CLUSTER_DIMENSION, MINUTE_S
from neuron_wire.names import ROLLUP as ROLLUP_KIND

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from local.alarms import MetricHistory, StatisticSet

ClusterMinute = tuple[str, int]
"""Cluster, and start of the minute in seconds since the epoch."""

GAUGES: Final = tuple(name for name, metric in ROLLUP.items() if metric.family == "gauge")
TALLIES: Final = tuple(name for name, metric in ROLLUP.items() if metric.family == "tally")


@dataclass(slots=True)
class MinuteLines:
    """
    All lines of one cluster and minute.

    Attributes:
        printed: Every line, also one that was repeated after a crash.
    """

    printed: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def publications(self) -> list[Mapping[str, Any]]:
        """The lines once each, in the order of their publication."""
        by_id = {line["RollupId"]: line for line in self.printed}
        return sorted(by_id.values(), key=lambda line: int(line["Publication"]))

    def gauge(self, name: str) -> float | None:
        """The value that was stated last; None when there is no such member."""
        found = self.publications[-1].get(name)
        return None if found is None else float(found)

    def tally(self, name: str) -> float | None:
        """What all lines together say, each once; None when none has the member."""
        said = [float(line[name]) for line in self.publications if name in line]
        return sum(said) if said else None

    def values(self, name: str) -> list[float]:
        """Every value that CloudWatch extracts, one per line that has it."""
        return [float(line[name]) for line in self.printed if name in line]


class RollupLines:
    """The rollup lines among the events of a log group."""

    def __init__(self) -> None:
        self.minutes: dict[ClusterMinute, MinuteLines] = defaultdict(MinuteLines)

    def add(self, messages: Iterable[str]) -> int:
        """Keep the rollups among *messages*; returns how many there were."""
        added = 0
        for message in messages:
            line = _rollup(message)
            if line is None:
                continue
            key = line[CLUSTER_DIMENSION], line["_aws"]["Timestamp"] // 1000
            self.minutes[key].printed.append(line)
            added += 1
        return added


def _rollup(message: str) -> Mapping[str, Any] | None:
    if not message.startswith("{"):
        return None
    try:
        line = json.loads(message)
    except ValueError:
        return None
    return line if isinstance(line, dict) and line.get("Kind") == ROLLUP_KIND else None


def read_metrics(
    history: MetricHistory, names: Iterable[str], start_s: int, end_s: int
) -> dict[ClusterMinute, dict[str, StatisticSet]]:
    """The cluster metrics *names* of every minute that starts in [*start_s*, *end_s*)."""
    figures: dict[ClusterMinute, dict[str, StatisticSet]] = defaultdict(dict)
    for name in names:
        by_metric = history.read(CLUSTER_NAMESPACE, name, MINUTE_S, start_s, end_s)
        for dimensions, minutes in by_metric.items():
            if [key for key, _ in dimensions] != [CLUSTER_DIMENSION]:
                continue  # the same numbers by instance type, say
            for minute_s, statistics in minutes.items():
                figures[dimensions[0][1], minute_s][name] = statistics
    return dict(figures)


def utc(minute_s: int) -> str:
    """A minute for people, `08:15 UTC`."""
    return datetime.fromtimestamp(minute_s, timezone.utc).strftime("%H:%M UTC")
