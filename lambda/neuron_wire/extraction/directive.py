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
        yield Violation("metadata", "_aws", sentence, "$._aws")
        return
    yield from _timestamp(metadata.get("Timestamp"), now_ms)
    directives = metadata.get("CloudWatchMetrics")
    if not isinstance(directives, list) or not directives:
        yield Violation(
            "directives",
            "CloudWatchMetrics",
            "_aws has no array CloudWatchMetrics of directives",
            "$._aws.CloudWatchMetrics",
        )
        return
    resolutions: dict[str, object] = {}
    for index, directive in enumerate(directives):
        if isinstance(directive, dict):
            yield from _directive(directive, document, resolutions, index)
        else:
            yield Violation(
                "directives",
                "CloudWatchMetrics",
                "a metric directive is not an object",
                in_directive(index),
            )


def _timestamp(found: object, now_ms: int | None) -> Iterator[Violation]:
    path = "$._aws.Timestamp"
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        yield Violation(
            "timestamp", "Timestamp", "_aws.Timestamp is not a whole number of milliseconds", path
        )
    elif now_ms is not None and not -MAX_AGE_MS <= found - now_ms <= MAX_FUTURE_MS:
        yield Violation(
            "timestamp",
            "Timestamp",
            "_aws.Timestamp is not within 14 days before and 2 hours after now",
            path,
        )


def _directive(
    directive: Mapping[str, Any],
    document: Mapping[str, Any],
    resolutions: dict[str, object],
    index: int,
) -> Iterator[Violation]:
    yield from _namespace(directive.get("Namespace"), index)
    keys = yield from dimension_violations(directive.get("Dimensions"), document, index)
    metrics = directive.get("Metrics")
    path = in_directive(index, ".Metrics")
    if not isinstance(metrics, list):
        yield Violation("metrics", "Metrics", "a metric directive has no array Metrics", path)
        return
    if not 1 <= len(metrics) <= MAX_METRICS:
        yield Violation(
            "metrics",
            "Metrics",
            f"a directive defines {len(metrics)} metrics, expected 1 to {MAX_METRICS}",
            path,
        )
    defined: set[str] = set()
    for number, definition in enumerate(metrics):
        if not isinstance(definition, dict):
            sentence = "a metric definition is not an object"
            yield Violation("metrics", "Metrics", sentence, f"{path}[{number}]")
            continue
        yield from metric_violations(definition, document, keys, resolutions, (index, number))
        name = definition.get("Name")
        if isinstance(name, str):
            if name in defined:
                sentence = f"a directive defines the metric {name} twice"
                yield Violation("repeated", name, sentence, f"{path}[{number}].Name")
            defined.add(name)


def _namespace(namespace: object, index: int) -> Iterator[Violation]:
    if (
        not isinstance(namespace, str)
        or not namespace.strip()
        or len(namespace) > MAX_NAMESPACE_CHARS
        or not NAMESPACE.fullmatch(namespace)
    ):
        yield Violation(
            "namespace",
            "Namespace",
            f"a namespace is not 1 to {MAX_NAMESPACE_CHARS} characters of A-Z a-z 0-9 . _ # : / - "
            "and blank, the first no colon",
            in_directive(index, ".Namespace"),
        )
    elif namespace.startswith("AWS/"):
        yield Violation(
            "namespace",
            "Namespace",
            "a namespace starts with AWS/, which AWS keeps to itself",
            in_directive(index, ".Namespace"),
        )
