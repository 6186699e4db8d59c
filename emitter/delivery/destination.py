"""
What the sender asks of a place that takes records, and the answers it can get.

An answer is a value, not an exception: each class says what becomes of the
records, so that a new destination cannot forget a case.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emitter.delivery.batches import BatchLimits
    from emitter.spool.records import DropReason, SpooledRecord


@dataclass(frozen=True, slots=True)
class Delivered:
    """
    The destination answered for every record.

    Attributes:
        rejected: The records it did not take, by why: places in the batch,
            from 0. It will not take them the next time either.
    """

    rejected: Mapping[DropReason, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retry:
    """
    Nothing is wrong with the records or the settings: try again soon.

    Attributes:
        reason: One of few words, such as `throttled` or `timeout`.

        sentence: For a person, what happened.
    """

    reason: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Refused:
    """
    Somebody must change something first. The records are kept.

    Attributes:
        reason: One of few words, such as `no_log_group`.

        sentence: For a person: what went wrong, the value found, what to do.
    """

    reason: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Invalid:
    """
    At least one of these records makes the whole call fail, every time.

    Attributes:
        reason: The destination's own words, bounded and without the payload.
    """

    reason: str


Outcome = Delivered | Retry | Refused | Invalid


class Destination(Protocol):
    """A place that takes records."""

    @property
    def limits(self) -> BatchLimits:
        """What one `send` may hold."""

    def send(self, batch: Sequence[SpooledRecord]) -> Outcome:
        """Offer one batch within `limits`; never raises for what the other side does."""

    def close(self) -> None:
        """Let go of connections. It may be sent to again afterwards."""
