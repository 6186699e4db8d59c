"""What the tests send to a log stream, and where."""

from __future__ import annotations

import time

from emitter.spool.records import SpooledRecord

GROUP = "/neuron-emf/records"
STREAM = "training/i-0123456789abcdef0"
REGION = "eu-north-1"
BOOT = "019aa3c5d2f04f1e2d3c"
HOUR_MS = 3_600_000


def now_ms() -> int:
    """The service's clock is the real one."""
    return int(time.time() * 1000)


def batch_of(*lines, ages_ms=()):
    """Records to put; the first ages_ms are those of the first lines."""
    ages = [*ages_ms, *[0] * (len(lines) - len(ages_ms))]
    return [
        SpooledRecord(i, BOOT, i, now_ms() - age_ms, line)
        for i, (line, age_ms) in enumerate(zip(lines, ages, strict=True), 1)
    ]
