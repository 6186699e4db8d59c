"""
One record as EMF lines, built with aws-embedded-metrics and checked by us.

The only module that knows that library. It defines the metrics and lays the
document out; it lets NaN, booleans, name collisions and oversize pass, so what
it serialises is written again compactly and must satisfy `neuron_wire.emf`.
Its automatic environment detection and its sinks are not used: an instance
metadata probe has no place in a daemon, and no sink of it keeps a record.
They alone need aiohttp, which the package's `__init__` would load: 9 MiB beside
boto3, 23 without. Lines without metrics do not load the library at all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from emitter.lines.draft import HIGH_S, Draft
from emitter.lines.submodules import without_init
from neuron_wire.emf import require_extractable
from neuron_wire.errors import NOT_EXTRACTABLE, WireFormatError
from neuron_wire.line import encode

_PACKAGE: Final = "aws_embedded_metrics"


def written(draft: Draft, namespace: str) -> str:
    """
    The line of *draft*, its metrics in *namespace*.

    Raises:
        WireFormatError: If CloudWatch would not extract it.
    """
    if not draft.units:
        # Without a metric it is no EMF document: CloudWatch need not look at it.
        return encode({"Timestamp": draft.timestamp_ms, **draft.members})
    document = _document(draft, namespace)
    line = encode({name: document[name] for name in ("_aws", *draft.members)})
    require_extractable(line)
    return line


@dataclass(frozen=True, slots=True)
class _Library:
    """What we use of aws-embedded-metrics."""

    new_context: Any
    serialize: Any
    resolutions: Any
    refusals: tuple[type[Exception], ...]


@cache
def load_library() -> _Library:
    """Load what defines metrics and lays documents out, and nothing that sends them."""
    try:
        with without_init(_PACKAGE):
            return _library()
    except (ImportError, AttributeError):
        return _library()  # a release whose parts need the whole: heavier, not broken


def _library() -> _Library:
    from aws_embedded_metrics import exceptions  # noqa: PLC0415 - loaded with the first metric
    from aws_embedded_metrics.config import get_config  # noqa: PLC0415
    from aws_embedded_metrics.logger.metrics_context import MetricsContext  # noqa: PLC0415
    from aws_embedded_metrics.serializers.log_serializer import LogSerializer  # noqa: PLC0415
    from aws_embedded_metrics.storage_resolution import StorageResolution  # noqa: PLC0415

    # The library reads AWS_EMF_* variables of its own. One of them, meant for
    # another program of the instance, would take the metrics out of every line.
    get_config().disable_metric_extraction = False
    return _Library(
        new_context=MetricsContext,
        serialize=LogSerializer.serialize,
        resolutions=StorageResolution,
        refusals=(
            exceptions.DimensionSetExceededError,
            exceptions.InvalidDimensionError,
            exceptions.InvalidMetricError,
            OverflowError,  # of a count that no float can hold
        ),
    )


def _document(draft: Draft, namespace: str) -> dict[str, Any]:
    library = load_library()
    context = library.new_context(namespace=namespace)
    # Not by set_timestamp: it refuses times older than two weeks, which replay
    # may be asked for; the age of a record is judged when it is sent.
    context.meta["Timestamp"] = draft.timestamp_ms
    high = draft.resolution_s == HIGH_S
    resolution = library.resolutions.HIGH if high else library.resolutions.STANDARD
    try:
        context.set_dimensions(
            [{name: draft.members[name] for name in one} for one in draft.dimension_sets]
        )
        for name, value in draft.members.items():
            if name in draft.units:
                for one in value if isinstance(value, list) else [value]:
                    context.put_metric(name, one, draft.units[name], resolution)
            else:
                context.set_property(name, value)
    except library.refusals as error:
        msg = f"the library refuses the document: {type(error).__name__}"
        raise WireFormatError(NOT_EXTRACTABLE, msg) from error
    return _joined([json.loads(one) for one in library.serialize(context)])


def _joined(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """
    One document with a directive for each of *documents*.

    The library begins a new document with every 101st metric; one line may
    hold several directives, and a minute is one line.
    """
    first = documents[0]
    for other in documents[1:]:
        first["_aws"]["CloudWatchMetrics"] += other.pop("_aws")["CloudWatchMetrics"]
        first.update(other)
    return first
