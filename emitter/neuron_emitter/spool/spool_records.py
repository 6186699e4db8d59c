"""
Lines in the spool, with their permanent identity.

Values only, and what each boot's counters say. What a line says is the wire
format's business.
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
_STATES_KEPT: Final = 64  # an hour of minutes that were not delivered, while the disk refuses

# What a record costs in the file beside its line: row header, three index
# entries, the unfilled rest of its pages and of those above. Measured, rounded up.
RECORD_OVERHEAD_BYTES: Final = 600
LINE_OVERHEAD_DIVISOR: Final = 16

# Why a record is lost on purpose. Bounded: every reason is a member of the minute line.
DropReason = Literal[
    "spool_full",  # the spool reached its size, or its memory while the disk refuses: oldest first
    "too_old",  # older than the spool keeps, or than the destination takes
    "too_new",  # further in the future than the destination takes
    "too_large",  # larger than one call, or than the whole spool
    "expired",  # older than the log group's retention, says the service
    "invalid",  # the destination refuses it, whatever it is sent with
    "damaged",  # it was in a file that cannot be read any more
]


@dataclass(frozen=True, slots=True)
class NewRecord:
    """
    A line that has no identity yet.

    Attributes:
        timestamp_ms: Milliseconds since the Unix epoch.

        line: The text to send, without a line end.
    """

    timestamp_ms: int
    line: str


@dataclass(frozen=True, slots=True)
class SpooledRecord:
    """
    A line the spool holds.

    Attributes:
        id: Place in the order of arrival, unique while the spool is open: above 0 for records
            appended since then. Ids change when the spool is opened again.

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
    """A waiting record without its line."""

    id: int
    boot: str
    line_bytes: int

    @property
    def cost_bytes(self) -> int:
        """Room that the record takes in the file."""
        return cost_bytes(self.line_bytes)


def size_of(record: SpooledRecord) -> RecordSize:
    """*record* without its line."""
    return RecordSize(record.id, record.boot, len(record.line.encode()))


def cost_bytes(line_bytes: int) -> int:
    """Room that a line of *line_bytes* takes in the file, rather too much than too little."""
    return line_bytes + line_bytes // LINE_OVERHEAD_DIVISOR + RECORD_OVERHEAD_BYTES


@dataclass(frozen=True, slots=True)
class SpoolHealth:
    """
    What became of this boot's records, and what the spool holds.

    Attributes:
        records: Of this boot, waiting. Always produced - delivered - dropped.

        bytes: UTF-8 bytes of all waiting lines, those of other boots included.

        produced: Records appended, the dropped ones included.

        delivered: Records the destination took.

        dropped: Records lost on purpose, by reason; only reasons above 0.

        older_records: Waiting records that earlier boots left behind.

        older_dropped: Records of earlier boots lost on purpose since the spool was opened.

        in_memory: Waiting records that the disk does not take now: lost if the
            process ends. 0 for a spool that was asked to be in memory.

        set_aside: Damaged files that were replaced since the spool was opened.
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
    What became of one boot's records: produced = delivered + records + dropped.

    Attributes:
        records: Waiting, on the disk or in memory.

        bytes: UTF-8 bytes of their lines.

        changed: Whether the disk still has older numbers.
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
        boot: The emitter start that left it.

        produced: Records that this start had produced.

        state: The state, as the fold encoded it.
    """

    boot: str
    produced: int
    state: bytes

    def is_newer(self, produced: Mapping[str, int]) -> bool:
        """Whether a database is older, in which each boot has *produced* so many records."""
        if self.boot in produced:
            return self.produced > produced[self.boot]
        return self.boot > max(produced, default="")


@dataclass(slots=True)
class PendingChanges:
    """
    Changes the disk does not have yet, of this boot and of older ones.

    Attributes:
        added: Records by id, in order of arrival.

        settled: Ids on the disk that have left the spool.

        state: The fold's state last given.

        state_changed: Whether the disk still has an older state.

        states: The states given since the one on the disk, oldest first, each with the id of the
            last record before it.

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
    """A name for this emitter start, greater than *latest*."""
    now_ms = int(now_s * 1000)
    if latest is not None:
        # The clock may have been set back; the latest start must stay the greatest name.
        now_ms = max(now_ms, int(latest[:_BOOT_TIME_DIGITS], 16) + 1)
    return f"{now_ms:0{_BOOT_TIME_DIGITS}x}{token_hex(4)}"
