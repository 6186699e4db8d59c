"""
Would CloudWatch extract this line? Every rule, and which ones a line breaks.

CloudWatch stores a bad line without a word and drops its metrics, so every
line is checked before it leaves. The rules are those of the Embedded Metric
Format specification and, where it is stricter, of the MetricDatum type behind
it (both read 2026-11-21):
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDatum.html
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

from neuron_wire.names import MAX_METRIC_VALUES

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

MAX_LINE_BYTES: Final = 1_048_576 - 26  # one log event, less what PutLogEvents charges for it
MAX_METRICS: Final = 100  # definitions in one directive
MAX_DIMENSIONS: Final = 30  # keys in one dimension set
MAX_DIMENSION_NAME_CHARS: Final = 250
MAX_DIMENSION_VALUE_CHARS: Final = 1024
MAX_METRIC_NAME_CHARS: Final = 255
MAX_NAMESPACE_CHARS: Final = 255
MAX_VALUE: Final = 2.0**360
MAX_AGE_MS: Final = 14 * 24 * 3_600_000
MAX_FUTURE_MS: Final = 2 * 3_600_000
RESOLUTIONS: Final = (1, 60)  # seconds
UNITS: Final = frozenset(
    ["Seconds", "Microseconds", "Milliseconds", "Percent", "Count", "Count/Second", "None"]
    + [
        f"{scale}{base}{rate}".capitalize().replace("/s", "/S")
        for scale in ("", "kilo", "mega", "giga", "tera")
        for base in ("bytes", "bits")
        for rate in ("", "/Second")
    ]
)
_NAMESPACE: Final = re.compile(r"[a-zA-Z0-9._#/-][a-zA-Z0-9._#:/-]*")


@dataclass(frozen=True, slots=True)
class Violation:
    """
    One reason why CloudWatch would not extract a line.

    Attributes:
        rule: Short name of the rule, of a bounded set.

        member: The member it is about, or an empty text for the whole line.

        sentence: What was expected and what was found, for a person.
    """

    rule: str
    member: str
    sentence: str


def violations(line: str, *, now_ms: int | None = None) -> list[Violation]:
    """
    Every rule that *line* breaks; empty when CloudWatch would extract it.

    With *now_ms*, milliseconds since the epoch, its age is checked too.
    """
    return list(_violations(line, now_ms))


class _RepeatedMemberError(ValueError):
    pass


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        repeated = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise _RepeatedMemberError(repeated)
    return members


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is not JSON"
    raise ValueError(msg)


def _violations(line: str, now_ms: int | None) -> Iterator[Violation]:
    try:
        size = len(line.encode())
    except UnicodeEncodeError:
        yield Violation("json", "", "the line holds half a character and cannot be sent as UTF-8")
        return
    if size > MAX_LINE_BYTES:
        yield Violation(
            "size", "", f"the line has {size} bytes, at most {MAX_LINE_BYTES} are accepted"
        )
    try:
        document = json.loads(line, object_pairs_hook=_members, parse_constant=_refuse_constant)
    except _RepeatedMemberError as error:
        yield Violation("repeated", str(error), f"the member {error} stands twice in one object")
        return
    except (ValueError, RecursionError):
        yield Violation("json", "", "the line is not one JSON value")
        return
    if not isinstance(document, dict):
        yield Violation("object", "", "the line is JSON but not an object")
        return
    metadata = document.get("_aws")
    if not isinstance(metadata, dict):
        yield Violation("metadata", "_aws", "the line has no object _aws, so nothing is extracted")
        return
    yield from _timestamp(metadata.get("Timestamp"), now_ms)
    directives = metadata.get("CloudWatchMetrics")
    if not isinstance(directives, list) or not directives:
        yield Violation(
            "directives", "CloudWatchMetrics", "_aws has no array CloudWatchMetrics of directives"
        )
        return
    resolutions: dict[str, object] = {}
    for directive in directives:
        if isinstance(directive, dict):
            yield from _directive(directive, document, resolutions)
        else:
            yield Violation(
                "directives", "CloudWatchMetrics", "a metric directive is not an object"
            )


def _timestamp(found: object, now_ms: int | None) -> Iterator[Violation]:
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        yield Violation(
            "timestamp", "Timestamp", "_aws.Timestamp is not a whole number of milliseconds"
        )
    elif now_ms is not None and not -MAX_AGE_MS <= found - now_ms <= MAX_FUTURE_MS:
        yield Violation(
            "timestamp",
            "Timestamp",
            "_aws.Timestamp is not within 14 days before and 2 hours after now",
        )


def _directive(
    directive: Mapping[str, Any], document: Mapping[str, Any], resolutions: dict[str, object]
) -> Iterator[Violation]:
    namespace = directive.get("Namespace")
    if (
        not isinstance(namespace, str)
        or len(namespace) > MAX_NAMESPACE_CHARS
        or not _NAMESPACE.fullmatch(namespace)
    ):
        yield Violation(
            "namespace",
            "Namespace",
            f"a namespace is not 1 to {MAX_NAMESPACE_CHARS} characters of A-Z a-z 0-9 . _ # : / -",
        )
    elif namespace.startswith("AWS/"):
        yield Violation(
            "namespace", "Namespace", "a namespace starts with AWS/, which AWS keeps to itself"
        )
    keys = yield from _dimensions(directive.get("Dimensions"), document)
    metrics = directive.get("Metrics")
    if not isinstance(metrics, list):
        yield Violation("metrics", "Metrics", "a metric directive has no array Metrics")
        return
    if not 1 <= len(metrics) <= MAX_METRICS:
        yield Violation(
            "metrics",
            "Metrics",
            f"a directive defines {len(metrics)} metrics, expected 1 to {MAX_METRICS}",
        )
    defined: set[str] = set()
    for definition in metrics:
        if not isinstance(definition, dict):
            yield Violation("metrics", "Metrics", "a metric definition is not an object")
            continue
        yield from _metric(definition, document, keys, resolutions)
        name = definition.get("Name")
        if isinstance(name, str):
            if name in defined:
                yield Violation("repeated", name, f"a directive defines the metric {name} twice")
            defined.add(name)


def _dimensions(sets: object, document: Mapping[str, Any]) -> Generator[Violation, None, set[str]]:
    keys: set[str] = set()
    if not isinstance(sets, list) or not sets:
        yield Violation(
            "dimensions", "Dimensions", "Dimensions holds no dimension set, expected at least [[]]"
        )
        return keys
    for names in sets:
        if not isinstance(names, list) or len(names) > MAX_DIMENSIONS:
            yield Violation(
                "dimensions",
                "Dimensions",
                f"a dimension set is not an array of at most {MAX_DIMENSIONS} names",
            )
            continue
        for place, name in enumerate(names):
            yield from _dimension(name, document)
            if isinstance(name, str):
                keys.add(name)
                if name in names[:place]:
                    yield Violation("repeated", name, f"a dimension set names {name} twice")
    return keys


def _dimension(name: object, document: Mapping[str, Any]) -> Iterator[Violation]:
    if (
        not isinstance(name, str)
        or not name.strip()
        or len(name) > MAX_DIMENSION_NAME_CHARS
        or not _is_printable_ascii(name)
        or name.startswith(":")
    ):
        yield Violation(
            "dimension_name",
            str(name)[:64],
            f"a dimension name is not 1 to {MAX_DIMENSION_NAME_CHARS} printable ASCII characters "
            "without a leading colon",
        )
        return
    value = document.get(name)
    if not isinstance(value, str):
        yield Violation(
            "dimension_value", name, f"the dimension {name} has no text at the root of the line"
        )
    elif (
        not value.strip()
        or len(value) > MAX_DIMENSION_VALUE_CHARS
        or not _is_printable_ascii(value)
    ):
        yield Violation(
            "dimension_value",
            name,
            f"the dimension {name} is not 1 to {MAX_DIMENSION_VALUE_CHARS} printable ASCII "
            "characters",
        )


def _metric(
    definition: Mapping[str, Any],
    document: Mapping[str, Any],
    dimensions: set[str],
    resolutions: dict[str, object],
) -> Iterator[Violation]:
    name = definition.get("Name")
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_METRIC_NAME_CHARS:
        yield Violation(
            "metric_name",
            str(name)[:64],
            f"a metric name is not 1 to {MAX_METRIC_NAME_CHARS} characters",
        )
        return
    unit = definition.get("Unit", "None")
    if not isinstance(unit, str) or unit not in UNITS:
        yield Violation("unit", name, f"the metric {name} has a unit that CloudWatch does not know")
    resolution = definition.get("StorageResolution", 60)
    if isinstance(resolution, bool) or resolution not in RESOLUTIONS:  # True is 1 to Python
        yield Violation(
            "resolution", name, f"the metric {name} has a storage resolution other than 1 or 60"
        )
    elif resolutions.setdefault(name, resolution) != resolution:
        yield Violation(
            "resolution", name, f"the metric {name} has two storage resolutions in one line"
        )
    if name in dimensions:
        yield Violation("collision", name, f"{name} is both a metric and a dimension")
    if name not in document:
        yield Violation("value", name, f"the metric {name} has no value at the root of the line")
        return
    value = document[name]
    values = value if isinstance(value, list) else [value]
    if not 1 <= len(values) <= MAX_METRIC_VALUES:
        yield Violation(
            "values",
            name,
            f"the metric {name} has {len(values)} values, expected 1 to {MAX_METRIC_VALUES}",
        )
    if not all(_is_metric_value(one) for one in values):
        yield Violation(
            "value", name, f"the metric {name} has a value that is not a number within 2^360"
        )


def _is_printable_ascii(text: str) -> bool:
    # MetricDatum's own words: ASCII, and no control characters.
    return text.isascii() and text.isprintable()


def _is_metric_value(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return (isinstance(value, int) or math.isfinite(value)) and abs(value) <= MAX_VALUE
