"""
Would CloudWatch extract this line? Every rule, and which ones a line breaks.

CloudWatch stores a bad line without a word and drops its metrics, so every
line is checked before it leaves. The rules are those of the Embedded Metric
Format specification and, where it is stricter, of the MetricDatum type behind
it; what a namespace may be is in the user guide (all read 2026-11-21):
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDatum.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_concepts.html
"""

from __future__ import annotations

from neuron_wire.extraction.directive import document_violations
from neuron_wire.extraction.document import document_of, text_violations
from neuron_wire.extraction.limits import (
    MAX_DIMENSION_NAME_CHARS,
    MAX_DIMENSION_VALUE_CHARS,
    MAX_LINE_BYTES,
    MAX_METRICS,
    MAX_VALUE,
    UNITS,
)
from neuron_wire.extraction.violation import Violation

__all__ = [
    "MAX_DIMENSION_NAME_CHARS",
    "MAX_DIMENSION_VALUE_CHARS",
    "MAX_LINE_BYTES",
    "MAX_METRICS",
    "MAX_VALUE",
    "UNITS",
    "Violation",
    "document_of",
    "document_violations",
    "text_violations",
    "violations",
]


def violations(line: str, *, now_ms: int | None = None) -> list[Violation]:
    """
    Every rule that *line* breaks; empty when CloudWatch would extract it.

    With *now_ms*, milliseconds since the epoch, its age is checked too.
    """
    document, found = document_of(line)
    if document is None:
        return found
    return list(document_violations(document, now_ms))
