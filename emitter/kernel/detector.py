"""
Which messages of the kernel log are news, and which of those are faults.

Pure: messages and times come in, a detection goes out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emitter.kernel.hardware_fault import HardwareFault, read_fault
from emitter.kernel.position import LOOK_BACK_S, LogState, Position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.kernel.message import KernelMessage


@dataclass(frozen=True, slots=True)
class LocatedFault:
    """
    A fault, and where the log was then.

    Attributes:
        is_told: Whether an earlier run has told of it, though no minute has counted it.
    """

    fault: HardwareFault
    position: Position
    is_told: bool


@dataclass(slots=True)
class Detection:
    """
    What was found since the last look.

    Attributes:
        faults: Those that count, in the order of the log.

        older: How many there are from long before the first start, which do not count.

        newest_older: The newest of them.

        lost: Messages that were overwritten before they were read.

        begin: Where a log that is read for the first time begins to count.

        position: Everything up to here is in this detection or was in one before; None
            before the log was read for the first time.
    """

    faults: list[LocatedFault] = field(default_factory=list)
    older: int = 0
    newest_older: HardwareFault | None = None
    lost: int = 0
    begin: Position | None = None
    position: Position | None = None


class FaultDetector:
    """
    What one run has read of the log. *state* is what an earlier run left, *now_s* its start.

    Attributes:
        position: Everything up to here was seen; None before the first message ever.
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
        """Faults that nobody has taken."""
        return len(self._detection.faults)

    def add(self, messages: Sequence[KernelMessage]) -> None:
        """Take what one look at the log gave."""
        for message in messages:
            before = self.position or Position(message.boot_id)
            if before.covers(message):
                continue
            self._detection.lost += before.missed(message)
            self.position = Position.of(message)
            fault = read_fault(message.text, message.at_s) if message.text else None
            # The first one that is young ends it: a clock that is set back later makes none old.
            self._is_first = self._is_first and message.at_s < self._before_s
            if fault is None:
                continue
            if self._is_first:
                self._detection.older += 1
                self._detection.newest_older = fault
            else:
                self._begin = self._begin or before
                is_told = self._told is not None and self._told.covers(message)
                self._detection.faults.append(LocatedFault(fault, self.position, is_told))

    def take(self) -> Detection:
        """What was found since the last call."""
        detection, self._detection = self._detection, Detection()
        detection.position = self.position
        detection.begin = self._begin or self.position
        return detection
