"""
What CloudWatch would extract from one log line.

Pure. What it refuses is decided by `neuron_wire.line`, so that the rehearsal and
the emitter cannot disagree about the rules; what it extracts follows the
Embedded Metric Format specification:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from neuron_wire.extraction import dimension_sets, violations

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARK: Final = '"_aws"'  # every EMF line has this member at its root
_STRAY: Final = frozenset({"dimension_blank", "no_dimensions"})  # extracted, without dimensions


@dataclass(frozen=True, slots=True)
class Datum:
    """
    One metric at one moment, as PutMetricData takes it.

    Attributes:
        dimensions: Names with values, in the order of the line.

        counts: How often each value was seen, each value once: 31 idle cores
            are `{0.0: 31}`.

        resolution_s: Storage resolution, 1 or 60.
    """

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...]
    timestamp_ms: int
    unit: str
    counts: dict[float, int]
    resolution_s: int


@dataclass(frozen=True, slots=True)
class Extraction:
    """
    What became of one line.

    Attributes:
        data: The metrics, none for a line that is no EMF document.

        refused: Names of the rules it breaks; nothing is extracted then.
    """

    data: tuple[Datum, ...] = ()
    refused: tuple[str, ...] = ()


def extract(message: str, now_ms: int) -> Extraction:
    """The metrics of one log line that arrived at *now_ms*."""
    if not message.lstrip().startswith("{") or _MARK not in message:
        return Extraction()  # a log line like any other
    found = dict.fromkeys(violation.rule for violation in violations(message, now_ms=now_ms))
    rules = tuple(rule for rule in found if rule not in _STRAY)
    if rules:
        return Extraction(refused=rules)
    return Extraction(data=tuple(_data(json.loads(message))))


def _data(document: dict[str, Any]) -> Iterator[Datum]:
    timestamp_ms: int = document["_aws"]["Timestamp"]
    for directive in document["_aws"]["CloudWatchMetrics"]:
        # Every dimension set makes a metric of its own, also from the same value. Without a set,
        # or with a blank value in one, CloudWatch was seen to make one without dimensions.
        for names in dimension_sets(directive):
            dimensions = tuple((name, document[name]) for name in names)
            if not all(value.strip() for _, value in dimensions):
                dimensions = ()
            for definition in directive["Metrics"]:
                value = document[definition["Name"]]
                values = value if isinstance(value, list) else [value]
                yield Datum(
                    namespace=directive["Namespace"],
                    name=definition["Name"],
                    dimensions=dimensions,
                    timestamp_ms=timestamp_ms,
                    unit=definition.get("Unit", "None"),
                    counts=dict(Counter(float(value) for value in values)),
                    resolution_s=definition.get("StorageResolution", 60),
                )
