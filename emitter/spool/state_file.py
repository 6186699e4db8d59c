"""
The fold's state as of the last delivered record, in a file that a full disk takes too.

While the disk refuses, minutes are delivered from memory. The next start would
take the state of the minute before them, and count again what they have told:
so it stands here, in room that was reserved while there was some, written over
in place. It is that of what was delivered: a minute that is lost with the
process has told nobody anything.
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.spool.records import BOOT_FORM

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

STATE_NAME: Final = "state"
STATE_BYTES: Final = 64 << 10  # reserved: 1,024 cores and 500 devices fit
_FLAGS: Final = os.O_CLOEXEC | os.O_NOFOLLOW
_FIELDS: Final = 4


@dataclass(frozen=True, slots=True)
class DeliveredState:
    """
    A state, and how far the emitter was.

    Attributes:
        boot: Of the emitter start that left it.

        produced: Records that this start had produced.

        state: The fold's.
    """

    boot: str
    produced: int
    state: bytes

    def is_newer(self, produced: Mapping[str, int]) -> bool:
        """Whether a database in which each boot had *produced* so many holds an older state."""
        if self.boot in produced:
            return self.produced > produced[self.boot]
        return self.boot > max(produced, default="")


class StateFile:
    """The file of one directory. A disk that does not take it is no error: it has said so."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / STATE_NAME
        self._is_reserved = False
        self._may_hold = True  # what an earlier start left

    def reserve(self) -> None:
        """Make room for a state, and forget what is there: the database has a newer one."""
        if self._is_reserved and not self._may_hold:
            return
        with suppress(OSError):
            if not self._is_reserved and not self._has_room():
                self._write(bytes(STATE_BYTES))
            elif self._may_hold:
                self._write(b"\n")
            self._is_reserved, self._may_hold = True, False

    def write(self, delivered: DeliveredState) -> None:
        """Keep *delivered* in place of what is there, if there is room for it."""
        head = f"{delivered.boot} {delivered.produced} {len(delivered.state)}"
        checksum = zlib.crc32(head.encode() + delivered.state)
        content = f"{head} {checksum}\n".encode() + delivered.state
        if len(content) > STATE_BYTES:
            return
        with suppress(OSError):
            if self._has_room():
                self._may_hold = True
                self._write(content)

    def read(self) -> DeliveredState | None:
        """What is there; None when that is nothing, or was cut off in the middle."""
        try:
            file = os.open(self._path, os.O_RDONLY | _FLAGS)
            try:
                content = os.pread(file, STATE_BYTES, 0)
            finally:
                os.close(file)
        except OSError:
            return None
        head, _, rest = content.partition(b"\n")
        fields = head.decode("ascii", "replace").split(" ")
        if len(fields) != _FIELDS or not BOOT_FORM.fullmatch(fields[0]):
            return None
        if not all(field.isdecimal() and len(field) <= len(str(1 << 53)) for field in fields[1:]):
            return None
        produced, length, checksum = map(int, fields[1:])
        state = rest[:length]
        is_whole = zlib.crc32(" ".join(fields[:-1]).encode() + state) == checksum
        return DeliveredState(fields[0], produced, state) if is_whole else None

    def _has_room(self) -> bool:
        try:
            return self._path.stat().st_size == STATE_BYTES
        except FileNotFoundError:
            return False

    def _write(self, content: bytes) -> None:
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | _FLAGS, 0o600)
        try:
            os.pwrite(file, content, 0)
            os.fsync(file)
        finally:
            os.close(file)
