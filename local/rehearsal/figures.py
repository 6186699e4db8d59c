"""
What the rollups say, once by their lines and once by the metrics made of them; and as a table.

The lines are what the stack promises; the metrics are what alarms and people
see. They are read apart, so that a verdict can hold one against the other.
The table is plain text without colour: what is not known is a dash, never a zero.
"""

from __future__ import annotations

import json
import textwrap
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from neuron_wire import CLUSTER_NAMESPACE
from neuron_wire.catalogue import ROLLUP, ROLLUP_NUMBERS
from neuron_wire.names import CLUSTER_DIMENSION, MINUTE_S
from neuron_wire.names import ROLLUP as ROLLUP_KIND
from neuron_wire.phrases import dollars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from local.alarms.history import MetricHistory, StatisticSet

ClusterMinute = tuple[str, int]
"""Cluster, and start of the minute in seconds since the epoch."""

GAUGES: Final = tuple(name for name, number in ROLLUP_NUMBERS.items() if number.family == "gauge")
TALLIES: Final = tuple(name for name, number in ROLLUP_NUMBERS.items() if number.family == "tally")


_MARK: Final = f'"Kind":"{ROLLUP_KIND}"'


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
        lines = [json.loads(message) for message in messages if _MARK in message]
        for line in lines:
            key = line[CLUSTER_DIMENSION], line["_aws"]["Timestamp"] // 1000
            self.minutes[key].printed.append(line)
        return len(lines)


def read_metrics(
    history: MetricHistory, start_s: int, end_s: int
) -> dict[ClusterMinute, dict[str, StatisticSet]]:
    """The metrics of the clusters, of every minute that starts in [*start_s*, *end_s*)."""
    figures: dict[ClusterMinute, dict[str, StatisticSet]] = defaultdict(dict)
    for name in ROLLUP:
        by_metric = history.read(CLUSTER_NAMESPACE, name, MINUTE_S, start_s, end_s)
        for dimensions, minutes in by_metric.items():
            for minute_s, statistics in minutes.items():
                figures[dimensions[0][1], minute_s][name] = statistics
    return dict(figures)


def utc(minute_s: int) -> str:
    """A minute for people, `08:15 UTC`."""
    return time.strftime("%H:%M UTC", time.gmtime(minute_s))


_UNKNOWN: Final = "-"
WIDE: Final = 160


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """
    One cluster as its newest rollup shows it.

    Attributes:
        minute_s: Start of the rollup's minute, seconds since the epoch, or None
            before the first.

        figures: Values by metric, for example `BusyCores`; what nobody reported
            is not in it.

        alarm: Which of the template's alarms ring by the evaluator, or `OK`.

        notes: Why, as sentences without a full stop.
    """

    cluster: str
    minute_s: int | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    alarm: str = _UNKNOWN
    notes: tuple[str, ...] = ()


_COLUMNS: Final[tuple[tuple[str, str, str, Callable[[float], str]], ...]] = (
    # two lines of title, gauge of the rollup, how it is written
    ("", "instances", "Instances", "{:.0f}".format),
    ("", "cores", "NeuronCores", "{:.0f}".format),
    ("", "busy", "BusyCores", "{:.0f}".format),
    ("attached", "idle", "AttachedIdleCores", "{:.0f}".format),
    ("unatt-", "ached", "UnattachedCores", "{:.0f}".format),
    ("", "unknown", "UnknownCores", "{:.0f}".format),
    ("utili-", "zation", "NeuronCoreUtilization", "{:.1f} %".format),
    ("idle", "cores", "IdleCores", "{:.0f}".format),
    ("idle cost", "USD/hour", "IdleCostPerHour", dollars),
)


def render(rows: Sequence[ClusterRow], now_s: float) -> str:
    """The table as text, without a line end after the last line."""
    cells = [
        ["", *(first for first, *_ in _COLUMNS), "", "last rollup"],
        ["cluster", *(second for _, second, *_ in _COLUMNS), "alarm", "minute, UTC"],
        *(_cells(row, now_s) for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(2, ["-" * width for width in widths])
    aligns = ["<", *(">" for _ in _COLUMNS), "<", "<"]
    lines = [
        "  ".join(
            f"{cell:{align}{width}}"
            for cell, align, width in zip(line, aligns, widths, strict=True)
        ).rstrip()
        for line in cells
    ]
    for row in rows:
        notes = [*row.notes]
        if unpriced := row.figures.get("UnpricedCores"):
            notes.append(f"{unpriced:.0f} cores have no list price")
        for note in notes:
            lines += textwrap.wrap(f"{row.cluster}: {note}", WIDE, subsequent_indent="  ")
    return "\n".join(lines)


def _cells(row: ClusterRow, now_s: float) -> list[str]:
    figures = [
        written(row.figures[name]) if name in row.figures else _UNKNOWN
        for _, _, name, written in _COLUMNS
    ]
    if silent := row.figures.get("SilentInstances"):
        figures[0] += f" +{silent:.0f} silent"
    age = "none yet"
    if row.minute_s is not None:
        at = time.strftime("%H:%M", time.gmtime(row.minute_s))
        age = f"{at}, {max(0.0, now_s - row.minute_s - MINUTE_S):.0f} s ago"
    return [row.cluster, *figures, row.alarm, age]
