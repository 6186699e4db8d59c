"""Minute lines that a test makes, one value at a time."""

from __future__ import annotations

from neuron_wire import MinuteRecord, encode

START_MS = 1_763_625_600_000  # 2025-11-20T08:00:00Z


def record(**changes):
    """Four cores of one instance, two of them busy, a whole minute."""
    values = {
        "cluster": "research",
        "instance_id": "i-0",
        "boot": "b1",
        "seq": 1,
        "minute_ms": START_MS,
        "covered_seconds": 60.0,
        "reports": 4,
        "core_state": "bbau",
        "utilization_percent": (80.0, 40.0, 0.0, 0.0),
        "idle_minutes": (0, 0, 20, 30),
        "instance_type": "trn1.32xlarge",
    }
    return MinuteRecord(**{**values, **changes})


def line(**changes):
    """The line of `record`."""
    made = record(**changes)
    return encode({"Timestamp": made.minute_ms, **made.members()})
