"""
Metrics by request: `python -m benchmarks.others.metric_calls < reports`.

boto3 with its defaults, and one PutMetricData call for each report with all its
metrics: what a script does that sends what neuron-monitor reports.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import boto3

from benchmarks.others.metrics import instance_of, metrics_of

if TYPE_CHECKING:
    from collections.abc import Iterable


class MetricCaller:
    """A client, opened once."""

    def __init__(self) -> None:
        self._client: Any = boto3.client("cloudwatch")

    def emit(self, line: bytes) -> None:
        """Read one report and send its metrics."""
        report = json.loads(line)
        now = datetime.now(timezone.utc)
        dimensions = [{"Name": "InstanceId", "Value": instance_of(report)}]
        self._client.put_metric_data(
            Namespace="Neuron",
            MetricData=[
                {
                    "MetricName": name,
                    "Dimensions": dimensions,
                    "Timestamp": now,
                    "Value": value,
                    "Unit": unit,
                }
                for name, value, unit in metrics_of(report)
            ],
        )


def main(lines: Iterable[bytes]) -> None:
    """Every report until the input ends."""
    caller = MetricCaller()
    for line in lines:
        caller.emit(line)


if __name__ == "__main__":
    main(sys.stdin.buffer)
