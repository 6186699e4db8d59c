"""
Kernel messages out of /dev/kmsg or a file that speaks like it, and which of the two is read.

One record a read, the oldest that is left first; reading on while the kernel
overwrites gives EPIPE, and the numbers say how many were lost. The format is
the kernel's promise:
https://www.kernel.org/doc/Documentation/ABI/testing/dev-kmsg

    4,2107,93811203,-;neuron: NEURON_HW_ERR=DMA_ERROR nd-id=0
     SUBSYSTEM=pci
     DEVICE=+pci:0000:00:1e.0

A line break inside of a text is written as an escape, so a record of a file is
a line, and lines that begin with a blank belong to the record before them.
"""

from __future__ import annotations

import errno
import os
import re
import select
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emitter.instance.machine import BOOT_ID_FILE, INPUTS_OF_THIS_MACHINE, read_text
from emitter.kernel.message import MARK, MAX_TEXT_BYTES, KernelMessage, UnreadableLogError

if TYPE_CHECKING:
    from collections.abc import Callable

AUTO: Final = "auto"
JOURNAL: Final = "journal"  # of earlier versions, which could read systemd's too
NONE: Final = "none"
FILE_PREFIX: Final = "file:"

DEVICE: Final = "dev/kmsg"  # under the root of the file system
RECORDS_A_READ: Final = 1000
PAUSE_S: Final = 0.25  # at the end of a regular file, which is always ready

_READ_BYTES: Final = 1 << 16  # a record that does not fit is EINVAL, for ever
# Of 18 digits at most: a larger number could be kept and not be read again.
_HEADER: Final = re.compile(rb"[0-9]{1,10},([0-9]{1,18}),([0-9]{1,18})(?:,[^;]*)?;")
_ESCAPE: Final = re.compile(rb"\\x([0-9a-fA-F]{2})")
_BOOT_ID: Final = re.compile(r"[0-9a-f]{32}")


def choice_for(choice: str, reports: str) -> str:
    """
    What *choice* means where the reports come from *reports*, the setting `input`.

    Reports in a file may be of another machine: then this one's kernel is
    asked only by name.
    """
    return choice if reports in INPUTS_OF_THIS_MACHINE or choice != AUTO else NONE


def opener(
    choice: str,
    *,
    root: Path = Path("/"),
    clock: Callable[[], float] = time.time,
    since_boot_s: Callable[[], float] = time.monotonic,
) -> Callable[[], KernelRing] | None:
    """
    Opens what *choice* asks for, or raises UnreadableLogError; None for `none`.

    `file:PATH` is a file that speaks like /dev/kmsg, every other choice the device itself.
    """
    if choice == NONE:
        return None
    is_file = choice.startswith(FILE_PREFIX)
    path = Path(choice.removeprefix(FILE_PREFIX)) if is_file else root / DEVICE
    return lambda: KernelRing(path, boot_id(root), clock=clock, since_boot_s=since_boot_s)


def boot_id(root: Path) -> str:
    """
    The boot of the running kernel, 32 hexadecimal digits.

    Raises:
        UnreadableLogError: If /proc does not say.
    """
    boot = (read_text(root / BOOT_ID_FILE) or "").replace("-", "").lower()
    if not _BOOT_ID.fullmatch(boot):
        msg = f"/{BOOT_ID_FILE} does not exist. Mount /proc."
        raise UnreadableLogError(msg)
    return boot


class KernelRing:
    """The messages of the running kernel, as its ring keeps them."""

    def __init__(
        self,
        path: Path,
        boot: str,
        *,
        clock: Callable[[], float] = time.time,
        since_boot_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Open *path*; nothing is read yet.

        Raises:
            UnreadableLogError: If it may not be opened.
        """
        self.name = str(path)
        self._boot = boot
        self._clock = clock
        self._since_boot_s = since_boot_s
        self._rest = b""
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise _unreadable(self.name, error) from error
        self._ready = select.poll()
        self._ready.register(self._file, select.POLLIN)

    @property
    def is_open(self) -> bool:
        """Whether it gives messages now."""
        return self._file >= 0

    def read(self, timeout_s: float) -> list[KernelMessage]:
        """
        All there is, at most `RECORDS_A_READ` and what came with the last of them.

        Raises:
            UnreadableLogError: If it can be read no more.
        """
        self._ready.poll(timeout_s * 1000)
        messages: list[KernelMessage] = []
        for _ in range(RECORDS_A_READ):  # also of a file that never ends and holds none
            if len(messages) >= RECORDS_A_READ:
                break
            try:
                chunk = os.read(self._file, _READ_BYTES)
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno == errno.EPIPE:  # overwritten; the next read gives the next one
                    continue
                raise _unreadable(self.name, error) from error
            if not chunk:
                time.sleep(min(PAUSE_S, timeout_s))
                break
            messages += self._records(chunk)
        return messages

    def close(self) -> None:
        """Let go of it. May be called twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _records(self, chunk: bytes) -> list[KernelMessage]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > 2 * MAX_TEXT_BYTES:
            self._rest = b""  # no record of the kernel is so long
        return [
            self._message(int(header[1]), int(header[2]), line[header.end() :])
            for line in lines
            if (header := _HEADER.match(line)) is not None  # else of the record before it
        ]

    def _message(self, seq: int, since_boot_us: int, text: bytes) -> KernelMessage:
        ago_s = max(0.0, self._since_boot_s() - since_boot_us / 1e6)
        wanted = text[:MAX_TEXT_BYTES] if MARK in text else b""
        return KernelMessage(
            boot_id=self._boot,
            since_boot_us=since_boot_us,
            at_s=self._clock() - ago_s,
            seq=seq,
            text=_ESCAPE.sub(lambda escape: bytes([int(escape[1], 16)]), wanted).decode(
                "utf-8", "replace"
            ),
        )


def _unreadable(name: str, error: OSError) -> UnreadableLogError:
    why = error.strerror or type(error).__name__
    msg = (
        f"Cannot read kernel messages from {name}: {why}. Run with CAP_SYSLOG and "
        "read access to it."
    )
    return UnreadableLogError(msg)
