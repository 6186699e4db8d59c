"""One message of the kernel log, from wherever it was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from emitter.errors import EmitterError

MARK: Final = b"NEURON_HW_ERR="  # of the messages that are wanted; the text of others is not read
MAX_TEXT_BYTES: Final = 8192  # of one record, as the kernel bounds it


@dataclass(frozen=True, slots=True)
class KernelMessage:
    """
    What orders it, and its text where that is wanted.

    Attributes:
        boot_id: The boot of the kernel that wrote it, 32 hexadecimal digits.

        since_boot_us: The kernel's own stamp, microseconds since its boot. The
            journal keeps it as it was, so it is the same from either place.

        at_s: Seconds since the Unix epoch, as well as can be told.

        seq: Its number in /dev/kmsg; None out of the journal, which does not keep it.

        text: Of a message with `NEURON_HW_ERR=`; empty for all others.
    """

    boot_id: str
    since_boot_us: int
    at_s: float
    seq: int | None = None
    text: str = ""


class UnreadableLogError(EmitterError):
    """The kernel log cannot be read from there; its text says why, and what to do."""


class LogSource(Protocol):
    """
    A place the kernel log is read from.

    Attributes:
        name: For messages to people.

        is_open: Whether it gives messages now.
    """

    name: str

    @property
    def is_open(self) -> bool:
        """Whether it gives messages now."""

    def read(self, timeout_s: float) -> list[KernelMessage]:
        """
        What came within *timeout_s*, in the order of the log; empty when nothing did.

        Raises:
            UnreadableLogError: If it can be read no more.
        """

    def close(self) -> None:
        """Let go of it."""
