"""
Judge one line of a log: its kind, errors that cost a metric, and surprises.

The rules are those by which an emitter checks its own lines, `neuron_wire.extraction`. A log group
may have lines of any kind, so only a line that is meant to be EMF can be wrong: a line that
contains `_aws` or `CloudWatchMetrics`. The specification, the delay of data points and the cost of
a dimension are described in
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/publishingMetrics.html
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from neuron_emf.cost.tariff import TABLES
from neuron_wire.extraction import (
    ROOT_REFERENCE,
    Violation,
    at_root,
    dimension_sets,
    document_violations,
    in_directive,
    metric_numbers,
    read_document,
)
from neuron_wire.names import MINUTE_MS, RAW_KIND

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from neuron_wire.line_members import JsonObject


_RULES: Final = TABLES["lint"]
LINT_ERRORS: Final = _RULES["errors"]
"""Rules that cost at least one metric of the line, or hide it, and the advice for each."""

LINT_ADVICE: Final = LINT_ERRORS | _RULES["warnings"]
"""All rules, including those about extracted metrics that may surprise the writer."""

LONG_BYTES: Final = 262_144  # the limit of a log event until 2025, which many programs still assume
_MAX_WHOLE: Final = 1 << 53
_MAX_NESTED_TEXTS: Final = 5
# In any quotes: a printed Python dictionary is not JSON, but was meant to be.
_QUOTED_DIRECTIVES: Final = re.compile(rb"[\"'](_aws|cloudwatchmetrics)\\*[\"']", re.IGNORECASE)
_LOGGED_MOMENT: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)?"
# The text that Lambda, an export or `aws logs tail` puts before a line: it begins with a time.
_LOGGER_PREFIX: Final = re.compile(r"\s*(\[[A-Z]{4,8}\]\s)?" + _LOGGED_MOMENT + r"\s[^{]{0,1024}")
# The text that a container runtime puts before a line, in its files and never in Lambda.
_CONTAINER_PREFIX: Final = re.compile(_LOGGED_MOMENT + r"\s(stdout|stderr)\s[FP]\S*\s")
# LogGroupName and LogStreamName are members of the CloudWatch agent.
_METADATA: Final = frozenset({"Timestamp", "CloudWatchMetrics", "LogGroupName", "LogStreamName"})
_DIRECTIVE: Final = frozenset({"Namespace", "Dimensions", "Metrics"})
_DEFINITION: Final = frozenset({"Name", "Unit", "StorageResolution"})
_ID_NAME: Final = re.compile(
    r"(?i)(x[-_]?amzn?[-_])?(request|trace|span|correlation|invocation|execution|session|message|"
    r"event|transaction)[-_ ]?(id|uuid|guid)|guid|.*(timestamp|uuid)"
)
# A UUID, a hash, an X-Ray trace, a number of seconds or milliseconds since 1970, or a time.
_ID_VALUE: Final = re.compile(r"(?i)[0-9a-f-]{32,64}|[0-9]{10}([0-9]{3}){0,3}|" + _LOGGED_MOMENT)


_Kind = Literal["emf", "text", "json", "blank"]
_KIND_BY_FIRST: Final[dict[bytes, _Kind]] = {b"": "blank", b"{": "json"}
"""Kinds of lines without EMF, by their first byte; any other is text."""


class LineVerdict(NamedTuple):
    """
    The judgment of one line.

    Attributes:
        kind: `emf` if it is meant to be EMF, otherwise its kind.

        violations: Errors or, if there are none, surprises.

        metrics: A hash of each metric that CloudWatch extracts, with its dimensions' values; empty
            with an error.
    """

    kind: _Kind
    violations: tuple[Violation, ...] = ()
    metrics: frozenset[int] = frozenset()


def judge(line: bytes, now_ms: int | None) -> LineVerdict:
    """
    Judge *line* as it arrives at *now_ms*; None means that its age is not checked.

    It may be cut to the length of a log event.
    """
    if _QUOTED_DIRECTIVES.search(line) is None:
        return LineVerdict(_KIND_BY_FIRST.get(line.strip()[:1], "text"))
    text = line.decode("utf-8", "surrogateescape").rstrip("\r\n")
    prefix, brace, _ = text.partition("{")
    if prefix.strip() in ("", "["):
        return _judge_document(text, "", now_ms)
    if not brace:
        return LineVerdict("text")  # it only mentions EMF
    if _LOGGER_PREFIX.fullmatch(prefix):
        return _judge_document(text[len(prefix) :], prefix, now_ms)
    sentence = "the document is not the whole line: text precedes it, or it spans several lines"
    return LineVerdict("emf", (Violation("json", sentence),))


def _judge_document(text: str, prefix: str, now_ms: int | None) -> LineVerdict:
    document, violations = read_document(text)
    if document is None:
        return LineVerdict("emf", tuple(violations))
    if "_aws" not in document:
        if document.get("Kind") == RAW_KIND and "Schema" in document:
            return LineVerdict("json")  # a report of neuron-monitor, whatever its texts contain
        if path := next(_nested(document, ROOT_REFERENCE, _MAX_NESTED_TEXTS), None):
            sentence = "the document is nested in a member, where nothing is extracted"
            return LineVerdict("emf", (Violation("wrapped", sentence, path),))
        if not {"_aws", "cloudwatchmetrics"} & {name.lower() for name in document}:
            return LineVerdict("json")
    violations = list(document_violations(document, now_ms))
    if _CONTAINER_PREFIX.fullmatch(prefix):
        sentence = "the prefix of a container runtime precedes the document"
        violations.append(Violation("container", sentence))
    if errors := [violation for violation in violations if violation.rule in LINT_ERRORS]:
        return LineVerdict("emf", tuple(errors))
    if prefix:
        sentence = "a timestamp precedes the document: outside of Lambda its metrics are lost"
        violations.append(Violation("prefixed", sentence))
    if len(text.encode()) > LONG_BYTES:
        violations.append(Violation("long", f"the line has more than {LONG_BYTES} bytes"))
    metrics: set[tuple[Any, ...]] = set()
    violations += _surprises(document, now_ms, metrics)
    return LineVerdict("emf", tuple(violations), frozenset(map(hash, metrics)))


def _nested(value: object, path: str, depth: int) -> Iterator[str]:
    """Yield the paths of documents in *value*, also inside a text, as loggers nest them."""
    if isinstance(value, str) and "_aws" in value:
        value, _ = read_document(value)
    if not isinstance(value, dict) or not depth:
        return
    if "_aws" in value:
        yield path
    for name, member in value.items():
        yield from _nested(member, f"{path}{at_root(name)[1:]}", depth - 1)


def _surprises(
    document: JsonObject, now_ms: int | None, metrics: set[tuple[Any, ...]]
) -> Iterator[Violation]:
    """
    Yield surprises in the extraction of *document*, which breaks no rule.

    It adds to *metrics* by CloudWatch's identity: namespace, name, dimensions and values.
    """
    metadata = document["_aws"]
    hours = 0 if now_ms is None else (now_ms - metadata["Timestamp"]) / MINUTE_MS / 60
    if hours > 3:
        wait = "at least 48" if hours > 24 else "up to 2"
        sentence = f"the line is {int(hours)} hours old, and its points take {wait} hours to appear"
        yield Violation("late", sentence, "$._aws.Timestamp")
    yield from _strangers(metadata, _METADATA, "$._aws")
    for index, directive in enumerate(metadata["CloudWatchMetrics"]):
        yield from _strangers(directive, _DIRECTIVE, in_directive(index))
        for place, definition in enumerate(directive["Metrics"]):
            path = in_directive(index, f".Metrics[{place}]")
            name = definition["Name"]
            yield from _metric_surprises(definition, document[name], path)
            for names in dimension_sets(directive):
                dimensions = sorted((dimension, document[dimension]) for dimension in names)
                metric = (directive["Namespace"], name, *dimensions)
                if metric in metrics:
                    by = ", ".join(sorted(names)) or "no dimension"
                    twice = f"defined twice by {by}: each value counts twice"
                    yield Violation("counted_twice", f"the metric {name} is {twice}", path)
                metrics.add(metric)
    for name, value in sorted({pair for _, _, *pairs in metrics for pair in pairs}):
        if _ID_NAME.fullmatch(name) or _ID_VALUE.fullmatch(value):
            sentence = f"the dimension {name} looks like an id: each value is a metric"
            yield Violation("cardinality", sentence, at_root(name))


def _metric_surprises(definition: JsonObject, value: object, path: str) -> Iterator[Violation]:
    name = definition["Name"]
    yield from _strangers(definition, _DEFINITION, path)
    if "Unit" not in definition:
        yield Violation("unit_missing", f"the metric {name} has no Unit, so its unit is None", path)
    if any(
        isinstance(number, int) and abs(number) > _MAX_WHOLE for number in metric_numbers(value)
    ):
        sentence = f"the metric {name} has a whole number beyond 2^53, which is rounded"
        yield Violation("precision", sentence, at_root(name))


def _strangers(members: Collection[str], known: Collection[str], path: str) -> Iterator[Violation]:
    for name in (name for name in members if name not in known):
        sentence = f"{name[:64]} is not in the specification: it is ignored"
        yield Violation("unknown_member", sentence, f"{path}{at_root(name)[1:]}")
