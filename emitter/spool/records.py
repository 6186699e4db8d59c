"""
What the spool takes and gives back: lines, with the identity they have for ever.

Values only. What a line says is the wire format's business.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

BOOT_FORM: Final = re.compile(r"[0-9a-f]{20}")
_BOOT_TIME_DIGITS: Final = 12

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
        id: RecordSize in the order of arrival. Of one open spool: never used twice in
            it, above 0 for what it appended itself, not kept when it is closed.

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
class SpoolHealth:
    """
    What became of this boot's records, and what the spool holds.

    Attributes:
        records: Of this boot, waiting. Always produced - delivered - dropped.

        bytes: UTF-8 bytes of all waiting lines, those of other boots included.

        produced: Records appended, the dropped ones included.

        delivered: Records the destination took.

        dropped: Records lost on purpose, by reason; only reasons above 0.

        older_records: Backlog records that earlier boots left behind.

        older_dropped: Records of earlier boots lost on purpose since the spool was opened.

        in_memory: Backlog records that the disk does not take now: lost if the
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


def new_boot(now_s: float, latest: str | None) -> str:
    """A name for this emitter start, greater than *latest*."""
    now_ms = int(now_s * 1000)
    if latest is not None:
        # The clock may have been set back; the latest start must stay the greatest name.
        now_ms = max(now_ms, int(latest[:_BOOT_TIME_DIGITS], 16) + 1)
    return f"{now_ms:0{_BOOT_TIME_DIGITS}x}{secrets.token_hex(4)}"
