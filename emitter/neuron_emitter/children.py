"""
Processes that the emitter starts, and orphans that it inherits as the first process of a container.

An orphan stays in the process table until its new parent waits for it. The emitter does not wait
for its own children here: the code that started them needs their exit code. From waitid(2) and
pid_namespaces(7).
"""

from __future__ import annotations

import os
from contextlib import suppress
from subprocess import Popen
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Sequence

FIRST_PROCESS: Final = 1

_starting: Final = Lock()
_started: Final[WeakSet[Popen[bytes]]] = WeakSet()


def start_child(command: Sequence[str], **options: Any) -> Popen[bytes]:  # noqa: ANN401 - as Popen has them
    """
    Start *command* with the *options* of `subprocess.Popen`.

    Raises:
        OSError: If it cannot be started.
        SubprocessError: If its process cannot be set up.
    """
    with _starting:
        process = Popen(command, **options)  # noqa: S603 - the caller names the command
        _started.add(process)
    return process


def reap_orphans() -> None:
    """Wait for orphans that have ended, and return at once."""
    if not _starting.acquire(blocking=False):
        return  # a child that is starting is not registered yet
    try:
        own = {process.pid for process in _started if process.returncode is None}
        with suppress(ChildProcessError):  # this process has no child
            while (ended := _ended_child()) is not None and ended not in own:
                os.waitpid(ended, os.WNOHANG)
    finally:
        _starting.release()


def _ended_child() -> int | None:
    """Return the process ID of a child that has ended, without waiting for it."""
    ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return None if ended is None else ended.si_pid
