"""
What is done to a running emitter from outside, and how to tell that it has met it.

Nothing here kills an emitter: one that ends meanwhile ended by itself, which is
never right.
"""

from __future__ import annotations

import os
import resource
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from proof.emitter_process import wait_until
from proof.kills.life import LIFE, Life

if TYPE_CHECKING:
    from collections.abc import Callable

    from proof.kills.lives import Lives

MET_WITHIN_S = 60.0


def still_lives(life: Life) -> None:
    """Fail if it ended by itself."""
    code = life.process.poll()
    assert code is None, f"it ended by itself, with {code}"


def kill_monitor(life: Life, lives: Lives) -> None:
    """End its monitor as the kernel would, perhaps in the middle of a report."""
    os.kill(_monitor_of(life, lives), signal.SIGKILL)


def hang_monitor(life: Life, lives: Lives) -> None:
    """Stop its monitor, which then neither writes nor ends, until the emitter has ended it."""
    pid = _monitor_of(life, lives)
    os.kill(pid, signal.SIGSTOP)
    _wait(life, lambda: not _is_of(pid, life))


def fill_disk(life: Life, for_s: float) -> None:
    """
    Let no file of the emitter's grow, until it has noticed and for *for_s* more; then let it.

    In the end everything that was in memory is on the disk.
    """
    await_report(life)  # a disk that is full at the start is another story
    pid = life.process.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
    hear(life, "Cannot write the spool directory")
    time.sleep(for_s)
    still_lives(life)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
    hear(life, "is writable again")


def await_report(life: Life) -> None:
    """Wait until it has something to read."""
    _wait(life, life.reports)


def hear(life: Life, words: str, within_s: float = MET_WITHIN_S) -> None:
    """Wait until it has said *words*."""
    _wait(life, lambda: words in life.last_words(), within_s)


def _wait(life: Life, is_so: Callable[[], object], within_s: float = MET_WITHIN_S) -> None:
    wait_until(lambda: is_so() or life.has_ended, within_s)
    still_lives(life)


def _monitor_of(life: Life, lives: Lives) -> int:
    """The monitor that runs now; one that has just died is soon followed by another."""

    def runs() -> bool:
        pid = lives.monitor_pid
        return pid is not None and _is_of(pid, life)

    _wait(life, runs)
    pid = lives.monitor_pid
    assert pid is not None
    return pid


def _is_of(pid: int, life: Life) -> bool:
    try:
        told = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return f"{LIFE}={life.name}".encode() in told and state not in "ZX"
