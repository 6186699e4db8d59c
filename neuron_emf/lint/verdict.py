"""
One line of a log: what it is, what costs it a metric, and what surprises.

The rules are those by which an emitter checks each of its own lines, `neuron_wire.extraction`.
A log group may hold lines of any kind, so only a line that is meant to be EMF can be wrong: one
in which somebody wrote `_aws` or `CloudWatchMetrics`. What the specification defines, how long
points take to appear and what a dimension costs is in
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/publishingMetrics.html
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from neuron_wire.extraction import MAX_LINE_BYTES, Violation, document_of, violations
from neuron_wire.extraction.dimensions import dimension_sets
from neuron_wire.extraction.violation import at_root, in_directive
from neuron_wire.names import RAW

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


ERRORS: Final = {
    "json": "Write each document on one line, with nothing around it and no NaN or Infinity.",
    "object": "Write one object for each log event, not an array of them.",
    "repeated": "Omit one of the two: which one counts is not documented.",
    "size": "Split it into several lines with the same Timestamp.",
    "wrapped": "Print the document itself; a logger puts what it is given into a message.",
    "metadata": "Put CloudWatchMetrics and Timestamp in a member `_aws`, spelled like this.",
    "timestamp": "Write milliseconds, not seconds and not a string; check the writer's clock.",
    "directives": "Add a directive with Namespace, Dimensions and Metrics.",
    "namespace": "Use 1 to 255 of A-Z a-z 0-9 . _ # : / - and space, not AWS/ or a colon first.",
    "dimensions": 'Write [[]] for a metric without dimensions, [["Name"]] for one with one.',
    "dimension_name": "Choose another name.",
    "dimension_value": "Write its value as a string of ASCII at the root, a number in quotes.",
    "dimension_blank": "Write its value, or omit the line while there is none.",
    "metrics": "Use several directives, or several lines, for more than 100.",
    "metric_name": "Choose a shorter name that is not blank.",
    "unit": "Use one of them, spelled exactly, such as Milliseconds, Count/Second or None.",
    "resolution": "Use 1 or 60, the same wherever the line defines the metric.",
    "collision": "Rename one of them.",
    "value": "Write a number within 2^360 at the root; omit the definition where there is none.",
    "values": "Split it over several lines with the same Timestamp.",
}
"""Rules that cost at least one metric of the line, or put it where nobody looks; what to do."""

WARNINGS: Final = {
    "prefixed": "Nothing, if the line is from Lambda or from an export, which add it.",
    "long": "Split it, unless it is sent by PutLogEvents itself.",
    "late": "Expect graphs to be filled in later; alarms do not notice.",
    "unknown_member": "Correct its spelling and capitals, or omit it.",
    "no_dimensions": "Write [[]] if that is intended; every EMF reader accepts it.",
    "unit_missing": "Write the unit.",
    "counted_twice": "Omit one of the two.",
    "precision": "Use a larger unit, or a difference.",
    "cardinality": "Keep it at the root and out of dimension sets; Logs Insights finds it.",
}
"""Rules of what is extracted, and perhaps not as its writer thinks; what to do."""

ADVICE: Final = {**ERRORS, **WARNINGS}

KEPT_BYTES: Final = 2 * MAX_LINE_BYTES  # of a line that is too long its beginning is enough
LONG_BYTES: Final = 262_144  # what a log event could have until 2025, and what many still assume
_HOUR_MS: Final = 3_600_000
_MAX_WHOLE: Final = 1 << 53
_MAX_DEPTH: Final = 4
# In any quotes: what Python shows of a dictionary is not JSON, and somebody meant it to be.
_QUOTED: Final = re.compile(rb"[\"'](_aws|cloudwatchmetrics)\\*[\"']", re.IGNORECASE)
_ARRAY: Final = re.compile(r"\[\s*[\[{]")
# What Lambda puts before a line, and what an export or `aws logs tail` does: a time comes first.
_PREFIX: Final = re.compile(
    r"\s*(\[[A-Z]{4,8}\]\s)?[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)?\s[^{]{0,1024}"
)
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


@dataclass(frozen=True, slots=True)
class FileLine:
    """One line without what ends it: its number from 1, at most `KEPT_BYTES` of it, all bytes."""

    number: int
    content: bytes
    size: int


@dataclass(frozen=True, slots=True)
class LineVerdict:
    """
    What was found in one line.

    Attributes:
        kind: `emf` when it is meant to be, else what it is instead.

        errors: What costs at least one metric, or puts it where nobody looks.

        warnings: What surprises; none where there are errors.

        document: What CloudWatch extracts from; None where it extracts nothing.
    """

    kind: Literal["emf", "text", "json", "blank"]
    errors: tuple[Violation, ...] = ()
    warnings: tuple[Violation, ...] = ()
    document: dict[str, Any] | None = None


def judge(line: FileLine, now_ms: int | None) -> LineVerdict:
    """What *line* is, if it arrives at *now_ms*; None asks nothing of its age."""
    if _QUOTED.search(line.content) is None:
        first = line.content.lstrip()[:1]
        return LineVerdict("json" if first == b"{" else "text" if first else "blank")
    if line.size > len(line.content):
        sentence = f"the line has {line.size} bytes, at most {MAX_LINE_BYTES} are accepted"
        return _wrong(Violation("size", "", sentence))
    try:
        text = line.content.decode("utf-8")
    except UnicodeDecodeError as error:
        return _not_json(f"the line is not UTF-8 at byte {error.start + 1}")
    return _judge_text(text, line.size, now_ms)


def _judge_text(text: str, size: int, now_ms: int | None) -> LineVerdict:
    stripped = text.lstrip()
    start = 0 if stripped.startswith("{") or _ARRAY.match(stripped) else text.find("{")
    prefix, rest = (text, "") if start < 0 else (text[:start], text[start:])
    if prefix and not _PREFIX.fullmatch(prefix):
        if not rest:
            return LineVerdict("text")  # it only speaks of EMF
        if prefix.lstrip().startswith('"'):
            return _not_json("the document spans several lines, and each line is a log event")
        return _not_json("there is text before the document, which must be the whole line")
    verdict = _judge_document(rest, size, now_ms)
    if not prefix or verdict.document is None:
        return verdict
    sentence = "a timestamp precedes the document, which CloudWatch accepts from Lambda only"
    return replace(verdict, warnings=(Violation("prefixed", "", sentence), *verdict.warnings))


def _judge_document(text: str, size: int, now_ms: int | None) -> LineVerdict:
    document, found = document_of(text)
    if document is None:
        return _wrong(*(_located(violation, text) for violation in found))
    if "_aws" not in document:
        if document.get("Kind") == RAW and "Schema" in document:
            return LineVerdict("json")  # a report of neuron-monitor, whatever its texts hold
        if path := _nested(document, "$", _MAX_DEPTH):
            sentence = "the document is nested in a member, where nothing is extracted"
            return _wrong(Violation("wrapped", path.rpartition(".")[2], sentence, path))
        if not any(name.lower() in ("_aws", "cloudwatchmetrics") for name in document):
            return LineVerdict("json")
    broken = violations(text, now_ms=now_ms)
    if errors := [violation for violation in broken if violation.rule in ERRORS]:
        return _wrong(*errors)
    return LineVerdict("emf", (), (*broken, *_surprises(document, size, now_ms)), document)


def _wrong(*errors: Violation) -> LineVerdict:
    return LineVerdict("emf", errors)


def _not_json(sentence: str) -> LineVerdict:
    return _wrong(Violation("json", "", sentence))


def _located(violation: Violation, text: str) -> Violation:
    """Of a line that is not JSON, also where it ceases to be."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{error.msg} at character {error.pos + 1}"
        return replace(violation, sentence=f"{violation.sentence}: {where}")
    except (ValueError, RecursionError):
        pass
    return violation


