"""
Check whether CloudWatch would extract a line, and which rules the line breaks.

CloudWatch stores an invalid line without an error and drops its metrics. The rules are those of the
Embedded Metric Format specification and, if it is stricter, of the MetricDatum type behind it; the
rules for a namespace are in the user guide (all read 2026-11-21):
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDatum.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_concepts.html
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias, TypeGuard

from neuron_wire.line_members import NUMBER_TYPES, JsonObject, Members
from neuron_wire.names import MAX_METRIC_VALUES

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

# one log event, minus the overhead that PutLogEvents adds
MAX_EXTRACTED_BYTES: Final = 1_048_576 - 26
MAX_METRICS_IN_DIRECTIVE: Final = 100  # definitions in one directive
MAX_DIMENSIONS: Final = 30  # keys in one dimension set
MAX_DIMENSION_NAME_CHARS: Final = 250
MAX_DIMENSION_VALUE_CHARS: Final = 1024
MAX_METRIC_NAME_CHARS: Final = 255
MAX_NAMESPACE_CHARS: Final = 255
MAX_VALUE: Final = 2.0**360
MAX_METRIC_AGE_MS: Final = 14 * 24 * 3_600_000
MAX_METRIC_FUTURE_MS: Final = 2 * 3_600_000
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
NAMESPACE_FORMAT: Final = re.compile(r"[a-zA-Z0-9 ._#/-][a-zA-Z0-9 ._#:/-]*")


_HISTOGRAM_KEYS: Final = frozenset({"Values", "Counts"})
_STATISTIC_SET_KEYS: Final = frozenset({"Max", "Min", "Count", "Sum"})

Violations: TypeAlias = "Iterator[Violation]"
"""Rules that a line breaks."""

ROOT_REFERENCE: Final = "$"
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_PLAIN_NAME_CHARS: Final = 64  # characters of a name in a path: the name is foreign text


@dataclass(frozen=True, slots=True)
class Violation:
    """
    One broken rule.

    Attributes:
        rule: Short name of the rule; one of a few.

        sentence: The expected and the found value, for a person.

        path: The place of the error, in the form of RFC 9535:
            `$._aws.CloudWatchMetrics[0].Namespace`.
    """

    rule: str
    sentence: str
    path: str = ROOT_REFERENCE


def at_root(name: str) -> str:
    """Return the path of the member *name* of the line itself."""
    if _PLAIN_NAME.fullmatch(name):
        return f"{ROOT_REFERENCE}.{name[:_MAX_PLAIN_NAME_CHARS]}"
    return f"{ROOT_REFERENCE}[{json.dumps(name[:_MAX_PLAIN_NAME_CHARS])}]"


def in_directive(index: int, rest: str = "") -> str:
    """Return the path of *rest* in directive *index*, from 0."""
    return f"{ROOT_REFERENCE}._aws.CloudWatchMetrics[{index}]{rest}"


_HALF_CHARACTER: Final = re.compile("[\ud800-\udfff]")
_MAX_DIGITS: Final = 4300  # Python rejects longer numbers; JSON has no such limit


def read_document(line: str) -> tuple[dict[str, Any] | None, list[Violation]]:
    """Return the JSON object in *line*, or None and the reasons why it has none."""
    if violations := text_violations(line):
        return None, violations
    try:
        document = json.loads(
            line, object_pairs_hook=_members, parse_constant=refuse_constant, parse_int=_whole
        )
    except _RepeatedMemberError as error:
        name = str(error)
        sentence = f"the member {name} appears twice in one object"
        return None, [Violation("repeated", sentence, at_root(name))]
    except json.JSONDecodeError as error:
        where = f"{error.msg} at character {error.pos + 1}"
        return None, [Violation("json", f"the line is not one JSON value: {where}")]
    except (ValueError, RecursionError):
        return None, [Violation("json", "the line is not one JSON value")]
    if not isinstance(document, dict):
        return None, [Violation("object", "the line is JSON but not an object")]
    return document, []


def text_violations(line: str) -> list[Violation]:
    """Return the broken rules about the characters of *line*, whatever its content."""
    size = len(line) if line.isascii() else len(line.encode("utf-8", "replace"))
    if size > MAX_EXTRACTED_BYTES:
        return [Violation("size", f"the line has more than {MAX_EXTRACTED_BYTES} bytes")]
    if not line.isascii() and (half := _HALF_CHARACTER.search(line)):
        sentence = f"the line is not UTF-8 at character {half.start() + 1}: half a character"
        return [Violation("json", sentence)]
    return []


class _RepeatedMemberError(ValueError):
    pass


def _whole(digits: str) -> int | float:
    # Beyond every value that CloudWatch accepts; how far does not matter.
    return int(digits) if len(digits) <= _MAX_DIGITS else math.inf


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        repeated = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise _RepeatedMemberError(repeated)
    return members


def refuse_constant(name: str) -> NoReturn:
    """
    Refuse NaN and infinity, which Python reads and CloudWatch does not.

    Raises:
        ValueError: Always.
    """
    msg = f"{name} is not JSON"
    raise ValueError(msg)


def metric_violations(
    definition: JsonObject,
    document: JsonObject,
    dimensions: set[str],
    resolutions: Members,
    path: str,
) -> Violations:
    """
    Yield the broken rules of *definition*, which is at *path*.

    *dimensions* are the names in its directive's sets. *resolutions* are those of earlier metrics;
    the function adds this metric's own.
    """
    name = definition.get("Name")
    if not _is_name(name, MAX_METRIC_NAME_CHARS):
        yield Violation(
            "metric_name",
            f"a metric name is not 1 to {MAX_METRIC_NAME_CHARS} characters",
            f"{path}.Name",
        )
        return
    unit = definition.get("Unit", "None")
    if not isinstance(unit, str) or unit not in UNITS:
        yield Violation(
            "unit",
            f"the metric {name} has a unit that CloudWatch does not know",
            f"{path}.Unit",
        )
    resolution = definition.get("StorageResolution", 60)
    if isinstance(resolution, bool) or resolution not in RESOLUTIONS:  # in Python, True equals 1
        yield Violation(
            "resolution",
            f"the metric {name} has a storage resolution other than 1 or 60",
            f"{path}.StorageResolution",
        )
    elif resolutions.setdefault(name, resolution) != resolution:
        yield Violation(
            "resolution",
            f"the metric {name} has two storage resolutions in one line",
            f"{path}.StorageResolution",
        )
    if name in dimensions:
        yield Violation("collision", f"{name} is both a metric and a dimension", f"{path}.Name")
    yield from _value_violations(name, document)


def _is_name(value: object, longest: int) -> TypeGuard[str]:
    """Return True if *value* is a text of 1 to *longest* characters that are not all blank."""
    return isinstance(value, str) and bool(value.strip()) and len(value) <= longest


def _value_violations(name: str, document: JsonObject) -> Violations:
    if name not in document:
        yield Violation(
            "value", f"the metric {name} has no value at the root of the line", at_root(name)
        )
        return
    value = document[name]
    values = metric_numbers(value)
    if isinstance(value, dict):
        yield from _distribution_violations(name, value)
    elif not 1 <= len(values) <= MAX_METRIC_VALUES:
        counts = f"{len(values)} values, expected 1 to {MAX_METRIC_VALUES}"
        yield Violation("values", f"the metric {name} has {counts}", at_root(name))
    # NaN compares false with every number.
    if not all(
        type(value) in NUMBER_TYPES and -MAX_VALUE <= value <= MAX_VALUE for value in values
    ):
        yield Violation(
            "value",
            f"the metric {name} has a value that is not a number within 2^360",
            at_root(name),
        )


def metric_numbers(value: object) -> list[Any]:
    """Return all numbers of a metric's *value*: one, an array, or a distribution."""
    if isinstance(value, dict):
        buckets = [value.get(member) for member in _HISTOGRAM_KEYS]
        scalars = [number for member, number in value.items() if member not in _HISTOGRAM_KEYS]
        return sum((bucket for bucket in buckets if isinstance(bucket, list)), scalars)
    return value if isinstance(value, list) else [value]


