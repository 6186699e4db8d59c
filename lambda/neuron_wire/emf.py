"""
Build a line that CloudWatch extracts, or fail where it is made.

What CloudWatch would refuse it refuses without a word; the rules are those of
`neuron_wire.extraction`, checked on the document, which is encoded once.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from neuron_wire.errors import NOT_EXTRACTABLE, WireFormatError
from neuron_wire.extraction import (
    MAX_LINE_BYTES,
    MAX_VALUE,
    UNITS,
    Violation,
    document_violations,
    text_violations,
    violations,
)
from neuron_wire.line import arranged, compact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "MAX_LINE_BYTES",
    "MAX_VALUE",
    "UNITS",
    "Violation",
    "emf_line",
    "sendable_line",
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
    return sendable_line(
        {
            "_aws": {"Timestamp": timestamp_ms, "CloudWatchMetrics": [directive]},
            **properties,
            **metrics,
        }
    )


def sendable_line(document: Mapping[str, object]) -> str:
    """
    Encode *document*, if CloudWatch stores the line and extracts every metric it defines.

    Raises:
        WireFormatError: If it would not; the message names the first rule that is broken.
    """
    members = arranged(document)
    line = compact(members)
    metrics = document_violations(members) if "_aws" in members else ()
    for violation in chain(text_violations(line), metrics):
        raise WireFormatError(NOT_EXTRACTABLE, violation.sentence)
    return line
