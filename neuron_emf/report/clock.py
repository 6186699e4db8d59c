"""The time of day: in one place, so that a test can have its own."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Milliseconds since the Unix epoch."""
    return round(time.time() * 1000)