def _nested(value: object, path: str, depth: int) -> str:
    """Where in *value* a document is; empty when there is none."""
    if isinstance(value, str) and "_aws" in value and value.lstrip().startswith("{"):
        inner, _ = document_of(value)
        return path if inner is not None and "_aws" in inner else ""
    if not isinstance(value, dict) or not depth:
        return ""
    for name, member in value.items():
        here = f"{path}{at_root(name)[1:]}"
        if isinstance(member, dict) and "_aws" in member:
            return here
        if found := _nested(member, here, depth - 1):
            return found
    return ""


def _surprises(document: Mapping[str, Any], size: int, now_ms: int | None) -> Iterator[Violation]:
    """What CloudWatch extracts from *document*, which breaks no rule, otherwise than thought."""
    metadata = document["_aws"]
    if size > LONG_BYTES:
        yield Violation("long", "", f"the line has {size} bytes, more than {LONG_BYTES}")
    hours = 0 if now_ms is None else (now_ms - metadata["Timestamp"]) / _HOUR_MS
    if hours > 3:
        wait = "at least 48" if hours > 24 else "up to 2"
        sentence = f"the line is {int(hours)} hours old, and its points take {wait} hours to appear"
        yield Violation("late", "Timestamp", sentence, "$._aws.Timestamp")
    yield from _strangers(metadata, _METADATA, "$._aws")
    series: set[tuple[object, ...]] = set()
    named: set[str] = set()
    for index, directive in enumerate(metadata["CloudWatchMetrics"]):
        yield from _strangers(directive, _DIRECTIVE, in_directive(index))
        sets = dimension_sets(directive)
        for name in dict.fromkeys(name for names in sets for name in names if name not in named):
            named.add(name)
            if _ID_NAMES.fullmatch(name) or _ID_VALUES.fullmatch(document[name]):
                sentence = f"the dimension {name} looks like an id: each value is a metric"
                yield Violation("cardinality", name, sentence, at_root(name))
        for place, definition in enumerate(directive["Metrics"]):
            path, name = in_directive(index, f".Metrics[{place}]"), definition["Name"]
            yield from _strangers(definition, _DEFINITION, path)
            yield from _metric(name, definition, document[name], path)
            for names in sets:
                key = (directive["Namespace"], name, *sorted(names))
                if key in series:
                    by = ", ".join(sorted(names)) or "no dimension"
                    sentence = (
                        f"the metric {name} is defined twice by {by}: each value counts twice"
                    )
                    yield Violation("counted_twice", name, sentence, path)
                series.add(key)


def _strangers(found: Mapping[str, Any], known: frozenset[str], path: str) -> Iterator[Violation]:
    for name in (name for name in found if name not in known):
        meant = [other for other in sorted(known) if other.lower() == name.lower().replace("_", "")]
        hint = f", {meant[0]} is" if meant else ""
        sentence = f"{name[:64]} is not in the specification{hint}: it is ignored"
        yield Violation("unknown_member", name, sentence, f"{path}{at_root(name)[1:]}")


def _metric(
    name: str, definition: Mapping[str, Any], value: object, path: str
) -> Iterator[Violation]:
    if "Unit" not in definition:
        sentence = f"the metric {name} has no Unit, so its unit is None"
        yield Violation("unit_missing", name, sentence, path)
    values = value if isinstance(value, list) else [value]
    if any(isinstance(one, int) and abs(one) > _MAX_WHOLE for one in values):
        sentence = f"the metric {name} has a whole number beyond 2^53, which is rounded"
        yield Violation("precision", name, sentence, at_root(name))
