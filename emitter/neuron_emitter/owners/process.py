"""
One process in `/proc`, which may end during any read.

All files are opened relative to one descriptor of the process's folder. The kernel binds it to the
process and not to its number: if the process has ended, the next read fails, even if another
process has the pid by then (proc(5)).

Of the environment only the requested variables are kept, and the command line is never read: both
can contain secrets.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from os import O_CLOEXEC, O_DIRECTORY, O_RDONLY
from typing import TYPE_CHECKING, Final

from neuron_emitter.instance.machine import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MAX_PID: Final = 1 << 22  # PID_MAX_LIMIT of the kernel on 64 bits
# Control groups: about 15 hierarchies with paths of at most 4 KiB.
MAX_STATUS_BYTES: Final = 64 << 10
MAX_ENVIRON_BYTES: Final = 4 << 20  # larger than a usual environment; the rest is not searched
MAX_VALUE_BYTES: Final = 256
MAX_STATISTICS_BYTES: Final = 1 << 20  # of all CPUs and interrupts, before the boot time
_START_FIELD: Final = 19  # starttime, counted from the field after the command name
_TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")


class ProcessGoneError(Exception):
    """The process has ended, or its files are not those of a process."""


class ProcessReader:
    """An open process, from `open_process`."""

    def __init__(self, folder: int) -> None:
        self._folder = folder

    def command_and_start(self) -> tuple[str, float]:
        """
        Return its command name, at most 15 characters, and its start in seconds since the boot.

        Raises:
            ProcessGoneError: If it has ended.
            PermissionError: If it may not be looked at.
        """
        # The command name is in parentheses and may contain any: the last one ends it.
        named, _, rest = self._read("stat", MAX_STATUS_BYTES).rpartition(b")")
        fields = rest.split()
        ticks = _number(fields[_START_FIELD]) if len(fields) > _START_FIELD else None
        if ticks is None:
            msg = "its stat is not a process status"
            raise ProcessGoneError(msg)
        command = named.partition(b"(")[2].decode("utf-8", errors="replace")
        return command, ticks / _TICKS_A_SECOND

    def user_id(self) -> int | None:
        """
        Return the real user ID.

        Raises:
            ProcessGoneError: If it has ended.
            PermissionError: If it may not be looked at.
        """
        for line in self._read("status", MAX_STATUS_BYTES).split(b"\n"):
            if line.startswith(b"Uid:"):
                return _number(next(iter(line[4:].split()), b""))
        return None

    def control_groups(self) -> list[tuple[str, str]]:
        """
        Return controllers and path of each hierarchy, as in cgroups(7).

        Raises:
            ProcessGoneError: If it has ended.
            PermissionError: If it may not be looked at.
        """
        text = self._read("cgroup", MAX_STATUS_BYTES).decode("utf-8", errors="replace")
        lines = (line.split(":", 2) for line in text.split("\n"))
        return [
            (parts[1], parts[2].removesuffix(" (deleted)"))
            for parts in lines
            if len(parts) == 3 and parts[2].startswith("/")
        ]

    def variables(self, *names: str) -> Mapping[str, str]:
        """
        Return those of *names* that its environment had at its start.

        Raises:
            ProcessGoneError: If it has ended.
            PermissionError: If its environment may not be read.
        """
        wanted = tuple(f"{name}=".encode() for name in names)
        values: dict[str, str] = {}
        for entry in self._read("environ", MAX_ENVIRON_BYTES).split(b"\0"):
            if entry.startswith(wanted) and len(entry) <= MAX_VALUE_BYTES:
                name, _, value = entry.decode("utf-8", errors="replace").partition("=")
                values.setdefault(name, value)
        return values

    def _read(self, name: str, max_bytes: int) -> bytes:
        """Return at most *max_bytes* of a file, without an entry that this limit cuts."""
        try:
            content = read_bytes(name, max_bytes, folder=self._folder)
        except PermissionError:
            raise
        except OSError as error:  # ENOENT before the file was opened, ESRCH after
            raise ProcessGoneError(error.strerror) from error
        if len(content) < max_bytes:
            return content
        return content[: max(content.rfind(b"\n"), content.rfind(b"\0")) + 1]


@contextmanager
def open_process(proc: Path, pid: int) -> Iterator[ProcessReader]:
    """
    Open the process *pid* in *proc*, and close it at the end.

    Raises:
        ProcessGoneError: If there is none.
        PermissionError: If it may not be looked at.
    """
    if not 0 < pid <= MAX_PID:
        msg = "not a process ID"
        raise ProcessGoneError(msg)
    flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
    try:
        folder = os.open(proc / str(pid), flags)
    except PermissionError:
        raise
    except OSError as error:
        raise ProcessGoneError(error.strerror) from error
    try:
        yield ProcessReader(folder)
    finally:
        os.close(folder)


def boot_time_s(proc: Path) -> int | None:
    """Return when the machine of *proc* booted, in seconds since the Unix epoch, if it is known."""
    with suppress(OSError):
        for line in read_bytes(proc / "stat", MAX_STATISTICS_BYTES).split(b"\n"):
            if line.startswith(b"btime "):
                return _number(line[6:].strip())
    return None


def _number(digits: bytes) -> int | None:
    return int(digits) if digits.isdigit() and len(digits) <= 20 else None  # at most 64 bits
