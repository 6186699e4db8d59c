"""
How far the kernel log was read, over restarts.

/dev/kmsg numbers its messages from the boot on. A position that an earlier
release took from systemd's journal has no number, but the kernel's stamp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec

if TYPE_CHECKING:
    from emitter.kernel.message import KernelMessage

LOOK_BACK_S: Final = 600.0
"""Without a position: messages no older than this count, older ones are told of together."""

_Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
_BootId = Annotated[str, msgspec.Meta(min_length=1, max_length=32)]


class Position(msgspec.Struct, frozen=True, omit_defaults=True):
    """
    Everything up to here was seen.

    Attributes:
        boot_id: The boot that the last message is of.

        seq: Number of the last message; None before the first of the boot.

        since_boot_us: The kernel's stamp of the last message, of an earlier release.
    """

    boot_id: _BootId
    seq: _Count | None = None
    since_boot_us: _Count | None = None

    @classmethod
    def of(cls, message: KernelMessage) -> Position:
        """The position once *message* was seen."""
        return cls(message.boot_id, message.seq)

    def covers(self, message: KernelMessage) -> bool:
        """Whether *message* was seen."""
        if message.boot_id != self.boot_id:
            return False  # the ring is of the running kernel alone
        if self.seq is not None:
            return message.seq <= self.seq
        return self.since_boot_us is not None and message.since_boot_us <= self.since_boot_us

    def missed(self, message: KernelMessage) -> int:
        """Messages between here and *message*, the next there is, that nobody can read any more."""
        if self.boot_id != message.boot_id or self.seq is None:
            return 0
        return max(0, message.seq - self.seq - 1)


class LogState(msgspec.Struct, frozen=True):
    """
    Two positions, because an event is written at once and a minute when it ends.

    Attributes:
        counted: Up to where minutes have counted the faults.

        told: Up to where faults were told as events; None is as far as counted.
    """

    counted: Position | None = None
    told: Position | None = None
