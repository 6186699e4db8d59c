"""
Metrics to the embedded AWS: the only PutMetricData in this repository.

On AWS, CloudWatch does this inside and no permission for it exists in the
template. The limits are PutMetricData's own:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from local.embedded_aws import require_loopback

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from local.pump.extraction import Datum

MAX_DATA_PER_CALL: Final = 1_000


def publish(cloudwatch: Any, data: Iterable[Datum]) -> int:  # noqa: ANN401  # a boto3 client
    """
    Put *data*, in as few calls as PutMetricData allows; returns their number.

    Raises:
        EmbeddedAwsError: If the client would send anywhere but to a loopback address.
    """
    require_loopback(cloudwatch.meta.endpoint_url)
    by_namespace: dict[str, list[Datum]] = {}
    for datum in data:
        by_namespace.setdefault(datum.namespace, []).append(datum)
    calls = 0
    for namespace, rows in by_namespace.items():
        for start in range(0, len(rows), MAX_DATA_PER_CALL):
            batch = rows[start : start + MAX_DATA_PER_CALL]
            cloudwatch.put_metric_data(Namespace=namespace, MetricData=_members(batch))
            calls += 1
    return calls


def _members(batch: Sequence[Datum]) -> list[dict[str, Any]]:
    return [
        {
            "MetricName": datum.name,
            "Dimensions": [{"Name": name, "Value": value} for name, value in datum.dimensions],
            "Timestamp": datum.timestamp_ms / 1000,
            "Unit": datum.unit,
            "Values": list(datum.counts),  # an EMF array has at most 100, so it always fits
            "Counts": [float(count) for count in datum.counts.values()],
            "StorageResolution": datum.resolution_s,
        }
        for datum in batch
    ]
