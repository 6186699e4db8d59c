"""The metadata of a line: its time, and its directives with their namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neuron_wire.extraction.dimensions import dimension_violations
from neuron_wire.extraction.limits import (
    MAX_AGE_MS,
    MAX_FUTURE_MS,
    MAX_METRICS,
    MAX_NAMESPACE_CHARS,
    NAMESPACE,
)
from neuron_wire.extraction.metric import metric_violations
from neuron_wire.extraction.violation import Violation, in_directive

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def document_violations(
    document: Mapping[str, Any], now_ms: int | None = None
) -> Iterator[Violation]:
    """What is wrong with the member `_aws` of *document*, and with what it points at."""
    metadata = document.get("_aws")
    if not isinstance(metadata, dict):
        sentence = "the line has no object _aws, so nothing is extracted"
        yield Violation("metadata", sentence, "$._aws")
        return
    yield from _timestamp(metadata.get("Timestamp"), now_ms)
    directives = metadata.get("CloudWatchMetrics")
    if not isinstance(directives, list) or not directives:
        sentence = "_aws has no array CloudWatchMetrics of directives"
        yield Violation("directives", sentence, "$._aws.CloudWatchMetrics")
        return
    resolutions: dict[str, object] = {}
    for index, directive in enumerate(directives):
        if isinstance(directive, dict):
            yield from _directive(directive, document, resolutions, index)
        else:
            sentence = "a metric directive is not an object"
            yield Violation("directives", sentence, in_directive(index))


def _timestamp(value: object, now_ms: int | None) -> Iterator[Violation]:
    path = "$._aws.Timestamp"
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        sentence = "_aws.Timestamp is not a whole number of milliseconds"
        yield Violation("timestamp", sentence, path)
    elif now_ms is not None and not -MAX_AGE_MS <= value - now_ms <= MAX_FUTURE_MS:
        sentence = "_aws.Timestamp is not within 14 days before and 2 hours after now"
        yield Violation("timestamp", sentence, path)


def _directive(
    directive: Mapping[str, Any],
    document: Mapping[str, Any],
    resolutions: dict[str, object],
    index: int,
) -> Iterator[Violation]:
    yield from _namespace(directive.get("Namespace"), index)
    keys = yield from dimension_violations(directive.get("Dimensions", []), document, index)
    metrics = directive.get("Metrics")
    path = in_directive(index, ".Metrics")
    if not isinstance(metrics, list):
        yield Violation("metrics", "a metric directive has no array Metrics", path)
        return
    if not 1 <= len(metrics) <= MAX_METRICS:
        sentence = f"a directive defines {len(metrics)} metrics, expected 1 to {MAX_METRICS}"
        yield Violation("metrics", sentence, path)
    defined: set[str] = set()
    for number, definition in enumerate(metrics):
        if not isinstance(definition, dict):
            sentence = "a metric definition is not an object"
            yield Violation("metrics", sentence, f"{path}[{number}]")
            continue
        yield from metric_violations(definition, document, keys, resolutions, (index, number))
        name = definition.get("Name")
        if isinstance(name, str):
            if name in defined:
                sentence = f"a directive defines the metric {name} twice"
                yield Violation("repeated", sentence, f"{path}[{number}].Name")
            defined.add(name)


def _namespace(namespace: object, index: int) -> Iterator[Violation]:
    path = in_directive(index, ".Namespace")
    if (
        not isinstance(namespace, str)
        or not namespace.strip()
        or len(namespace) > MAX_NAMESPACE_CHARS
        or not NAMESPACE.fullmatch(namespace)
    ):
        letters = "A-Z a-z 0-9 . _ # : / - and blank, the first no colon"
        sentence = f"a namespace is not 1 to {MAX_NAMESPACE_CHARS} characters of {letters}"
        yield Violation("namespace", sentence, path)
    elif namespace.startswith("AWS/"):
        sentence = "a namespace starts with AWS/, which AWS keeps to itself"
        yield Violation("namespace", sentence, path)
