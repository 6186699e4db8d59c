"""
Lines in the spool, with their permanent identity, and the counters of each boot.

These are plain values; the wire format defines the content of a line.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass, field
from secrets import token_hex
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

BOOT_FORM: Final = re.compile(r"[0-9a-f]{20}")
_BOOT_TIME_DIGITS: Final = 12
_STATES_KEPT: Final = 64  # an hour of undelivered minutes, while the disk refuses

# Bytes that a record takes in the file in addition to its line: row header, three index entries,
# its share of unfilled pages. Measured, rounded up.
RECORD_OVERHEAD_BYTES: Final = 600
LINE_OVERHEAD_DIVISOR: Final = 16

# Why a record is dropped. Each reason is a member of the minute line, so there are few.
DropReason = Literal[
    # the spool reached its limit, or its memory limit while the disk refuses: oldest first
    "spool_full",
    "too_old",  # older than the spool or the destination allows
    "too_new",  # further in the future than the destination allows
    "too_large",  # larger than one call, or than the whole spool
    "expired",  # older than the log group's retention, by the service's answer
    "invalid",  # the destination rejects it in every call
    "damaged",  # in a file that cannot be read any more
]


@dataclass(frozen=True, slots=True)
class NewRecord:
    """
    A line without an identity.

    Attributes:
        timestamp_ms: Milliseconds since the Unix epoch.

        line: The text to send, without a line end.
    """

    timestamp_ms: int
    line: str


@dataclass(frozen=True, slots=True)
class SpooledRecord:
    """
    A line in the spool.

    Attributes:
        id: Place in the order of arrival, unique while the spool is open: above 0 for records
            appended since then. IDs change when the spool is opened again.

        boot: The emitter start that wrote it, such as `019aa3c5d2f04f1e2d3c`.

        seq: Its number within *boot*, from 1 without gaps.

        timestamp_ms: Milliseconds since the Unix epoch.

        line: The text to send, without a line end.
    """

    id: int
    boot: str
    seq: int
    timestamp_ms: int
    line: str


@dataclass(frozen=True, slots=True)
class RecordSize:
    """An undelivered record without its line."""

    id: int
    boot: str
    line_bytes: int

    @property
    def cost_bytes(self) -> int:
        """Return the bytes that the record takes in the file."""
        return cost_bytes(self.line_bytes)


def size_of(record: SpooledRecord) -> RecordSize:
    """Return the size of *record*."""
    return RecordSize(record.id, record.boot, len(record.line.encode()))


def cost_bytes(line_bytes: int) -> int:
    """Return the bytes that a line of *line_bytes* takes in the file, rounded up."""
    return line_bytes + line_bytes // LINE_OVERHEAD_DIVISOR + RECORD_OVERHEAD_BYTES


@dataclass(frozen=True, slots=True)
class SpoolHealth:
    """
    The counters of this boot's records, and the content of the spool.

    Attributes:
        records: Undelivered records of this boot: produced - delivered - dropped.

        bytes: UTF-8 bytes of all undelivered lines, including those of other boots.

        produced: Appended records, including dropped ones.

        delivered: Records that the destination accepted.

        dropped: Dropped records by reason; only counts above 0.

        older_records: Undelivered records of earlier boots.

        older_dropped: Records of earlier boots dropped since the spool was opened.

        in_memory: Undelivered records that the disk does not accept now: lost if the process ends.
            0 for a spool in memory by choice.

        set_aside: Damaged files replaced since the spool was opened.
    """

    records: int
    bytes: int
    produced: int
    delivered: int
    dropped: Mapping[DropReason, int]
    older_records: int
    older_dropped: int = 0
    in_memory: int = 0
    set_aside: int = 0


@dataclass(slots=True)
class BootCounters:
    """
    The counters of one boot's records: produced = delivered + records + dropped.

    Attributes:
        records: Undelivered records, on disk or in memory.

        bytes: UTF-8 bytes of their lines.

        changed: True if the disk has older numbers.
    """

    produced: int = 0
    delivered: int = 0
    dropped: Counter[DropReason] = field(default_factory=Counter)
    records: int = 0
    bytes: int = 0
    changed: bool = True


@dataclass(frozen=True, slots=True)
class DeliveredState:
    """
    A state of the fold, and how many records its emitter start had produced by then.

    Attributes:
        boot: The emitter start that stored it.

        produced: Records that this start had produced.

        state: The state, as the fold encoded it.
    """

    boot: str
    produced: int
    state: bytes

    def is_newer(self, produced: Mapping[str, int]) -> bool:
        """Return True if a database with these *produced* counts by boot is older."""
        if self.boot in produced:
            return self.produced > produced[self.boot]
        return self.boot > max(produced, default="")


@dataclass(slots=True)
class PendingChanges:
    """
    Changes that the disk does not have yet, of this boot and of older ones.

    Attributes:
        added: Records by ID, in order of arrival.

        settled: IDs on the disk that have left the spool.

        state: The fold's newest state.

        state_changed: True if the disk has an older state.

        states: The states since the one on the disk, oldest first, each with the ID of the last
            record before it.

        delivered: The newest of *states* whose records were all delivered, until the disk has it.
    """

    added: dict[int, SpooledRecord] = field(default_factory=dict)
    settled: set[int] = field(default_factory=set)
    state: bytes | None = None
    state_changed: bool = False
    states: deque[tuple[int, DeliveredState]] = field(
        default_factory=lambda: deque(maxlen=_STATES_KEPT)
    )
    delivered: DeliveredState | None = None


def new_boot(now_s: float, latest: str | None) -> str:
    """Return a name for this emitter start, greater than *latest*."""
    now_ms = int(now_s * 1000)
    if latest is not None:
        # The clock may have been set back; the latest start must still have the greatest name.
        now_ms = max(now_ms, int(latest[:_BOOT_TIME_DIGITS], 16) + 1)
    return f"{now_ms:0{_BOOT_TIME_DIGITS}x}{token_hex(4)}"
