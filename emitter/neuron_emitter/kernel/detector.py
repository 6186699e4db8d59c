"""
Find new messages of the kernel log, also after a restart, and the faults among them.

/dev/kmsg numbers its messages from the boot. A fault is

    NEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR instance-id=i-0592464924bd45322
    hostname=ip-172-31-61-252 nd-id=0 nc-id=0 serial-num=19fcda00f5ff6eb9
    action=TERMINATE_INSTANCE

An unknown code is a fault as well, and no member is required. The mark counts only at the start of
a word: an audit record that quotes a command with the mark is not a fault.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from re import ASCII
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_emitter.kernel.kmsg import KernelMessage

# Without a position, faults that are not older than this count; all older faults get one event
# together.
LOOK_BACK_S: Final = 600.0
MAX_WORD_CHARS: Final = 64
MAX_FAULT_CHARS: Final = 400

_ERROR_CODE: Final = re.compile(r"(?<!\S)NEURON_HW_ERR=([\w.\-]*)", ASCII)
_MESSAGE_MEMBER: Final = re.compile(r"(?<!\S)(nd-id|nc-id|serial-num|action)=([!-~]+)")
_DEVICE_INDEX: Final = re.compile(r"[0-9]{1,4}")
_Count = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
_BootId = Annotated[str, Meta(min_length=1, max_length=32)]


@dataclass(frozen=True, slots=True)
class HardwareFault:
    """
    One message of the Neuron driver or runtime; each member is None if the message lacks it.

    Attributes:
        at_s: Seconds since the Unix epoch.

        code: Such as `HBM_UNCORRECTABLE_ERROR`.

        text: The message, printable, at most `MAX_FAULT_CHARS`.

        device: Index of the Neuron device on its instance.

        device_core: Index of the physical core on that device.

        serial_number: The device's serial number.

        action: The recommended action, such as `TERMINATE_INSTANCE`.
    """

    at_s: float
    code: str
    text: str
    device: int | None = None
    device_core: int | None = None
    serial_number: str | None = None
    action: str | None = None

    def sentence(self) -> str:
        """Return the message of the fault's event."""
        where = ""
        if self.device is not None:
            where = f" on device {self.device}"
            if self.device_core is not None:
                where += f", core {self.device_core}"
        advice = "" if self.action is None else f"; recommended action: {self.action}"
        return f"the kernel log reports {self.code}{where}{advice}"

    def details(self) -> dict[str, str | int | float]:
        """Return the members of the fault's event."""
        members = {
            "Fault": self.code,
            "Device": self.device,
            "DeviceCore": self.device_core,
            "SerialNumber": self.serial_number,
            "Action": self.action,
            "KernelMessage": self.text,
        }
        return {name: value for name, value in members.items() if value is not None}


def read_faults(text: str, at_s: float) -> list[HardwareFault]:
    """
    Return the faults in the message *text*; most messages have none.

    One write of a program is one message, and each of its lines with the mark is a fault. The lines
    after it, up to the next mark, belong to it.

    >>> fault, = read_faults("neuron: NEURON_HW_ERR=DMA_ERROR nd-id=0 nc-id=1", at_s=0.0)
    >>> fault.code, fault.device, fault.device_core
    ('DMA_ERROR', 0, 1)
    """
    parts = []
    for line in text.split("\n"):
        if _ERROR_CODE.search(line):
            parts.append(line)
        elif parts:
            parts[-1] += f"\n{line}"
    return [fault for part in parts if (fault := _read_fault(part, at_s))]


def _read_fault(text: str, at_s: float) -> HardwareFault | None:
    mark = _ERROR_CODE.search(text)
    if mark is None:
        return None
    # Reversed, so that the first member of a name counts.
    found = reversed(_MESSAGE_MEMBER.findall(text, mark.end()))
    members = {name: value[:MAX_WORD_CHARS] for name, value in found}
    return HardwareFault(
        at_s=at_s,
        code=mark[1][:MAX_WORD_CHARS] or "UNNAMED",
        text="".join(letter if letter.isprintable() else "?" for letter in text[:MAX_FAULT_CHARS]),
        device=_index(members.get("nd-id")),
        device_core=_index(members.get("nc-id")),
        serial_number=members.get("serial-num"),
        action=members.get("action"),
    )


def _index(text: str | None) -> int | None:
    return int(text) if text is not None and _DEVICE_INDEX.fullmatch(text) else None


class Position(Struct, frozen=True, omit_defaults=True):
    """
    The position up to which the log was read.

    Attributes:
        boot_id: The boot of the last message.

        seq: The number of the last message; None before the first message of the boot.
    """

    boot_id: _BootId
    seq: _Count | None = None

    def covers(self, message: KernelMessage) -> bool:
        """Return True if *message* was read."""
        # The ring contains only messages of the running kernel.
        is_same_boot = message.boot_id == self.boot_id
        return is_same_boot and self.seq is not None and message.seq <= self.seq

    def count_lost(self, message: KernelMessage) -> int:
        """Return the number of messages between here and *message* that were overwritten."""
        if self.boot_id != message.boot_id or self.seq is None:
            return 0
        return max(0, message.seq - self.seq - 1)


class LogState(Struct, frozen=True):
    """
    Two positions, because an event is written at once and a minute when it ends.

    Attributes:
        counted: The position up to which minutes have counted the faults.

        announced: The position up to which faults have an event; None means *counted*.
    """

    counted: Position | None = None
    announced: Position | None = None


@dataclass(frozen=True, slots=True)
class LocatedFault:
    """
    A fault and its position in the log.

    Attributes:
        has_event: True if an earlier run wrote its event, although no minute has counted it.
    """

    fault: HardwareFault
    position: Position
    has_event: bool


@dataclass(slots=True)
class Detection:
    """
    The faults found since the last detection.

    Attributes:
        faults: The faults that count, in the order of the log.

        older: The number of faults from long before the first start, which do not count.

        newest_older: The newest fault of these.

        lost: Messages that were overwritten before they were read.

        begin: The position from which a log that is read for the first time counts.

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
    Finds the faults of one run, which starts at *now_s*; *state* is the state of an earlier run.

    Attributes:
        position: The position up to which the log was read; None before the first message ever.
    """

    def __init__(self, state: LogState, now_s: float) -> None:
        self.position = state.counted
        self._announced = state.announced
        self._is_first = state.counted is None
        self._before_s = now_s - LOOK_BACK_S
        self._begin: Position | None = None
        self._detection = Detection()

    @property
    def waiting(self) -> int:
        """The number of found faults that were not taken yet."""
        return len(self._detection.faults)

    def read_messages(self, messages: Sequence[KernelMessage]) -> None:
        """Find the faults in *messages*, the next messages of the log."""
        for message in messages:
            before = self.position or Position(message.boot_id)
            if before.covers(message):
                continue
            self._detection.lost += before.count_lost(message)
            self.position = Position(message.boot_id, message.seq)
            # The first recent fault ends this: if the clock is set back later, no fault becomes
            # old.
            self._is_first = self._is_first and message.at_s < self._before_s
            faults = read_faults(message.text, message.at_s) if message.text else []
            if not faults:
                continue
            if self._is_first:
                self._detection.older += len(faults)
                self._detection.newest_older = faults[-1]
                continue
            self._begin = self._begin or before
            has_event = self._announced is not None and self._announced.covers(message)
            self._detection.faults += [
                LocatedFault(fault, self.position, has_event) for fault in faults
            ]

    def take_detection(self) -> Detection:
        """Return the faults found since the last call."""
        detection = self._detection
        self._detection = Detection()
        detection.position = self.position
        detection.begin = self._begin or self.position
        return detection
