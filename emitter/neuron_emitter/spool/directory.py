"""
Files next to the database in the spool's directory: the lock, the last state, the quarantine.

The lock is flock, not a pid file: after kill -9 or a power failure no stale lock is left to remove.
The pid in it is only for the message.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from datetime import datetime, timezone
from errno import ENOSPC
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from io import FileIO
from os import O_APPEND, O_CLOEXEC, O_CREAT, O_NOFOLLOW, O_RDWR, O_WRONLY
from typing import TYPE_CHECKING, Final
from zlib import crc32

from neuron_emitter.errors import EXIT_SOURCE_FAILED, EmitterError
from neuron_emitter.spool.spool_records import BOOT_FORM, DeliveredState

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from neuron_emitter.spool.spool_records import SpooledRecord

LOCK_NAME: Final = "lock"

STATE_NAME: Final = "state"
STATE_BYTES: Final = 64 << 10  # reserved: enough for 1,024 cores and 500 devices
_BOOT_NUMBER: Final = "[0-9]{1,16}"
_HEAD: Final = re.compile(
    rf"(({BOOT_FORM.pattern}) ({_BOOT_NUMBER}) ({_BOOT_NUMBER})) ({_BOOT_NUMBER})"
)

QUARANTINE_NAME: Final = "quarantine.jsonl"
OLD_QUARANTINE_NAME: Final = "quarantine.1.jsonl"
MAX_QUARANTINE_BYTES: Final = 1 << 20  # of one file; a longer line gets a file of its own


class SpoolHeldError(EmitterError):
    """Another emitter works in the directory; after it has ended, a restart helps."""

    exit_code = EXIT_SOURCE_FAILED


def open_private(path: Path, flags: int, mode: str) -> FileIO:
    """Open a file that only its owner can read and write; create it if it is missing."""
    return FileIO(os.open(path, flags | O_CREAT | O_CLOEXEC, 0o600), mode)


def holder_of(directory: Path) -> str:
    """Return the process that holds *directory*, without writing; empty if none does."""
    with suppress(OSError), (directory / LOCK_NAME).open("rb") as file:
        try:
            flock(file, LOCK_SH | LOCK_NB)  # released when the file is closed
        except BlockingIOError:
            pid = file.read(32).decode("ascii", "replace").strip()
            return f"process {pid}" if pid.isdigit() else "another process"
    return ""


def hold_directory(directory: Path) -> FileIO:
    """
    Make *directory* and hold it until the file is closed or the process ends.

    The lock file stays: removing it would let two processes lock two files.

    Raises:
        SpoolHeldError:
            If a process holds it, this one included.

        OSError:
            If the directory cannot be written or its file system has no locks.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = open_private(directory / LOCK_NAME, O_RDWR, "r+")
    try:
        flock(file, LOCK_EX | LOCK_NB)
    except OSError as error:
        file.close()
        if not isinstance(error, BlockingIOError):
            raise
        holder = holder_of(directory) or "another process"
        msg = (
            f"Spool directory {directory} is in use by {holder}. Stop that emitter first, "
            "or use another --spool-dir."
        )
        raise SpoolHeldError(msg) from None
    with suppress(OSError):  # a full disk has no room for the pid, and the lock is held anyway
        file.truncate(0)
        file.write(f"{os.getpid()}\n".encode())
    return file


class StateFile:
    """
    The fold's state as of the last delivered record, in a file that a full disk accepts too.

    While the disk refuses, minutes are delivered from memory. The next start would use the state of
    an earlier minute and count again what these minutes have reported. So the state is written
    here, in reserved room, overwritten in place. It is the state of delivered minutes: a minute
    that is lost with the process has reported nothing. If the disk does not accept it, that is not
    an error: the spool has already logged it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_empty = False  # with room for a state

    def reserve(self) -> None:
        """Reserve room for a state, and discard an old one: the database has a newer state."""
        if not self._is_empty:
            with suppress(OSError):
                self._overwrite(b"\n" if self._has_room() else bytes(STATE_BYTES))
                self._is_empty = True

    def write_state(self, delivered: DeliveredState) -> None:
        """Overwrite the state with *delivered*, if there is room for it."""
        head = f"{delivered.boot} {delivered.produced} {len(delivered.state)}"
        checksum = crc32(head.encode() + delivered.state)
        content = f"{head} {checksum}\n".encode() + delivered.state
        if len(content) > STATE_BYTES:
            return
        with suppress(OSError):
            if self._has_room():
                self._is_empty = False
                self._overwrite(content)

    def read_state(self) -> DeliveredState | None:
        """Return the stored state; None if there is none or it is incomplete."""
        with suppress(OSError), self._path.open("rb") as file:
            head, _, rest = file.read(STATE_BYTES).partition(b"\n")
            if fields := _HEAD.fullmatch(head.decode("ascii", "replace")):
                named, boot, produced, length, checksum = fields.groups()
                state = rest[: int(length)]
                if crc32(named.encode() + state) == int(checksum):
                    return DeliveredState(boot, int(produced), state)
        return None

    def _has_room(self) -> bool:
        with suppress(FileNotFoundError):
            return self._path.stat().st_size == STATE_BYTES
        return False

    def _overwrite(self, content: bytes) -> None:
        with open_private(self._path, O_WRONLY | O_NOFOLLOW, "w") as file:
            file.write(content)
            os.fsync(file)


def quarantine_records(
    directory: Path, records: Iterable[SpooledRecord], why: str, now_s: float
) -> None:
    """
    Write *records* to the quarantine for people, with the destination's reason for rejecting them.

    The quarantine is a file of JSON lines; one full earlier file is kept.

    Raises:
        OSError:
            If they cannot be written.
    """
    at = datetime.fromtimestamp(now_s, timezone.utc)
    for record in records:
        entry = {
            "Time": f"{at:%Y-%m-%dT%H:%M:%S}Z",
            "Boot": record.boot,
            "Seq": record.seq,
            "Timestamp": record.timestamp_ms,
            "Why": why,
            "Line": record.line,
        }
        _append_line(directory, f"{json.dumps(entry)}\n".encode())


def _append_line(directory: Path, line: bytes) -> None:
    path = directory / QUARANTINE_NAME
    size = path.stat().st_size if path.exists() else 0
    if size and size + len(line) > MAX_QUARANTINE_BYTES:
        path.replace(directory / OLD_QUARANTINE_NAME)
    with open_private(path, O_WRONLY | O_APPEND, "a") as file:
        if file.write(line) < len(line):
            file.truncate(size)  # an incomplete line would damage the next line too
            raise OSError(ENOSPC, os.strerror(ENOSPC))
