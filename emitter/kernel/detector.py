"""
Which messages of the kernel log are new, over restarts, and which of those are faults.

/dev/kmsg numbers its messages from the boot on. A position that an earlier
release took from systemd's journal has no number, but the kernel's stamp.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from emitter.kernel.hardware_fault import HardwareFault, read_fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.kernel.kmsg import KernelMessage

LOOK_BACK_S: Final = 600.0
"""Without a position: faults no older than this count; older ones get one event together."""
_Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
_BootId = Annotated[str, msgspec.Meta(min_length=1, max_length=32)]


class Position(msgspec.Struct, frozen=True, omit_defaults=True):
    """
    How far the log was read.

    Attributes:
        boot_id: The boot that the last message is of.

        seq: Number of the last message; None before the first of the boot.

        since_boot_us: The kernel's stamp of the last message, of an earlier release.
    """

    boot_id: _BootId
    seq: _Count | None = None
    since_boot_us: _Count | None = None

    @classmethod
    def after(cls, message: KernelMessage) -> Position:
        """The position once *message* was read."""
        return cls(message.boot_id, message.seq)

    def covers(self, message: KernelMessage) -> bool:
        """Whether *message* was read."""
        if message.boot_id != self.boot_id:
            return False  # the ring is of the running kernel alone
        if self.seq is not None:
            return message.seq <= self.seq
        return self.since_boot_us is not None and message.since_boot_us <= self.since_boot_us

    def count_lost(self, message: KernelMessage) -> int:
        """How many messages between here and *message*, the next one left, were overwritten."""
        if self.boot_id != message.boot_id or self.seq is None:
            return 0
        return max(0, message.seq - self.seq - 1)


class LogState(msgspec.Struct, frozen=True):
    """
    Two positions, because an event is written at once and a minute when it ends.

    Attributes:
        counted: Up to where minutes have counted the faults.

        told: Up to where faults have an event; None is as far as counted.
    """

    counted: Position | None = None
    told: Position | None = None


@dataclass(frozen=True, slots=True)
class LocatedFault:
    """
    A fault and its position in the log.

    Attributes:
        has_event: An earlier run wrote its event, though no minute has counted it.
    """

    fault: HardwareFault
    position: Position
    has_event: bool


@dataclass(slots=True)
class Detection:
    """
    What was found since the last detection.

    Attributes:
        faults: Those that count, in the order of the log.

        older: How many there are from long before the first start, which do not count.

        newest_older: The newest of those.

        lost: Messages that were overwritten before they were read.

        begin: Where a log that is read for the first time begins to count.

        position: How far the log was read; None before the first time.
    """

    faults: list[LocatedFault] = field(default_factory=list)
    older: int = 0
    newest_older: HardwareFault | None = None
    lost: int = 0
    begin: Position | None = None
    position: Position | None = None


class FaultDetector:
    """
    Finds the faults of one run, which starts at *now_s*; *state* is what an earlier run left.

    Attributes:
        position: How far the log was read; None before the first message ever.
    """

    def __init__(self, state: LogState, now_s: float) -> None:
        self.position = state.counted
        self._told = state.told
        self._is_first = state.counted is None
        self._before_s = now_s - LOOK_BACK_S
        self._begin: Position | None = None
        self._detection = Detection()

    @property
    def waiting(self) -> int:
        """Faults that were found and not taken yet."""
        return len(self._detection.faults)

    def read_messages(self, messages: Sequence[KernelMessage]) -> None:
        """Find the faults in *messages*, the next ones of the log."""
        for message in messages:
            before = self.position or Position(message.boot_id)
            if before.covers(message):
                continue
            self._detection.lost += before.count_lost(message)
            self.position = Position.after(message)
            fault = read_fault(message.text, message.at_s) if message.text else None
            # A first young one ends it: a clock that is set back later makes no fault old.
            self._is_first = self._is_first and message.at_s < self._before_s
            if fault is None:
                continue
            if self._is_first:
                self._detection.older += 1
                self._detection.newest_older = fault
            else:
                self._begin = self._begin or before
                has_event = self._told is not None and self._told.covers(message)
                self._detection.faults.append(LocatedFault(fault, self.position, has_event))

    def take_detection(self) -> Detection:
        """What was found since the last call."""
        detection, self._detection = self._detection, Detection()
        detection.position = self.position
        detection.begin = self._begin or self.position
        return detection
