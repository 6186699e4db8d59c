"""
An emitter with leaks, so that the soak can be seen to find them.

It is `clocked.py` with its arguments, but for each closed minute four KiB stay,
and for each hour a descriptor.
"""

from __future__ import annotations

import os
import runpy
from typing import Any

from proof import clocked

LEAKED_BYTES = 4096
MINUTES_AN_HOUR = 60

_run_module = runpy.run_module
_left: list[bytes] = []


def _run_with_leaks(*arguments: Any, **options: Any) -> dict[str, Any]:
    from emitter.run.loop import Emitter  # noqa: PLC0415 - after the clock

    close_minute = Emitter._close_minute

    def leave_something(self: Emitter, *, bye: bool) -> None:
        _left.append(os.urandom(LEAKED_BYTES))
        if len(_left) % MINUTES_AN_HOUR == 0:
            os.dup(0)
        close_minute(self, bye=bye)

    Emitter._close_minute = leave_something  # type: ignore[method-assign]
    return _run_module(*arguments, **options)


if __name__ == "__main__":
    runpy.run_module = _run_with_leaks
    clocked.main()