def _distribution_violations(name: str, value: JsonObject) -> Violations:
    """
    Check an object of Max, Min, Count and Sum, in most cases with Values and their Counts.

    The specification does not mention it; OpenTelemetry's exporter sends it and CloudWatch
    extracts it:
    https://github.com/open-telemetry/opentelemetry-collector-contrib/tree/main/exporter/awsemfexporter
    """
    buckets = value.keys() & _HISTOGRAM_KEYS
    if value.keys() - buckets != _STATISTIC_SET_KEYS or len(buckets) == 1:
        members = "Max, Min, Count and Sum, with or without Values and Counts"
        yield Violation(
            "value",
            f"the metric {name} is an object whose members are not {members}",
            at_root(name),
        )
    elif buckets:
        values = value["Values"]
        counts = value["Counts"]
        is_paired = isinstance(values, list) and isinstance(counts, list)
        if not is_paired or not 1 <= len(values) == len(counts) <= MAX_METRIC_VALUES:
            yield Violation(
                "values",
                f"the metric {name} needs 1 to {MAX_METRIC_VALUES} Values and as many Counts",
                at_root(name),
            )


def dimension_sets(directive: JsonObject) -> list[list[str]]:
    """Return the sets of a *directive* that follows the rules; one empty set if it has none."""
    return directive.get("Dimensions") or [[]]


