"""
Build a line that CloudWatch extracts, or fail where it is made.

What CloudWatch would refuse it refuses without a word; the rules are those of
`neuron_wire.extraction`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuron_wire.errors import NOT_EXTRACTABLE, WireFormatError
from neuron_wire.extraction import MAX_LINE_BYTES, MAX_VALUE, UNITS, Violation, violations
from neuron_wire.line import encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "MAX_LINE_BYTES",
    "MAX_VALUE",
    "UNITS",
    "Violation",
    "emf_line",
    "require_extractable",
    "violations",
]


def emf_line(
    namespace: str,
    *,
    dimension_sets: Sequence[Sequence[str]],
    metrics: Mapping[str, object],
    units: Mapping[str, str],
    properties: Mapping[str, object],
    timestamp_ms: int,
) -> str:
    """
    Build one line that CloudWatch extracts, or fail.

    *metrics* maps names to a number or at most 100 numbers, *units* names to
    CloudWatch units; every dimension is a text among *properties*.

    Raises:
        WireFormatError: If the line would not be extracted; the message names
            the first rule it breaks.
    """
    collisions = sorted(metrics.keys() & properties.keys())
    if collisions:
        raise WireFormatError(NOT_EXTRACTABLE, f"{collisions[0]} is both a metric and a property")
    directive = {
        "Namespace": namespace,
        "Dimensions": [list(keys) for keys in dimension_sets],
        "Metrics": [{"Name": name, "Unit": units[name]} for name in metrics],
    }
    line = encode(
        {
            "_aws": {"Timestamp": timestamp_ms, "CloudWatchMetrics": [directive]},
            **properties,
            **metrics,
        }
    )
    require_extractable(line)
    return line


def require_extractable(line: str) -> None:
    """
    Let *line* pass only if CloudWatch extracts it.

    Raises:
        WireFormatError: If CloudWatch would not extract every metric of *line*.
    """
    found = violations(line)
    if found:
        raise WireFormatError(NOT_EXTRACTABLE, found[0].sentence)
