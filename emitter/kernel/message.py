"""One message of the kernel log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from emitter.errors import EmitterError

MARK: Final = b"NEURON_HW_ERR="  # of the messages that are wanted; the text of others is not read
MAX_TEXT_BYTES: Final = 8192  # of one record, as the kernel bounds it


@dataclass(frozen=True, slots=True)
class KernelMessage:
    """
    What orders it, and its text where that is wanted.

    Attributes:
        boot_id: The boot of the kernel that wrote it, 32 hexadecimal digits.

        since_boot_us: The kernel's own stamp, microseconds since its boot.

        at_s: Seconds since the Unix epoch, as well as can be told.

        seq: Its number within that boot.

        text: Of a message with `NEURON_HW_ERR=`; empty for all others.
    """

    boot_id: str
    since_boot_us: int
    at_s: float
    seq: int
    text: str = ""


class UnreadableLogError(EmitterError):
    """The kernel log cannot be read from there; its text says why, and what to do."""
