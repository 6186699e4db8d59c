"""
A fault of the hardware in a kernel message.

    NEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR instance-id=i-0592464924bd45322
    hostname=ip-172-31-61-252 nd-id=0 nc-id=0 serial-num=19fcda00f5ff6eb9
    action=TERMINATE_INSTANCE

An unknown code is a fault as well, and no member is needed. The mark counts only at
the start of a word: an audit record that quotes a command with it is no fault.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MAX_WORD_CHARS: Final = 64
MAX_TEXT_CHARS: Final = 400
NO_CODE: Final = "UNNAMED"

_CODE: Final = re.compile(r"(?<!\S)NEURON_HW_ERR=([\w.\-]*)", re.ASCII)
_MEMBERS: Final = re.compile(r"(?<!\S)(nd-id|nc-id|serial-num|action)=([!-~]+)")
_INDEX: Final = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True, slots=True)
class HardwareFault:
    """
    One message of the Neuron driver or runtime; each member None where it has none.

    Attributes:
        at_s: Seconds since the Unix epoch.

        code: Such as `HBM_UNCORRECTABLE_ERROR`.

        text: The message, printable, at most `MAX_TEXT_CHARS`.

        device: Index of the Neuron device on its instance.

        device_core: Index of the physical core on that device.

        serial_number: Of the device.

        action: The recommended one, such as `TERMINATE_INSTANCE`.
    """

    at_s: float
    code: str
    text: str
    device: int | None = None
    device_core: int | None = None
    serial_number: str | None = None
    action: str | None = None

    def sentence(self) -> str:
        """The message of its event."""
        where = ""
        if self.device is not None:
            where = f" on device {self.device}"
            if self.device_core is not None:
                where += f", core {self.device_core}"
        advice = "" if self.action is None else f"; recommended action: {self.action}"
        return f"the kernel log reports {self.code}{where}{advice}"

    def details(self) -> dict[str, str | int | float]:
        """The members of its event."""
        members = {
            "Fault": self.code,
            "Device": self.device,
            "DeviceCore": self.device_core,
            "SerialNumber": self.serial_number,
            "Action": self.action,
            "KernelMessage": self.text,
        }
        return {name: value for name, value in members.items() if value is not None}


def read_fault(text: str, at_s: float) -> HardwareFault | None:
    """The fault in the message *text*; None for any other message."""
    mark = _CODE.search(text)
    if mark is None:
        return None
    members: dict[str, str] = {}
    for name, value in _MEMBERS.findall(text, mark.end()):
        members.setdefault(name, value[:MAX_WORD_CHARS])
    shown = text[:MAX_TEXT_CHARS]
    return HardwareFault(
        at_s=at_s,
        code=mark[1][:MAX_WORD_CHARS] or NO_CODE,
        text="".join(letter if letter.isprintable() else "?" for letter in shown),
        device=_index(members.get("nd-id")),
        device_core=_index(members.get("nc-id")),
        serial_number=members.get("serial-num"),
        action=members.get("action"),
    )


def _index(text: str | None) -> int | None:
    return int(text) if text is not None and _INDEX.fullmatch(text) else None
