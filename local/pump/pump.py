"""
Log groups to metrics, once per call; here is the only PutMetricData in this repository.

Counts the lines that CloudWatch would refuse. On AWS, CloudWatch does this inside
and no permission for it exists in the template. The limits are PutMetricData's own:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from local.embedded_aws.clients import require_loopback
from local.pump.extraction import extract
from local.pump.tail import LogEvent, LogTail

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from local.pump.extraction import Datum


MAX_DATA_PER_CALL: Final = 1_000


@dataclass(slots=True)
class Counts:
    """
    What the pump has seen since it started.

    Attributes:
        refused: EMF lines of which CloudWatch would extract nothing.

        rules: How often each rule was broken.
    """

    emf_lines: int = 0
    refused: int = 0
    rules: Counter[str] = field(default_factory=Counter)


class EmfPump:
    """Stands where CloudWatch's own extraction stands on AWS."""

    def __init__(self, logs: Any, cloudwatch: Any, groups: Sequence[str], since_ms: int) -> None:  # noqa: ANN401  # boto3 clients
        """
        Read *groups* from *since_ms* on, milliseconds since the epoch.

        Raises:
            EmbeddedAwsError: If a client would talk to anything but a loopback address.
        """
        for used in (logs, cloudwatch):
            require_loopback(used.meta.endpoint_url)
        self._cloudwatch = cloudwatch
        self._tails = [LogTail(logs, group, since_ms) for group in groups]
        self.counts = Counts()

    def turn(self) -> dict[str, list[LogEvent]]:
        """Extract what is new; returns the new events by log group."""
        now_ms = time.time_ns() // 1_000_000
        data: list[Datum] = []
        new: dict[str, list[LogEvent]] = {}
        for tail in self._tails:
            new[tail.group] = tail.new_events()
            for event in new[tail.group]:
                extraction = extract(event.message, now_ms)
                self.counts.emf_lines += bool(extraction.data or extraction.refused)
                self.counts.refused += bool(extraction.refused)
                self.counts.rules.update(extraction.refused)
                data.extend(extraction.data)
        publish(self._cloudwatch, data)
        return new


def publish(cloudwatch: Any, data: Iterable[Datum]) -> None:  # noqa: ANN401  # a boto3 client
    """
    Put *data*, in as few calls as PutMetricData allows.

    Raises:
        EmbeddedAwsError: If the client would send anywhere but to a loopback address.
    """
    require_loopback(cloudwatch.meta.endpoint_url)
    by_namespace: dict[str, list[Datum]] = {}
    for datum in data:
        by_namespace.setdefault(datum.namespace, []).append(datum)
    for namespace, rows in by_namespace.items():
        for start in range(0, len(rows), MAX_DATA_PER_CALL):
            batch = rows[start : start + MAX_DATA_PER_CALL]
            cloudwatch.put_metric_data(Namespace=namespace, MetricData=_members(batch))


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
