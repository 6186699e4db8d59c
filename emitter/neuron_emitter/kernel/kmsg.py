"""
Read kernel messages from /dev/kmsg or a file of the same format, and choose between the two.

A read returns one record, the oldest available one first. If the kernel has overwritten the next
record, the read fails with EPIPE, and the numbers show how many were lost. The kernel guarantees
the format: https://www.kernel.org/doc/Documentation/ABI/testing/dev-kmsg

    4,2107,93811203,-;neuron: NEURON_HW_ERR=DMA_ERROR nd-id=0
     SUBSYSTEM=pci
     DEVICE=+pci:0000:00:1e.0

A line break inside a text is escaped, so a record in a file is a line, and lines that begin with a
blank belong to the record before them.
"""

from __future__ import annotations

import os
import re
import select
import time
from dataclasses import dataclass
from errno import EPIPE
from os import O_CLOEXEC, O_NONBLOCK, O_RDONLY
from pathlib import Path
from typing import TYPE_CHECKING, Final

from neuron_emitter.errors import EmitterError
from neuron_emitter.instance.machine import BOOT_ID_FILE, INPUTS_OF_THIS_MACHINE, read_text
from neuron_emitter.settings.run_settings import AUTO, FILE_PREFIX, NONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuron_emitter.logs import Clock

KMSG_DEVICE: Final = "dev/kmsg"  # relative to the root of the file system
RECORDS_A_READ: Final = 1000
# At most 18 digits: a larger number could be stored but not read again.
_KMSG_HEADER: Final = re.compile(rb"[0-9]{1,10},([0-9]{1,18}),([0-9]{1,18})(?:,[^;]*)?;")
_ESCAPE: Final = re.compile(rb"\\x([0-9a-fA-F]{2})")
_BOOT_ID: Final = re.compile(r"[0-9a-f]{32}")
# The mark of a fault; other texts are not read.
HARDWARE_ERROR_MARK: Final = b"NEURON_HW_ERR="
MAX_TEXT_BYTES: Final = 8192  # the kernel's limit for one record


@dataclass(frozen=True, slots=True)
class KernelMessage:
    """
    One message of the kernel log.

    Attributes:
        boot_id: The boot of the kernel that wrote it, 32 hexadecimal digits.

        at_s: Seconds since the Unix epoch, from the kernel's stamp.

        seq: Its number within that boot.

        text: The text of a message with `NEURON_HW_ERR=`; empty for all others.
    """

    boot_id: str
    at_s: float
    seq: int
    text: str = ""


class UnreadableLogError(EmitterError):
    """The kernel log cannot be read: the cause, and what to do."""


def log_opener(
    choice: str, reports: str, root: Path = Path("/")
) -> Callable[[], KernelRing] | None:
    """
    Return a function that opens the log of *choice* or raises UnreadableLogError; None for no log.

    `none` means no log. So does `auto` if the reports come from a file (*reports* is the setting
    `input`), because they may be of another machine. `file:PATH` is a file in the format of
    /dev/kmsg. Every other choice means the device itself.
    """
    if choice == NONE or (choice == AUTO and reports not in INPUTS_OF_THIS_MACHINE):
        return None
    is_file = choice.startswith(FILE_PREFIX)
    path = Path(choice.removeprefix(FILE_PREFIX)) if is_file else root / KMSG_DEVICE
    return lambda: KernelRing(path, boot_id(root))


def boot_id(root: Path) -> str:
    """
    Return the ID of the running kernel's boot, 32 hexadecimal digits.

    Raises:
        UnreadableLogError: If /proc does not have it.
    """
    boot = (read_text(root / BOOT_ID_FILE) or "").replace("-", "").lower()
    if not _BOOT_ID.fullmatch(boot):
        msg = f"/{BOOT_ID_FILE} does not exist. Mount /proc."
        raise UnreadableLogError(msg)
    return boot


class KernelRing:
    """The messages in the ring buffer of the running kernel."""

    def __init__(
        self,
        path: Path,
        boot: str,
        *,
        clock: Clock = time.time,
        since_boot_s: Clock = time.monotonic,
    ) -> None:
        """
        Open *path* without reading it.

        Raises:
            UnreadableLogError: If it may not be opened.
        """
        self.path = path
        self._boot = boot
        self._clock = clock
        self._since_boot_s = since_boot_s
        self._rest = b""
        try:
            self._file = os.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        except OSError as error:
            raise _unreadable(self.path, error) from error
        self._ready = select.poll()
        self._ready.register(self._file, select.POLLIN)

    def read_messages(self, timeout_s: float) -> list[KernelMessage]:
        """
        Return the available messages. The search ends after `RECORDS_A_READ` records or more.

        Raises:
            UnreadableLogError: If the log can no longer be read.
        """
        self._ready.poll(timeout_s * 1000)
        messages: list[KernelMessage] = []
        for _ in range(RECORDS_A_READ):  # also if a file never ends and contains no message
            if len(messages) >= RECORDS_A_READ:
                break
            try:
                # A record that does not fit returns EINVAL each time.
                chunk = os.read(self._file, 1 << 16)
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno == EPIPE:  # overwritten; the next read returns the next record
                    continue
                raise _unreadable(self.path, error) from error
            if not chunk:
                time.sleep(min(0.25, timeout_s))  # a regular file is always ready
                break
            messages += self._records(chunk)
        return messages

    def close(self) -> None:
        """Close the log."""
        os.close(self._file)

    def _records(self, chunk: bytes) -> list[KernelMessage]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > 2 * MAX_TEXT_BYTES:
            self._rest = b""  # no record of the kernel is this long
        return [
            self._message(int(header[1]), int(header[2]), line[header.end() :])
            for line in lines
            # otherwise the line belongs to the record before it
            if (header := _KMSG_HEADER.match(line)) is not None
        ]

    def _message(self, seq: int, since_boot_us: int, text: bytes) -> KernelMessage:
        ago_s = max(0.0, self._since_boot_s() - since_boot_us / 1e6)
        wanted = text[:MAX_TEXT_BYTES] if HARDWARE_ERROR_MARK in text else b""
        return KernelMessage(
            boot_id=self._boot,
            at_s=self._clock() - ago_s,
            seq=seq,
            text=_ESCAPE.sub(lambda escape: bytes([int(escape[1], 16)]), wanted).decode(
                "utf-8", "replace"
            ),
        )


def _unreadable(path: Path, error: OSError) -> UnreadableLogError:
    why = error.strerror or type(error).__name__
    msg = (
        f"Cannot read kernel messages from {path}: {why}. Run with CAP_SYSLOG and "
        "read access to it."
    )
    return UnreadableLogError(msg)
