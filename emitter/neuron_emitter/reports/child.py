"""
Run a program as a child process: read its output, and stop it with everything it started.

The child leads its own session, so that the programs it starts can be stopped with it. Linux kills
it when the thread that started it dies, also by kill -9: start and read it in a thread that lives
as long as the process. That survives `exec`, but does not cover a program that a wrapper script
starts next to itself; such a program ends at its next write to the pipe, which has no reader any
more.
"""

from __future__ import annotations

import ctypes
import os
import re
from contextlib import suppress
from errno import EAGAIN
from selectors import EVENT_READ, DefaultSelector
from signal import SIGKILL, SIGTERM, Signals
from subprocess import DEVNULL, PIPE, SubprocessError, TimeoutExpired
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_emitter.children import start_child
from neuron_emitter.reports.source import CHUNK_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from neuron_emitter.reports.groups import Text

CHILD_STOP_TIMEOUT_S: Final = 2.0
END_WITHIN_S: Final = 0.25  # from the end of its output to its exit
_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h


class End(NamedTuple):
    """
    How a child ended.

    Attributes:
        code: Its exit code; negative, the number of the signal that ended it.

        was_stopped: True if it still ran and the emitter stopped it.
    """

    code: int
    was_stopped: bool

    @property
    def signal_name(self) -> Text:
        """Return the signal's name, such as `SIGKILL`; None if the child exited."""
        try:
            return Signals(-self.code).name if self.code < 0 else None
        except ValueError:
            return f"signal {-self.code}"  # a real-time signal


class Child:
    """
    A running program.

    Attributes:
        pid: The program's pid, also the ID of its session and group.

        error_tail: The end of its standard error.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """
        Start *command*.

        Raises:
            OSError: If it cannot be started.
        """
        self.error_tail = ErrorTail()
        self._selector = DefaultSelector()  # first, so that no child exists without a reader
        try:
            self._process = start_child(
                command,
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for us; we stop the child as planned
                preexec_fn=_die_with_parent(),  # one call, resolved before the fork
            )
        except SubprocessError as error:
            raise OSError(EAGAIN, "its process could not be set up") from error
        self.pid = self._process.pid
        pipes = (self._process.stdout, self._process.stderr)
        self._streams = [stream for stream in pipes if stream is not None]
        for stream in self._streams:
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, EVENT_READ)
        self._output, self._errors = (stream.fileno() for stream in self._streams)

    def read_chunk(self, timeout_s: float) -> bytes | None:
        """Return the next bytes of its output; empty if none came in time, None at its end."""
        for key, _ in self._selector.select(timeout_s):
            try:
                chunk = os.read(key.fd, CHUNK_BYTES)
            except BlockingIOError:
                continue
            if key.fd == self._output:
                return chunk or None
            self.error_tail.add_output(chunk)
            if not chunk:
                self._selector.unregister(key.fileobj)
        return b""

    def stop(self, end_within_s: float = 0.0) -> End:
        """Wait *end_within_s* for its exit, then send SIGTERM, then SIGKILL to its group."""
        process = self._process
        was_stopped = False
        try:
            process.wait(end_within_s)
        except TimeoutExpired:
            was_stopped = True
            self._signal_group(SIGTERM)
            with suppress(TimeoutExpired):
                process.wait(CHILD_STOP_TIMEOUT_S)
        # Also after the child has ended: a wrapper script exits on SIGTERM although the program it
        # started may not.
        self._signal_group(SIGKILL)
        code = process.wait()
        self._let_go()
        return End(code, was_stopped)

    def _let_go(self) -> None:
        with suppress(BlockingIOError):  # output written while it was being stopped
            # A pipe holds at most one chunk; a program outside the group may never stop writing.
            if self._errors in self._selector.get_map():
                self.error_tail.add_output(os.read(self._errors, CHUNK_BYTES))
        self._selector.close()
        for stream in self._streams:
            stream.close()

    def _signal_group(self, number: Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            self._process.send_signal(number)  # does nothing if it was already waited for


def _die_with_parent() -> Callable[[], None]:
    """Return a function that makes the child request SIGKILL for the time when we die."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl  # resolved before the fork
    parent = os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, SIGKILL)
        if os.getppid() != parent:  # the parent died before the request
            os._exit(1)

    return ask


TAIL_BYTES: Final = 2048
MAX_STDERR_CHARS: Final = 600
LINE_MARK: Final = " | "

_TERMINAL_ESCAPES: Final = re.compile(
    r"[\x1b\x9b](?:"
    # titles, links and other strings for a terminal
    r"[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\[?[0-?]*[ -/]*[@-~]?"  # colors, cursor movements and other sequences
    r")"
)


class ErrorTail:
    """The newest bytes of a stream, at most `TAIL_BYTES`."""

    def __init__(self) -> None:
        self._tail = b""
        self._is_cut = False

    def add_output(self, chunk: bytes) -> None:
        """Add the next bytes."""
        tail = self._tail + chunk
        self._is_cut = self._is_cut or len(tail) > TAIL_BYTES
        self._tail = tail[-TAIL_BYTES:]

    def text(self, max_chars: int = MAX_STDERR_CHARS) -> str:
        """Return the last lines, joined by a bar: printable, at most *max_chars* long."""
        lines = _printable_lines(self._tail)
        if self._is_cut and len(lines) > 1:
            lines = lines[1:]  # it begins in the middle
        return LINE_MARK.join(lines)[-max_chars:].strip()

    def last_line(self, max_chars: int = 200) -> str:
        """Return the last line that is not blank."""
        lines = _printable_lines(self._tail)
        return lines[-1][:max_chars] if lines else ""


def _printable_lines(tail: bytes) -> list[str]:
    text = _TERMINAL_ESCAPES.sub("", tail.decode("utf-8", "replace"))
    lines = []
    for line in re.split(r"[\r\n]+", text):
        shown = "".join(char if char.isprintable() else " " for char in line)
        if shown := " ".join(shown.split()):
            lines.append(shown)
    return lines
