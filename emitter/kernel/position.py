"""
How far the kernel log was read, over restarts and from either place.

/dev/kmsg numbers its messages; the journal does not keep the numbers, but the
kernel's stamp in microseconds. So the rule is: within one boot and one place
with numbers, by number; otherwise by stamp. Stamps of several processors can
be a little out of order: of the last second each fault is remembered.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

if TYPE_CHECKING:
    from emitter.kernel.message import KernelMessage

NEAR_US: Final = 1_000_000
MAX_NEAR: Final = 128  # faults of one second that are told apart when the place changes
LOOK_BACK_S: Final = 600.0
"""Without a position: messages no older than this count, older ones are told of together."""

_MAX_US: Final = (1 << 63) - 1
_Count = Annotated[int, msgspec.Meta(ge=0, le=_MAX_US)]
_BootId = Annotated[str, msgspec.Meta(min_length=1, max_length=32)]
_Key = Annotated[str, msgspec.Meta(max_length=40)]


class Position(msgspec.Struct, frozen=True):
    """
    Everything up to here was seen.

    Attributes:
        boot_id: The boot that the last message is of.

        since_boot_us: The kernel's stamp of the newest message; 0 before the first.

        at_s: When that was, seconds since the Unix epoch.

        seq: Number of the last message; None when it was read from the journal.

        near: Faults within a second of the newest message, as stamp and checksum.
    """

    boot_id: _BootId
    since_boot_us: _Count
    at_s: Annotated[float, msgspec.Meta(ge=0)]
    seq: _Count | None = None
    near: Annotated[tuple[_Key, ...], msgspec.Meta(max_length=MAX_NEAR)] = ()

    def covers(self, message: KernelMessage) -> bool:
        """Whether *message* was seen."""
        if message.boot_id != self.boot_id:
            # The ring is of the running kernel alone; the journal reaches into earlier boots.
            return message.seq is None and message.at_s <= self.at_s
        if message.seq is not None and self.seq is not None:
            return message.seq <= self.seq
        if message.since_boot_us > self.since_boot_us:
            return False
        if message.since_boot_us < self.since_boot_us - NEAR_US:
            return True
        return not message.text or _key(message) in self.near

    def missed(self, message: KernelMessage) -> int:
        """Messages between here and *message*, the next there is, that nobody can read any more."""
        if self.boot_id != message.boot_id or self.seq is None or message.seq is None:
            return 0
        return max(0, message.seq - self.seq - 1)

    def after(self, message: KernelMessage) -> Position:
        """The position once *message*, which it does not cover, was seen as well."""
        if message.boot_id != self.boot_id:
            return beginning(message.boot_id, message.at_s).after(message)
        newest_us = max(self.since_boot_us, message.since_boot_us)
        near = self.near
        if near and newest_us > self.since_boot_us:
            earliest_us = newest_us - NEAR_US
            near = tuple(key for key in near if int(key.partition(":")[0]) >= earliest_us)
        if message.text:
            near = (*near, _key(message))[-MAX_NEAR:]
        return Position(
            boot_id=self.boot_id,
            since_boot_us=newest_us,
            at_s=max(self.at_s, message.at_s),
            seq=message.seq,
            near=near,
        )


def beginning(boot_id: str, at_s: float) -> Position:
    """The position before the first message of a boot; its time is that of *at_s*."""
    return Position(boot_id=boot_id, since_boot_us=0, at_s=max(0.0, at_s))


def _key(message: KernelMessage) -> str:
    return f"{message.since_boot_us}:{zlib.crc32(message.text.encode('utf-8', 'replace')):08x}"


class LogState(msgspec.Struct, frozen=True):
    """
    Two positions, because an event is written at once and a minute when it ends.

    Attributes:
        counted: Up to where minutes have counted the faults.

        told: Up to where faults were told as events; None is as far as counted.
    """

    counted: Position | None = None
    told: Position | None = None


_MEMBER: Final = "kernel"
_decode_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_state: Final = msgspec.json.Decoder(LogState).decode


def read_log_state(state: bytes | None) -> LogState:
    """What an earlier run left in the state that the spool keeps; nothing if unreadable."""
    if state is None:
        return LogState()
    try:
        found = _decode_members(state).get(_MEMBER)
        read = LogState() if found is None else _decode_state(found)
    except (ValueError, RecursionError):
        return LogState()
    keys = [key for one in (read.counted, read.told) if one is not None for key in one.near]
    return read if all(key.partition(":")[0].isdecimal() for key in keys) else LogState()


def with_log_state(state: bytes | None, log: LogState) -> bytes:
    """*state*, as the fold or an earlier run wrote it, with *log* in it."""
    members: dict[str, object] = {}
    if state is not None:
        try:
            members.update(_decode_members(state))
        except (ValueError, RecursionError):
            members = {}  # it could not be read by anybody
    members[_MEMBER] = log
    return msgspec.json.encode(members)
