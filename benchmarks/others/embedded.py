"""
The emitter that one writes first: `python -m benchmarks.others.embedded < reports`.

`json.loads` and aws-embedded-metrics, a document for each report with a metric
for each core, to standard output for whatever reads it there. It needs
AWS_EMF_ENVIRONMENT=Local, as a process outside Lambda without an agent has it.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from aws_embedded_metrics.metric_scope import metric_scope

from benchmarks.others.metrics import instance_of, metrics_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def emit(line: bytes) -> None:
    """Read one report and print its document."""
    _document(json.loads(line))


def _in_scope(report: Mapping[str, Any], metrics: Any) -> None:  # noqa: ANN401 it has no types
    metrics.set_namespace("Neuron")
    metrics.set_dimensions({"InstanceId": instance_of(report)})
    for name, value, unit in metrics_of(report):
        metrics.put_metric(name, value, unit)


_document: Any = metric_scope(_in_scope)


def main(lines: Iterable[bytes]) -> None:
    """Every report until the input ends."""
    for line in lines:
        emit(line)


if __name__ == "__main__":
    main(sys.stdin.buffer)
