"""
From nothing to the first rollup on screen: a fresh clone, and `make demo` in it.

What a stranger does who has Python, git and make: `git clone` of this
repository's last commit into a folder of its own, pip without its cache, so
that everything is fetched. The clock runs from the clone to the first row with a
rollup's minute; then everything is stopped as Ctrl-C does. How fast downloads
are is not the code's doing, so the time it took to make the environments is told
beside.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchmarks.figure import Figure
from benchmarks.reports import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LIMIT_S: Final = 180.0
PATIENCE_S: Final = 420.0
ENDS_WITHIN_S: Final = 60.0
WHAT: Final = "from a fresh clone to the first rollup on screen"
_ROLLUP: Final = re.compile(r"\d\d:\d\d, \d+ s ago$")  # the last column of a cluster's row
_BEGUN: Final = "Starting the embedded AWS"  # every environment is there


@dataclass(frozen=True, slots=True)
class Shown:
    """
    When it came, seconds from the beginning.

    Attributes:
        rollup_s: The first rollup; None if it never came.

        ready_s: Every environment, None if they never were.

        last: What was printed last.
    """

    rollup_s: float | None
    ready_s: float | None
    last: str


def rehearsal(folder: Path) -> list[Figure]:
    """The figure, or a row that says why there is none."""
    problem, shown = _attempt(folder)
    if shown is None or shown.rollup_s is None:
        return [Figure(WHAT, None, "s", LIMIT_S, problem)]
    ready = "" if shown.ready_s is None else f"; {shown.ready_s:.0f} s of it for environments"
    beside = f"git clone, make demo, every package fetched anew{ready}"
    return [Figure(WHAT, shown.rollup_s, "s", LIMIT_S, beside)]


def _attempt(folder: Path) -> tuple[str, Shown | None]:
    begun_s = time.monotonic()
    clone = folder / "clone"
    cloned = subprocess.run(
        ["git", "clone", "--quiet", str(ROOT), str(clone)],  # noqa: S607  # whichever git there is
        check=False,
        capture_output=True,
        text=True,
    )
    if cloned.returncode:
        return f"git clone said: {_last(cloned.stderr.splitlines())}", None
    shown = demo(["make", "demo"], clone, begun_s)
    shutil.rmtree(clone, ignore_errors=True)
    if shown.rollup_s is None:
        return (
            f"make demo showed none within {PATIENCE_S:.0f} s; its last words: {shown.last}",
            None,
        )
    return "", shown


def demo(
    command: list[str], folder: Path, begun_s: float, ends_within_s: float = ENDS_WITHIN_S
) -> Shown:
    """Run it until a rollup is on screen, then stop it and all that it started."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PIP_NO_CACHE_DIR": "1", "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    alarm = threading.Timer(PATIENCE_S, _stop, [process, ends_within_s])
    alarm.start()
    try:
        return watched(process.stdout or (), begun_s)
    finally:
        alarm.cancel()
        _stop(process, ends_within_s)
        if process.stdout is not None:
            process.stdout.close()


def watched(lines: Iterable[str], begun_s: float) -> Shown:
    """Read what it prints until a rollup is there."""
    ready_s: float | None = None
    words: deque[str] = deque(maxlen=1)
    for line in lines:
        told = line.rstrip()
        words.extend([told] if told else [])
        if _BEGUN in told and ready_s is None:
            ready_s = time.monotonic() - begun_s
        if _ROLLUP.search(told):
            return Shown(time.monotonic() - begun_s, ready_s, _last(words))
    return Shown(None, ready_s, _last(words))


def _last(words: Iterable[str]) -> str:
    return ([*words] or ["nothing"])[-1][-200:]


def _stop(process: subprocess.Popen[str], within_s: float) -> None:
    """
    Tell everything in its group, as Ctrl-C does; what does not end is killed.

    Not by SIGINT: whoever was started in the background has inherited to ignore it.
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(within_s)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
