"""
What the spool takes and gives back: lines, with the identity they have for ever.

Values only. What a line says is the wire format's business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Why a record is lost on purpose. Bounded: every reason is a member of the minute line.
DropReason = Literal[
    "spool_full",  # the spool reached its size: the oldest go first
    "too_old",  # older than the spool keeps, or than the destination takes
    "too_new",  # further in the future than the destination takes
    "too_large",  # larger than one call, or than the whole spool
    "expired",  # older than the log group's retention, says the service
    "invalid",  # the destination refuses it, whatever it is sent with
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
        id: Place in the order of arrival; never used twice in one spool.

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
