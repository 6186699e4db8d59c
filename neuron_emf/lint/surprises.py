"""
What CloudWatch extracts otherwise than its writer thinks.

Only of lines by the rules. What the specification defines, how long points take
to appear and what a dimension costs is in
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/publishingMetrics.html
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from neuron_wire.extraction import Violation
from neuron_wire.extraction.dimensions import dimension_sets
from neuron_wire.extraction.violation import at_root, in_directive

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LONG_BYTES: Final = 262_144  # what a log event could have until 2025, and what many still assume
LATE_MS: Final = 3 * 3_600_000
MAX_WHOLE: Final = 1 << 53
_DAY_MS: Final = 24 * 3_600_000
# LogGroupName and LogStreamName are the CloudWatch agent's.
_METADATA: Final = frozenset({"Timestamp", "CloudWatchMetrics", "LogGroupName", "LogStreamName"})
_DIRECTIVE: Final = frozenset({"Namespace", "Dimensions", "Metrics"})
_DEFINITION: Final = frozenset({"Name", "Unit", "StorageResolution"})
_ID_NAMES: Final = re.compile(
    r"(?i)(x[-_]?amzn?[-_])?(request|trace|span|correlation|invocation|execution|session|message|"
    r"event|transaction)[-_ ]?(id|uuid|guid)|uuid|guid|.*timestamp|.*[-_]?uuid"
)
_ID_VALUES: Final = re.compile(
    r"(?i)[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}"  # a UUID
    r"|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}"  # a hash
    r"|1-[0-9a-f]{8}-[0-9a-f]{24}"  # a trace of X-Ray
    r"|[0-9]{10}([0-9]{3}){0,3}"  # seconds, milliseconds, ... since 1970
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)?"  # a moment
)


def surprises(document: Mapping[str, Any], size: int, now_ms: int | None) -> Iterator[Violation]:
    """What *document*, a line of *size* bytes that breaks no rule, may surprise with."""
    metadata = document["_aws"]
    if size > LONG_BYTES:
        yield Violation("long", "", f"the line has {size} bytes, more than {LONG_BYTES}")
    yield from _late(metadata["Timestamp"], now_ms)
    yield from _strangers(metadata, _METADATA, "$._aws")
    series: set[tuple[object, ...]] = set()
    named: set[str] = set()
    for index, directive in enumerate(metadata["CloudWatchMetrics"]):
        yield from _strangers(directive, _DIRECTIVE, in_directive(index))
        sets = dimension_sets(directive)
        for name in dict.fromkeys(name for names in sets for name in names):
            if name not in named:
                named.add(name)
                yield from _identifying(name, document[name])
        for place, definition in enumerate(directive["Metrics"]):
            path = in_directive(index, f".Metrics[{place}]")
            yield from _strangers(definition, _DEFINITION, path)
            yield from _metric(definition, document, path)
            yield from _twice(directive, definition["Name"], path, series)


def _late(timestamp_ms: int, now_ms: int | None) -> Iterator[Violation]:
    if now_ms is None or now_ms - timestamp_ms <= LATE_MS:
        return
    hours = (now_ms - timestamp_ms) // 3_600_000
    wait = "at least 48" if now_ms - timestamp_ms > _DAY_MS else "up to 2"
    yield Violation(
        "late",
        "Timestamp",
        f"the line is {hours} hours old, and its points take {wait} hours to appear",
        "$._aws.Timestamp",
    )


def _strangers(found: Mapping[str, Any], known: frozenset[str], path: str) -> Iterator[Violation]:
    for name in found:
        if name in known:
            continue
        meant = [one for one in sorted(known) if one.lower() == name.lower().replace("_", "")]
        hint = f", {meant[0]} is" if meant else ""
        yield Violation(
            "unknown_member",
            name,
            f"{name[:64]} is not in the specification{hint}: it is ignored",
            f"{path}{at_root(name)[1:]}",
        )


def _identifying(name: str, value: str) -> Iterator[Violation]:
    if _ID_NAMES.fullmatch(name) or _ID_VALUES.fullmatch(value):
        yield Violation(
            "cardinality",
            name,
            f"the dimension {name} looks like an id: each of its values is a metric of its own",
            at_root(name),
        )


def _metric(
    definition: Mapping[str, Any], document: Mapping[str, Any], path: str
) -> Iterator[Violation]:
    name = definition["Name"]
    if "Unit" not in definition:
        sentence = f"the metric {name} has no Unit, so its unit is None"
        yield Violation("unit_missing", name, sentence, path)
    value = document[name]
    values = value if isinstance(value, list) else [value]
    if any(isinstance(one, int) and abs(one) > MAX_WHOLE for one in values):
        yield Violation(
            "precision",
            name,
            f"the metric {name} has a whole number beyond 2^53, which a double rounds",
            at_root(name),
        )


def _twice(
    directive: Mapping[str, Any], name: str, path: str, series: set[tuple[object, ...]]
) -> Iterator[Violation]:
    for names in dimension_sets(directive):
        key = (directive["Namespace"], name, tuple(sorted(names)))
        if key in series:
            by = ", ".join(sorted(names)) or "no dimension"
            yield Violation(
                "counted_twice",
                name,
                f"the metric {name} is defined twice by {by}: each of its values counts twice",
                path,
            )
        series.add(key)