def dimension_violations(
    sets: object, document: JsonObject, index: int
) -> Generator[Violation, None, set[str]]:
    """Yield the broken rules of the *sets* of directive *index*; return the names in them."""
    keys: set[str] = set()
    if not isinstance(sets, list):
        yield Violation(
            "dimensions",
            "Dimensions is not an array of dimension sets",
            in_directive(index, ".Dimensions"),
        )
        return keys
    if not sets:
        yield Violation(
            "no_dimensions",
            "the directive has no dimension set, so its metrics have no dimensions",
            in_directive(index),
        )
    for number, names in enumerate(sets):
        if not isinstance(names, list) or len(names) > MAX_DIMENSIONS:
            yield Violation(
                "dimensions",
                f"a dimension set is not an array of at most {MAX_DIMENSIONS} names",
                in_directive(index, f".Dimensions[{number}]"),
            )
            continue
        for place, name in enumerate(names):
            path = in_directive(index, f".Dimensions[{number}][{place}]")
            yield from _dimension(name, document, path)
            if isinstance(name, str):
                keys.add(name)
                if name in names[:place]:
                    yield Violation(
                        "repeated",
                        f"a dimension set names {name} twice",
                        path,
                    )
    return keys


def is_printable_ascii(text: str) -> bool:
    """Return True for ASCII without control characters, as MetricDatum defines it."""
    return text.isascii() and text.isprintable()


def _dimension(name: object, document: JsonObject, path: str) -> Violations:
    if (
        not _is_name(name, MAX_DIMENSION_NAME_CHARS)
        or not is_printable_ascii(name)
        or name.startswith(":")
    ):
        printable = f"1 to {MAX_DIMENSION_NAME_CHARS} printable ASCII characters"
        yield Violation(
            "dimension_name",
            f"a dimension name is not {printable} without a leading colon",
            path,
        )
        return
    value = document.get(name)
    if not isinstance(value, str):
        yield Violation(
            "dimension_value",
            f"the dimension {name} has no text at the root of the line",
            at_root(name),
        )
    elif not value.strip():
        yield Violation(
            "dimension_blank",
            f"the dimension {name} is blank, so the metric is extracted without dimensions",
            at_root(name),
        )
    elif len(value) > MAX_DIMENSION_VALUE_CHARS or not is_printable_ascii(value):
        printable = f"1 to {MAX_DIMENSION_VALUE_CHARS} printable ASCII characters"
        yield Violation(
            "dimension_value", f"the dimension {name} is not {printable}", at_root(name)
        )


