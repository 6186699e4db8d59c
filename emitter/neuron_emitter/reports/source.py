"""
Sources of the bytes of reports.

The loop that reads a source must also close minutes on time, so every read has a timeout.
"""

from __future__ import annotations

import os
import sys
from os import O_CLOEXEC, O_NONBLOCK, O_RDONLY
from selectors import EVENT_READ, BaseSelector, DefaultSelector
from stat import S_ISDIR, S_ISFIFO, S_ISREG, S_ISSOCK
from typing import TYPE_CHECKING, Final, Protocol

from neuron_emitter.errors import SettingsError, SourceError
from neuron_emitter.logs import Event

if TYPE_CHECKING:
    from pathlib import Path

CHUNK_BYTES: Final = 1 << 16  # the capacity of a Linux pipe


class Source(Protocol):
    """
    A stream of bytes.

    Attributes:
        restarts: The number of restarts of the program behind the source.

        name: Its name in messages.

        is_stream: True if its end is a failure: a file ends, but the program that writes to a pipe
            or a socket is expected to continue.
    """

    restarts: int
    name: str
    is_stream: bool

    def read_chunk(self, timeout_s: float) -> bytes | None:
        """Return the next bytes; empty if none came in time, None at the end."""

    def close(self) -> None:
        """Stop the started program and close open files."""


def no_reports(name: str, problem: str) -> SourceError:
    """Return the error for an input *name* without a single report."""
    msg = (
        f"{name} has no neuron-monitor reports: {problem or 'it is empty'}. Use "
        "the output of neuron-monitor, one JSON object per report."
    )
    return SourceError(msg)


def ended_event(name: str, at_s: float) -> Event:
    """Return the event for a stream *name* that ended without a planned stop."""
    return Event("InputEnded", at_s, f"{name} ended")


def standard_input() -> DescriptorSource:
    """
    Return the reports piped into this process.

    Raises:
        SourceError: If standard input is closed.
    """
    if sys.stdin is None:
        msg = "Standard input is closed. Pipe neuron-monitor into it, or use --input FILE."
        raise SourceError(msg)
    return DescriptorSource(sys.stdin.fileno(), "standard input", owned=False)


class DescriptorSource:
    """Standard input, a file or a named pipe."""

    def __init__(self, descriptor: int, name: str, *, owned: bool) -> None:
        self.restarts = 0
        self.name = name
        self._file = open(descriptor, "rb", buffering=0, closefd=owned)  # noqa: SIM115 - of a descriptor, kept open
        self._selector: BaseSelector | None = None
        mode = os.fstat(descriptor).st_mode
        # Other streams: a person ends a terminal on purpose.
        self.is_stream = S_ISFIFO(mode) or S_ISSOCK(mode)
        if not S_ISREG(mode):
            self._selector = DefaultSelector()
            try:
                self._selector.register(descriptor, EVENT_READ)
            except PermissionError:  # /dev/null: like a regular file, it cannot be polled
                self._selector.close()
                self._selector = None

    def read_chunk(self, timeout_s: float) -> bytes | None:
        """Return the next bytes; empty if none came in time, None at the end."""
        if self._selector is not None and not self._selector.select(timeout_s):
            return b""
        try:
            return os.read(self._file.fileno(), CHUNK_BYTES) or None
        except BlockingIOError:
            return b""  # another reader took the bytes
        except ConnectionResetError:
            return None  # a socket whose writer was killed ends like this
        except OSError as error:
            msg = f"Cannot read {self.name}: {error.strerror}."
            raise SourceError(msg) from error

    def close(self) -> None:
        """Close the file that this object opened."""
        if self._selector is not None:
            self._selector.close()
        self._file.close()


def open_file(path: Path) -> DescriptorSource:
    """
    Open a file or named pipe of reports.

    Raises:
        SettingsError: If *path* is missing, a folder, or may not be read.
    """
    try:
        # Non-blocking: a named pipe would block here, without reacting to signals, until a program
        # writes to it.
        descriptor = os.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    except OSError as error:
        msg = f"Cannot read {path}: {error.strerror}. Check the path."
        raise SettingsError(msg) from error
    if S_ISDIR(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        msg = f"{path} is a folder. Use a file in it."
        raise SettingsError(msg)
    return DescriptorSource(descriptor, str(path), owned=True)
