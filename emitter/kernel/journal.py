"""
Kernel messages out of systemd's journal, as journalctl writes them.

It is a child that follows the journal; one that ends is started again, and
reads again from a little before: what was seen is not counted twice. The
fields, and that journald keeps the kernel's stamp as it was:
https://www.freedesktop.org/software/systemd/man/latest/systemd.journal-fields.html
"""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from emitter.backoff import Backoff
from emitter.kernel.message import MARK, MAX_TEXT_BYTES, KernelMessage, UnreadableLogError
from emitter.reports.child import END_WITHIN_S, Child

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

COMMAND: Final = "journalctl"
PROBE_WITHIN_S: Final = 10.0
OVERLAP_S: Final = 60.0  # read again after a start: journald may be late, and clocks are set
SHORTEST_WAIT_S: Final = 1.0
LONGEST_WAIT_S: Final = 60.0

_MAX_LINE_BYTES: Final = 1 << 17
_KERNEL: Final = "_TRANSPORT=kernel"
_FIELDS: Final = "MESSAGE,_BOOT_ID,_SOURCE_BOOTTIME_TIMESTAMP,_SOURCE_MONOTONIC_TIMESTAMP"


_BootId = Annotated[str, msgspec.Meta(pattern=r"\A[0-9A-Fa-f]{32}\Z")]
# 31,000 years: a larger one could be kept and not be read again.
_Micros = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{1,18}\Z")]


class _Entry(msgspec.Struct):
    """One entry; numbers are texts in it, and a message that is no UTF-8 a list of bytes."""

    boot_id: _BootId = msgspec.field(name="_BOOT_ID")
    realtime_us: _Micros = msgspec.field(name="__REALTIME_TIMESTAMP")
    received_us: _Micros | None = msgspec.field(name="__MONOTONIC_TIMESTAMP", default=None)
    boottime_us: _Micros | None = msgspec.field(name="_SOURCE_BOOTTIME_TIMESTAMP", default=None)
    monotonic_us: _Micros | None = msgspec.field(name="_SOURCE_MONOTONIC_TIMESTAMP", default=None)
    message: str | list[int] | None = msgspec.field(name="MESSAGE", default=None)


_decode: Final = msgspec.json.Decoder(_Entry).decode


def arguments(since_s: float) -> list[str]:
    """What journalctl is asked for: kernel messages from *since_s* on, and those that come."""
    return [
        *("--quiet", "--no-pager", "--output=json", f"--output-fields={_FIELDS}"),
        *("--follow", "--no-tail", f"--since=@{max(0, int(since_s))}", _KERNEL),
    ]


def require_messages(command: Sequence[str]) -> None:
    """
    Make sure that the journal shows us what the kernel says.

    A user who may not read it gets an empty answer, and no failure.

    Raises:
        UnreadableLogError: If it does not.
    """
    try:
        answer = subprocess.run(  # noqa: S603 - the operator's own journalctl
            [*command, "--quiet", "--no-pager", "--output=json", "--lines=1", _KERNEL],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        refusal = f"{command[0]} cannot be run: {why}"
        raise _unreadable(refusal) from error
    if not answer.stdout.strip():
        refusal = "it shows none to this user"
        raise _unreadable(refusal)


class Journal:
    """A `LogSource` over the journal of this machine."""

    def __init__(
        self,
        command: Sequence[str],
        since_s: float,
        *,
        rng: random.Random | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with what was written at *since_s*. Nothing is started before the first read."""
        self.name = command[0]
        self._command = list(command)
        self._since_s = since_s
        self._clock = clock
        self._backoff = Backoff(SHORTEST_WAIT_S, LONGEST_WAIT_S, rng)
        self._start_at_s = clock()
        self._child: Child | None = None
        self._rest = b""

    @property
    def is_open(self) -> bool:
        """Whether it gives messages now."""
        return self._child is not None

    def read(self, timeout_s: float) -> list[KernelMessage]:
        """
        What journalctl wrote within *timeout_s*.

        It is always read from the thread that reads first: the child ends with that one.
        """
        if self._child is None and not self._start(timeout_s):
            return []
        child = self._child
        chunk = b"" if child is None else child.read(timeout_s)
        if chunk is None:
            self._stop(END_WITHIN_S)
            self._start_at_s = self._clock() + self._backoff.next_s()
            return []
        found = self._entries(chunk)
        if found:
            self._backoff.reset()
            self._since_s = max(self._since_s, found[-1].at_s)
        return found

    def close(self) -> None:
        """Stop the child. May be called twice."""
        self._stop(0.0)

    def _start(self, timeout_s: float) -> bool:
        wait_s = self._start_at_s - self._clock()
        if wait_s > 0:
            time.sleep(min(wait_s, timeout_s))
            return False
        try:
            self._child = Child([*self._command, *arguments(self._since_s - OVERLAP_S)])
        except OSError:
            self._start_at_s = self._clock() + self._backoff.next_s()
            return False
        self._rest = b""
        return True

    def _stop(self, end_within_s: float) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.stop(end_within_s)

    def _entries(self, chunk: bytes) -> list[KernelMessage]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > _MAX_LINE_BYTES:
            self._rest = b""
        return [found for line in lines if (found := read_entry(line)) is not None]


def read_entry(line: bytes) -> KernelMessage | None:
    """The message of one line of journalctl; None when it is none."""
    try:
        entry = _decode(line)
        message = entry.message
        raw = bytes(message) if isinstance(message, list) else (message or "").encode()
        since_boot_us = int(entry.boottime_us or entry.monotonic_us or "")
        # The times of the journal are those of receipt: at a boot, minutes after the message.
        waited_us = max(0, int(entry.received_us or since_boot_us) - since_boot_us)
        return KernelMessage(
            boot_id=entry.boot_id.lower(),
            since_boot_us=since_boot_us,
            at_s=(int(entry.realtime_us) - waited_us) / 1e6,
            text=raw[:MAX_TEXT_BYTES].decode("utf-8", "replace") if MARK in raw else "",
        )
    except (ValueError, RecursionError):
        return None  # also a number that no byte can be, and an entry without the kernel's stamp


def _unreadable(why: str) -> UnreadableLogError:
    msg = (
        f"the journal was expected to give the kernel's messages and does not ({why}): run as a "
        "member of the group systemd-journal, or with CAP_SYSLOG to read /dev/kmsg"
    )
    return UnreadableLogError(msg)
