"""
neuron-monitor as a supervised child.

No failure of it stops the emitter: it is started again with growing, jittered
waits, and a monitor that falls silent counts as dead. It never outlives us.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emitter.backoff import Backoff
from emitter.errors import SourceError
from emitter.repeats import Repeats
from emitter.reports.source import CHUNK_BYTES

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

PACKAGE_PATH: Final = "/opt/aws/neuron/bin"  # where aws-neuronx-tools puts it
SHORTEST_WAIT_S: Final = 1.0
LONGEST_WAIT_S: Final = 60.0
SILENT_PERIODS: Final = 3
SILENT_AT_LEAST_S: Final = 30.0
STOP_WITHIN_S: Final = 2.0
STDERR_TAIL_BYTES: Final = 2048
RESTART_LOG_INTERVAL_S: Final = 10.0
_PR_SET_PDEATHSIG: Final = 1

_log = logging.getLogger(__name__)


def find_monitor(command: str) -> str:
    """
    The path of *command*.

    Raises:
        SourceError: If it is neither on PATH nor where its package puts it.
    """
    path = shutil.which(command) or shutil.which(command, path=PACKAGE_PATH)
    if path is None:
        msg = (
            f"{command} was expected on PATH or in {PACKAGE_PATH} and was not found: install the "
            "package aws-neuronx-tools, or name it with --monitor-command"
        )
        raise SourceError(msg)
    return path


class Monitor:
    """
    A `Source` that is the standard output of a child which is kept alive.

    Attributes:
        restarts: Times it was started again.

        name: For messages.
    """

    def __init__(
        self,
        command: str,
        config: str,
        period_s: float,
        *,
        rng: random.Random | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.restarts = 0
        self.name = command
        self._path = find_monitor(command)
        self._silent_after_s = max(SILENT_AT_LEAST_S, SILENT_PERIODS * period_s)
        self._clock = clock
        self._backoff = Backoff(SHORTEST_WAIT_S, LONGEST_WAIT_S, rng)
        self._restart_log = Repeats(RESTART_LOG_INTERVAL_S, clock)
        self._child: subprocess.Popen[bytes] | None = None
        self._selector = selectors.DefaultSelector()
        self._folder = tempfile.TemporaryDirectory(prefix="neuron-emf-")
        self._config = Path(self._folder.name) / "monitor.json"
        self._config.write_text(config, encoding="utf-8")
        self._stderr_tail = b""
        self._started_at = self._heard_at = clock()
        self._start_at = clock()  # when the next child is due
        self._was_started = False

    def read(self, timeout_s: float) -> bytes | None:
        """
        The next bytes of the child; empty when none came in time. It never ends.
        """
        if self._child is None:
            wait_s = self._start_at - self._clock()
            if wait_s > 0:
                time.sleep(min(wait_s, timeout_s))
                return b""
            self._start()
            if self.restarts:
                return b"\n"  # the last child may have died in the middle of a line
        return self._read_child(timeout_s)

    def close(self) -> None:
        """
        Stop the child: ask, wait, insist.
        """
        self._stop()
        self._selector.close()
        self._folder.cleanup()

    def _start(self) -> None:
        if self._was_started:
            self.restarts += 1
        self._was_started = True
        self._started_at = self._heard_at = self._clock()
        self._stderr_tail = b""
        try:
            child = subprocess.Popen(  # noqa: S603 - the operator names the command
                [self._path, "-c", str(self._config)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # a Ctrl-C is for us; we stop the child in order
                preexec_fn=_die_with_parent(),  # noqa: PLW1509 - one system call, looked up before
            )
        except OSError as error:
            self._again(f"could not be started: {error.strerror}")
            return
        self._child = child
        for stream in (child.stdout, child.stderr):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ)

    def _read_child(self, timeout_s: float) -> bytes:
        child = self._child
        if child is None or child.stdout is None or child.stderr is None:
            return b""
        for key, _ in self._selector.select(timeout_s):
            chunk = os.read(key.fd, CHUNK_BYTES)
            if key.fd == child.stderr.fileno():
                self._hear_stderr(chunk)
            elif chunk:
                self._heard_at = self._clock()
                if self._heard_at - self._started_at > LONGEST_WAIT_S:
                    self._backoff.reset()
                return chunk
            else:
                self._ended()
                return b""
        silent_s = self._clock() - self._heard_at
        if silent_s >= self._silent_after_s:
            self._stop()
            self._again(f"wrote nothing for {silent_s:.0f} s and was stopped")
        return b""

    def _hear_stderr(self, chunk: bytes) -> None:
        child = self._child
        if not chunk and child is not None and child.stderr is not None:
            self._selector.unregister(child.stderr)
        self._stderr_tail = (self._stderr_tail + chunk)[-STDERR_TAIL_BYTES:]

    def _ended(self) -> None:
        """
        The child closed its output: whatever it still does is of no use.
        """
        ran_s = self._clock() - self._started_at
        code = self._stop()
        self._again(f"ended with code {code} after {ran_s:.0f} s")

    def _again(self, what: str) -> None:
        wait_s = self._backoff.next_s()
        self._start_at = self._clock() + wait_s
        times = self._restart_log.due("restart")
        if not times:
            return
        last_words = self._stderr_tail.decode("utf-8", "replace").strip().splitlines()[-1:]
        _log.warning(
            "%s %s%s; starting it again in %.1f s%s",
            self.name,
            what,
            f" ({times} times since this was last said)" if times > 1 else "",
            wait_s,
            f"; it said: {last_words[0][:200]}" if last_words else "",
        )

    def _stop(self) -> int | None:
        child = self._child
        if child is None:
            return None
        self._child = None
        _signal_group(child, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(STOP_WITHIN_S)
        # Also after the child has ended: a wrapper script leaves on SIGTERM
        # while the program it started may not.
        _signal_group(child, signal.SIGKILL)
        child.wait()
        for stream in (child.stdout, child.stderr):
            if stream is None:
                continue
            if stream is child.stderr and stream in self._selector.get_map():
                self._hear_rest(stream.fileno())
            if stream in self._selector.get_map():
                self._selector.unregister(stream)
            stream.close()
        return child.returncode

    def _hear_rest(self, descriptor: int) -> None:
        with contextlib.suppress(BlockingIOError):
            self._stderr_tail = (self._stderr_tail + os.read(descriptor, CHUNK_BYTES))[
                -STDERR_TAIL_BYTES:
            ]


def _signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """
    Signal the child and what it started; it leads a session of its own.
    """
    try:
        os.killpg(child.pid, number)
    except (ProcessLookupError, PermissionError):
        child.send_signal(number)  # does nothing when the child was waited for


def _die_with_parent() -> Callable[[], None] | None:
    """
    What the child does first: ask Linux for SIGKILL when we die, even by kill -9.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl  # looked up before the fork
    parent = os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before we asked
            os._exit(1)

    return ask
