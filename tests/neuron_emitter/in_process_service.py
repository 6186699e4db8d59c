"""
A `Destination` with CloudWatch Logs' rules and failures, without a network.

It keeps what it applied, even if the sender got no answer, so that a test can compare deliveries
with answers.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from neuron_emitter.delivery.destination import (
    PUT_LOG_EVENTS,
    Delivered,
    Invalid,
    Outcome,
    Refused,
    Retry,
)
from neuron_wire.names import DAY_MS
from proof.logs.rules import POISONED, RECORDS_GROUP, LogRules, ServiceError
from tests.neuron_emitter.delivery.fake_destinations import DELIVERED_STREAM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from neuron_emitter.spool.spool_records import DropReason, SpooledRecord

POISON = "poison"


def places_of(reported: Mapping[str, int], count: int) -> Mapping[DropReason, tuple[int, ...]]:
    """Return the places of the rejected of *count* events, by reason."""
    old_end = reported.get("tooOldLogEventEndIndex", 0)
    places: dict[DropReason, range] = {
        "too_old": range(old_end),
        "expired": range(old_end, reported.get("expiredLogEventEndIndex", old_end)),
        "too_new": range(reported.get("tooNewLogEventStartIndex", count), count),
    }
    return {why: tuple(at) for why, at in places.items() if at}


class SenderKilledError(BaseException):
    """The end of the process, which the emitter must not catch."""


class InProcessService:
    """
    A service with one log stream.

    Attributes:
        mood: Failure of the next calls; None if the calls get an answer.

        skew_s: Seconds by which the service's clock is ahead of the emitter's.

        retention_days: Retention of the log group in days.

        received: How often each record was applied, by boot and number.

        answered: Records for which the sender got a Delivered answer.

        rejected: Reason for each rejected record, if the sender got the answer.

        repeatable: Records applied without an answer, which may be sent again.

        violations: Sentences about calls that broke a rule.
    """

    limits = PUT_LOG_EVENTS

    def __init__(self, clock: Callable[[], float]) -> None:
        self._rules = LogRules(
            lambda: clock() + self.skew_s, {RECORDS_GROUP: {DELIVERED_STREAM}}, poison=POISON
        )
        self.mood: str | None = None
        self.skew_s = 0.0
        self.retention_days = 10_000
        self.received: Counter[tuple[str, int]] = Counter()
        self.lines: dict[tuple[str, int], str] = {}
        self.answered: set[tuple[str, int]] = set()
        self.rejected: dict[tuple[str, int], DropReason] = {}
        self.repeatable: set[tuple[str, int]] = set()
        self.violations: list[str] = []

    def close(self) -> None:
        """Do nothing: the service holds no resources."""

    def send(self, batch: Sequence[SpooledRecord]) -> Outcome:
        """Return the answer for the service's mood."""
        if refusal := self._refusal():
            return refusal
        if self.mood == "killed before":
            raise SenderKilledError
        try:
            rejected = self._rejected(batch)
        except ServiceError as error:
            if error.words != POISONED:
                self.violations.append(error.words)
            return Invalid(error.words)
        keys = {(record.boot, record.seq) for record in batch}
        lost = {(batch[n].boot, batch[n].seq): why for why, at in rejected.items() for n in at}
        self._apply([record for record in batch if (record.boot, record.seq) not in lost])
        if self.mood in {"lost after", "killed after"}:
            self.repeatable |= keys
            if self.mood == "killed after":
                raise SenderKilledError
            return Retry("timeout", "no answer")
        self.answered |= keys - set(lost)
        self.rejected.update(lost)
        self.repeatable -= keys
        return Delivered(rejected)

    def _refusal(self) -> Retry | Refused | None:
        match self.mood:
            case "throttled":
                return Retry("throttled", "rate exceeded")
            case "lost before":
                return Retry("timeout", "no answer")
            case "gone":
                return Retry("unreachable", "no route to host")
            case "denied":
                return Refused("access_denied", "logs:PutLogEvents is not allowed")
        return None

    def _rejected(self, batch: Sequence[SpooledRecord]) -> Mapping[DropReason, tuple[int, ...]]:
        self._rules.retention_ms = self.retention_days * DAY_MS
        events = [{"timestamp": record.timestamp_ms, "message": record.line} for record in batch]
        place = {"logGroupName": RECORDS_GROUP, "logStreamName": DELIVERED_STREAM}
        answer = self._rules.call("PutLogEvents", {**place, "logEvents": events})
        return places_of(answer.get("rejectedLogEventsInfo", {}), len(batch))

    def _apply(self, records: Iterable[SpooledRecord]) -> None:
        for record in records:
            key = (record.boot, record.seq)
            if self.received[key] and key not in self.repeatable:
                self.violations.append(f"{key} was sent again after its answer")
            if self.lines.setdefault(key, record.line) != record.line:
                self.violations.append(f"{key} was sent with another line")
            self.received[key] += 1
