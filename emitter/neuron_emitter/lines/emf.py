"""
Turn a draft into an EMF line: aws-embedded-metrics defines the metrics, and this module encodes.

Only this module uses that library. Its MetricsContext defines and checks the metrics. Its
serializer is not used: it accepts NaN, booleans, name collisions and oversize, and its output would
have to be checked and encoded again. Its environment detection and sinks are not used either: a
daemon needs no instance metadata probe, and no sink of the library keeps a record. They need
aiohttp, which the package's `__init__` loads: 11 MiB more with `--output logs`, 13 with `--output
stdout`. Lines without metrics do not load the library.
"""

from __future__ import annotations

import importlib.util
import sys
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from neuron_emitter.lines.drafts import STANDARD_S, Draft
from neuron_wire.extraction import MAX_METRICS_IN_DIRECTIVE
from neuron_wire.line import sendable_line
from neuron_wire.line_members import NOT_EXTRACTABLE, WireFormatError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PACKAGE: Final = "aws_embedded_metrics"


def line_of(draft: Draft, namespace: str) -> str:
    """
    Return the line of *draft*, with its metrics in *namespace*.

    Raises:
        WireFormatError: If CloudWatch would not extract it.
    """
    contexts = [
        _context(draft, units, sets, namespace) for units, sets in draft.directives if units
    ]
    if not contexts:
        # Without a metric it is not an EMF document: CloudWatch does not have to parse it.
        return sendable_line({"Timestamp": draft.timestamp_ms, **draft.members})
    values = {
        name: metric.values if len(metric.values) > 1 else metric.values[0]
        for context in contexts
        for name, metric in context.metrics.items()
    }
    metadata = {
        **contexts[0].meta,
        "CloudWatchMetrics": [
            directive
            for context in contexts
            for directive in _directives(context, draft.resolution_s)
        ],
    }
    return sendable_line({"_aws": metadata, **draft.members, **values})


_Library = tuple[Any, Any, tuple[type[Exception], ...]]


@cache
def load_library() -> _Library:
    """
    Load the part of the library that defines metrics, without `aws_embedded_metrics/__init__.py`.

    The import of the whole package needs 48 MiB for an emitter that writes to standard output;
    the limit is 45. If a release needs its `__init__`, the whole package is loaded.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is not None and _PACKAGE not in sys.modules:
        # its folder, without running its code
        sys.modules[_PACKAGE] = importlib.util.module_from_spec(spec)
        with suppress(ImportError, AttributeError):
            try:
                return _library()
            finally:
                del sys.modules[_PACKAGE]  # the next import loads the whole package
    return _library()


def _library() -> _Library:
    from aws_embedded_metrics import exceptions  # noqa: PLC0415 - `load_library` saves 48 MiB
    from aws_embedded_metrics.logger.metrics_context import MetricsContext  # noqa: PLC0415 - as above
    from aws_embedded_metrics.storage_resolution import StorageResolution  # noqa: PLC0415 - as above

    refusals = (
        exceptions.DimensionSetExceededError,
        exceptions.InvalidDimensionError,
        exceptions.InvalidMetricError,
        OverflowError,  # a count that no float can hold
    )
    return MetricsContext, StorageResolution, refusals


def _context(
    draft: Draft, units: Mapping[str, str], sets: Sequence[Sequence[str]], namespace: str
) -> Any:  # noqa: ANN401 - the library's MetricsContext
    new_context, resolution_of, refusals = load_library()
    context = new_context(namespace=namespace)
    # Not by set_timestamp: it rejects times older than two weeks, which replay accepts. The age of
    # a record is checked when it is sent.
    context.meta["Timestamp"] = draft.timestamp_ms
    resolution = resolution_of(draft.resolution_s)
    try:
        context.set_dimensions([{name: draft.members[name] for name in names} for names in sets])
        for name, unit in units.items():
            value = draft.members[name]
            for number in value if isinstance(value, list) else [value]:
                context.put_metric(name, number, unit, resolution)
    except refusals as error:
        msg = f"the library refuses the document: {type(error).__name__}"
        raise WireFormatError(NOT_EXTRACTABLE, msg) from error
    return context


def _directives(context: Any, resolution_s: int) -> list[dict[str, Any]]:  # noqa: ANN401 - as above
    """Return the directives of *context* for `_aws`, as the library's serializer writes them."""
    resolution = {} if resolution_s == STANDARD_S else {"StorageResolution": resolution_s}
    metrics = [
        {"Name": name, "Unit": metric.unit, **resolution}
        for name, metric in context.metrics.items()
    ]
    dimensions = [list(names) for names in context.get_dimensions()]
    return [
        {
            "Dimensions": dimensions,
            "Metrics": metrics[start : start + MAX_METRICS_IN_DIRECTIVE],
            "Namespace": context.namespace,
        }
        for start in range(0, len(metrics), MAX_METRICS_IN_DIRECTIVE)
    ]
