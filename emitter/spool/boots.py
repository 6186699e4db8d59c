"""The name of an emitter start."""

from __future__ import annotations

import re
import secrets
from typing import Final

BOOT_FORM: Final = re.compile(r"[0-9a-f]{20}")
_BOOT_TIME_DIGITS: Final = 12


def new_boot(now_s: float, latest: str | None) -> str:
    """A name for this emitter start, greater than *latest*."""
    now_ms = int(now_s * 1000)
    if latest is not None:
        # The clock may have been set back; the latest start must stay the greatest name.
        now_ms = max(now_ms, int(latest[:_BOOT_TIME_DIGITS], 16) + 1)
    return f"{now_ms:0{_BOOT_TIME_DIGITS}x}{secrets.token_hex(4)}"
