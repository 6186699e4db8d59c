"""
One record as EMF lines, built with aws-embedded-metrics and checked by us.

The only module that knows that library. It defines the metrics and lays the
document out; it lets NaN, booleans, name collisions and oversize pass, so what
it serialises is written again compactly and must satisfy `neuron_wire.emf`.
Its automatic environment detection and its sinks are not used: an instance
metadata probe has no place in a daemon, and no sink of it keeps a record.
Lines without metrics do not need it and do not load it: it takes 8 MiB.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from neuron_wire import names
from neuron_wire.catalogue import MINUTE
from neuron_wire.cores import utilization_members
from neuron_wire.emf import require_extractable
from neuron_wire.errors import NOT_EXTRACTABLE, WireFormatError
from neuron_wire.line import encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from neuron_wire.minute import MinuteRecord


def lines(record: MinuteRecord, tier: str) -> list[str]:
    """
    The lines of one minute: the minute line, then one per 100 further cores.

    *tier* is `none`, for lines that define no metric, or `cluster`.

    The n-th of them has the sequence number `record.seq + n`, from 0.

    Raises:
        neuron_wire.WireFormatError: If CloudWatch would not extract a line.
    """
    return [_line(members, record, tier) for members in (record.members(), *_more(record, tier))]


def _more(record: MinuteRecord, tier: str) -> Iterator[dict[str, object]]:
    """
    Utilization beyond the 100 values one line may carry as a metric.

    Only CloudWatch's own extraction needs it: the minute line has them all.
    """
    if tier == "none":
        return
    known = tuple(value for value in record.utilization_percent if value is not None)
    starts = range(names.MAX_METRIC_VALUES, len(known), names.MAX_METRIC_VALUES)
    for place, start in enumerate(starts, start=1):
        yield {
            "Schema": names.VERSION,
            "Kind": names.MORE,
            "Boot": record.boot,
            "Seq": record.seq + place,
            "ClusterName": record.cluster,
            "InstanceId": record.instance_id,
            **utilization_members(known[start : start + names.MAX_METRIC_VALUES]),
        }


def _line(members: Mapping[str, object], record: MinuteRecord, tier: str) -> str:
    if tier == "none" or members.keys().isdisjoint(MINUTE):
        # Without a metric it is no EMF document: CloudWatch need not look at it.
        return encode({"Timestamp": record.minute_ms, **members})
    document = _document(members, record)
    line = encode({name: document[name] for name in ("_aws", *members)})
    require_extractable(line)
    return line


def _document(members: Mapping[str, object], record: MinuteRecord) -> dict[str, object]:
    from aws_embedded_metrics import exceptions  # noqa: PLC0415 - loaded with the first metric
    from aws_embedded_metrics.config import get_config  # noqa: PLC0415
    from aws_embedded_metrics.logger.metrics_context import MetricsContext  # noqa: PLC0415
    from aws_embedded_metrics.serializers.log_serializer import LogSerializer  # noqa: PLC0415

    # The library reads AWS_EMF_* variables of its own. One of them, meant for
    # another program of the instance, would take the metrics out of every line.
    get_config().disable_metric_extraction = False
    context = MetricsContext(namespace=names.NAMESPACE)
    # Not by set_timestamp: it refuses times older than two weeks, which replay
    # may be asked for; the age of a record is judged when it is sent.
    context.meta["Timestamp"] = record.minute_ms
    try:
        context.set_dimensions([{names.CLUSTER_DIMENSION: record.cluster}])
        for name, value in members.items():
            if name in MINUTE:
                values: list[Any] = value if isinstance(value, list) else [value]
                for one in values:
                    context.put_metric(name, one, MINUTE[name].unit)
            elif name != names.CLUSTER_DIMENSION:
                context.set_property(name, value)
    except (
        exceptions.DimensionSetExceededError,
        exceptions.InvalidDimensionError,
        exceptions.InvalidMetricError,
        OverflowError,  # of a count that no float can hold
    ) as error:
        msg = f"the library refuses the document: {type(error).__name__}"
        raise WireFormatError(NOT_EXTRACTABLE, msg) from error
    (serialised,) = LogSerializer.serialize(context)
    found: dict[str, object] = json.loads(serialised)
    return found