def document_violations(document: JsonObject, now_ms: int | None = None) -> Violations:
    """Yield the broken rules of `_aws` in *document*, and of the members that it names."""
    metadata = document.get("_aws")
    if not isinstance(metadata, dict):
        yield Violation(
            "metadata", "the line has no object _aws, so nothing is extracted", "$._aws"
        )
        return
    yield from _timestamp(metadata.get("Timestamp"), now_ms)
    directives = metadata.get("CloudWatchMetrics")
    if not isinstance(directives, list) or not directives:
        yield Violation(
            "directives",
            "_aws has no array CloudWatchMetrics of directives",
            "$._aws.CloudWatchMetrics",
        )
        return
    resolutions: Members = {}
    for index, directive in enumerate(directives):
        if isinstance(directive, dict):
            yield from _directive(directive, document, resolutions, index)
        else:
            yield Violation(
                "directives", "a metric directive is not an object", in_directive(index)
            )


def _timestamp(value: object, now_ms: int | None) -> Violations:
    path = "$._aws.Timestamp"
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        yield Violation("timestamp", "_aws.Timestamp is not a whole number of milliseconds", path)
    elif now_ms is not None and not -MAX_METRIC_AGE_MS <= value - now_ms <= MAX_METRIC_FUTURE_MS:
        yield Violation(
            "timestamp", "_aws.Timestamp is not within 14 days before and 2 hours after now", path
        )


def _directive(
    directive: JsonObject,
    document: JsonObject,
    resolutions: Members,
    index: int,
) -> Violations:
    yield from _namespace(directive.get("Namespace"), index)
    keys = yield from dimension_violations(directive.get("Dimensions", []), document, index)
    metrics = directive.get("Metrics")
    path = in_directive(index, ".Metrics")
    if not isinstance(metrics, list):
        yield Violation("metrics", "a metric directive has no array Metrics", path)
        return
    if not 1 <= len(metrics) <= MAX_METRICS_IN_DIRECTIVE:
        yield Violation(
            "metrics",
            f"a directive defines {len(metrics)} metrics, expected 1 to {MAX_METRICS_IN_DIRECTIVE}",
            path,
        )
    defined: set[str] = set()
    for number, definition in enumerate(metrics):
        if not isinstance(definition, dict):
            yield Violation("metrics", "a metric definition is not an object", f"{path}[{number}]")
            continue
        yield from metric_violations(definition, document, keys, resolutions, f"{path}[{number}]")
        name = definition.get("Name")
        if isinstance(name, str):
            if name in defined:
                yield Violation(
                    "repeated",
                    f"a directive defines the metric {name} twice",
                    f"{path}[{number}].Name",
                )
            defined.add(name)


def _namespace(namespace: object, index: int) -> Violations:
    path = in_directive(index, ".Namespace")
    if not _is_name(namespace, MAX_NAMESPACE_CHARS) or not NAMESPACE_FORMAT.fullmatch(namespace):
        letters = "A-Z a-z 0-9 . _ # : / - and blank, not beginning with a colon"
        yield Violation(
            "namespace",
            f"a namespace is not 1 to {MAX_NAMESPACE_CHARS} characters of {letters}",
            path,
        )
    elif namespace.startswith("AWS/"):
        yield Violation("namespace", "a namespace starts with AWS/, which AWS reserves", path)


def violations(line: str, *, now_ms: int | None = None) -> list[Violation]:
    """
    Return every rule that *line* breaks; empty if CloudWatch would extract it.

    With *now_ms*, milliseconds since the epoch, the age is checked too.
    """
    document, found = read_document(line)
    if document is None:
        return found
    return list(document_violations(document, now_ms))
