"""A line of a rollup, as far as a person is shown it: leniently, what is damaged is missing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from neuron_wire.checked import MAX_COUNT, NUMBERS
from neuron_wire.names import CLUSTER_DIMENSION, VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GAUGES: Final = (
    "AttachedIdleCores", "AvoidableCostPerHour", "BusyCores", "CoveragePercent",
    "DuplicateEmitters", "FlopsPercentOfBf16Peak", "IdleCores", "IdleCostPerHour", "Instances",
    "NeuronCoreUtilization", "NeuronCores", "SilentInstances", "UnattachedCores",
    "UnknownCores", "UnpricedCores",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rollup:
    """
    One publication of one minute of one cluster.

    Attributes:
        publication: How often the minute had been published, from 1.

        gauges: Those of `GAUGES` that the line has.

        duplicates: Instances on which two emitters report, as far as the line names them.
    """

    cluster: str
    minute_ms: int
    publication: int
    gauges: Mapping[str, float]
    duplicates: frozenset[str] = frozenset()


def object_in(text: str) -> dict[str, Any] | None:
    """The JSON object that *text* is, None where it is something else."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


def rollup_of(line: Mapping[str, Any]) -> Rollup | None:
    """The rollup that *line* is, None where it lacks what makes one or has a newer schema."""
    cluster, minute = line.get(CLUSTER_DIMENSION), line.get("Minute")
    publication, schema = line.get("Publication"), line.get("Schema")
    if not (isinstance(cluster, str) and isinstance(minute, str)):
        return None
    if type(publication) is not int or type(schema) is not int or schema > VERSION:
        return None
    minute_ms = minute_of(minute)
    if minute_ms is None:
        return None
    gauges = {name: value for name in GAUGES if (value := number_in(line, name)) is not None}
    names = line.get("DuplicateEmitterInstances")
    duplicates = frozenset(map(str, names)) if isinstance(names, list) else frozenset()
    return Rollup(cluster, minute_ms, publication, gauges, duplicates)


def minute_of(text: str) -> int | None:
    """Milliseconds of `2026-11-20T08:59Z`; None for what is no such moment."""
    try:  # Python 3.10 reads no Z
        return round(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def number_in(line: Mapping[str, Any], name: str) -> float | None:
    """A number of *line* from 0 up to what 64 bits hold; None where it is missing or is none."""
    value: Any = line.get(name)
    return value if type(value) in NUMBERS and 0 <= value <= MAX_COUNT else None


def rows_in(line: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]] | None:
    """The objects of a list of *line*; None where there is no such list."""
    rows = line.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else None
