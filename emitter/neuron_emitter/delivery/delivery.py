"""
Take records from the spool, send them, and record the result for each.

A record leaves the spool when the destination has answered for it: delivered, or dropped with a
reason. A temporary failure is retried for as long as the spool keeps the records. A refusal keeps
the records and is logged. An invalid batch is halved until the one record that makes it invalid is
found and quarantined.

This module has no thread and no schedule: `neuron_emitter.delivery.sender` has both. PutLogEvents
can succeed although its response is lost, so a retry may duplicate a line; the line's identity lets
rollups remove the copy.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final

from neuron_emitter.delivery.destination import (
    Delivered,
    Invalid,
    Outcome,
    Refused,
    Undelivered,
    cut,
)
from neuron_emitter.logs import Backoff, Repeats
from neuron_emitter.spool.spool_file import DROPS_LOG_INTERVAL_S

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence

    from neuron_emitter.delivery.destination import Batch, Destination
    from neuron_emitter.logs import Clock
    from neuron_emitter.spool import Spool
    from neuron_emitter.spool.spool_records import DropReason, SpooledRecord

REFUSED_WAIT_S: Final = 60.0  # the next attempt after a person has removed the cause
PROBLEM_LOG_INTERVAL_S: Final = 600.0
# After this many invalid records in a row, the cause is not the records.
MAX_POISON_IN_A_ROW: Final = 100

_ALL_INVALID: Final = (
    f"CloudWatch Logs rejected the last {MAX_POISON_IN_A_ROW} records as invalid ({{why}}), which "
    "is unlikely to be the records' fault. Check the log group and the AWS Health Dashboard."
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Flushed:
    """
    The result of a flush.

    Attributes:
        remaining: Records that stay in the spool, including those of older boots.

        problem: The last answer, which is why records stay; None if nothing failed.
    """

    remaining: int
    problem: Undelivered | None = None


class Delivery:
    """
    The delivery of one spool to one destination. Thread-safe: attempts run one after another.

    Attributes:
        problem: The problem that stops delivery now; None if the last attempt had none.
    """

    def __init__(
        self,
        spool: Spool,
        destination: Destination,
        *,
        clock: Clock = time.time,
        monotonic: Clock = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
        rng: random.Random | None = None,
        quiet: bool = False,
    ) -> None:
        self._quiet = quiet  # the caller reports problems
        self._spool = spool
        self._destination = destination
        self._clock = clock
        self._monotonic = monotonic
        self._sleep = sleep
        self._backoff = Backoff(rng=rng)
        self._mutex = Lock()
        # IDs of an invalid call; the part to try next is last. IDs instead of records, so that
        # records that the spool drops meanwhile are neither sent nor kept in memory.
        self._suspects: list[tuple[int, ...]] = []
        self._poison_in_a_row = 0
        self.problem: Undelivered | None = None
        self._problem_said = False
        self._problem_log = Repeats(PROBLEM_LOG_INTERVAL_S, monotonic)
        self._drop_log = Repeats(DROPS_LOG_INTERVAL_S, monotonic)

    def attempt(self) -> tuple[Outcome | None, float]:
        """
        Send the oldest batch once.

        Returns:
            The answer, None when there was nothing to send; and the seconds to wait before the
            next attempt.

        Raises:
            SpoolFailedError:
                If the spool could not be read, or the answer not be recorded:
                the records are then offered again.
        """
        with self._mutex:
            batch = self._next_batch()
            if not batch:
                return None, 0.0
            outcome = self._destination.send(batch)
            if isinstance(outcome, Invalid) and len(batch) == 1 and self._is_doubtful:
                self._suspects.clear()
                outcome = Refused("all_invalid", _ALL_INVALID.format(why=outcome.reason))
            wait_s = 0.0
            if isinstance(outcome, Delivered):
                self._settle(batch, outcome.rejected)
            elif isinstance(outcome, Invalid):
                self._halve(batch, outcome.reason)
            else:
                is_refusal = isinstance(outcome, Refused)
                wait_s = REFUSED_WAIT_S if is_refusal else self._backoff.next_s()
                self._say(outcome, wait_s)
            return outcome, wait_s

    def flush(self, deadline_s: float) -> Flushed:
        """
        Send until the spool is empty, the destination refuses, or the deadline passes.

        It makes at least one attempt and does not interrupt an attempt. It returns the problem
        without logging it; the caller reports it.

        Raises:
            SpoolFailedError:
                As `attempt` does.
        """
        self._quiet = True
        ends_s = self._monotonic() + deadline_s
        while True:
            outcome, wait_s = self.attempt()
            problem = outcome if isinstance(outcome, Undelivered) else None
            is_over = outcome is None or isinstance(problem, Refused)
            if is_over or self._monotonic() + wait_s >= ends_s:
                break
            if wait_s:
                self._sleep(wait_s)
        return Flushed(self.remaining(), problem)

    def close(self) -> None:
        """Close the destination's connections."""
        with self._mutex:
            self._destination.close()

    def remaining(self) -> int:
        """The number of records in the spool, including those of older boots."""
        health = self._spool.health()
        return health.records + health.older_records

    def _next_batch(self) -> Batch:
        limits = self._destination.limits
        while True:
            if self._suspects:
                records = self._spool.still_held(self._suspects[-1])
            else:
                records = self._spool.oldest(limits.max_events, limits.max_bytes)
                if not records:
                    return ()
            now_ms = round(self._clock() * 1000)  # the age of a record is its age when it is sent
            batches, unsendable = cut(records, now_ms=now_ms, limits=limits)
            self._drop(unsendable)
            if batches:
                return batches[0]  # later batches are cut again, together with new records
            if self._suspects:
                self._suspects.pop()

    def _settle(self, batch: Batch, rejected: Mapping[DropReason, Sequence[int]]) -> None:
        dropped = {
            reason: [batch[place].id for place in places] for reason, places in rejected.items()
        }
        lost = {record_id for ids in dropped.values() for record_id in ids}
        delivered = [record.id for record in batch if record.id not in lost]
        self._spool.settle_records(delivered, dropped)
        self._poison_in_a_row = 0
        self._backoff.reset()
        for reason, ids in dropped.items():
            self._log_drop(reason, len(ids))
        if self.problem is not None and self._problem_said:
            _log.info("delivery resumed", extra={"after": self.problem.reason})
        self.problem = None
        self._problem_said = False

    @property
    def _is_doubtful(self) -> bool:
        """Return True if too many records in a row were rejected for them to be the cause."""
        return self._poison_in_a_row >= MAX_POISON_IN_A_ROW

    def _halve(self, batch: Batch, why: str) -> None:
        if len(batch) == 1:
            self._quarantine(batch, why)
            self._poison_in_a_row += 1
        if self._suspects:
            self._suspects.pop()
        if len(batch) > 1:
            ids = tuple(record.id for record in batch)
            middle = len(ids) // 2
            halves = [ids[middle:], ids[:middle]]
            # If in doubt, send the newest record first: it shows whether the destination has
            # recovered.
            self._suspects += reversed(halves) if self._is_doubtful else halves

    def _quarantine(self, poison: Sequence[SpooledRecord], why: str) -> None:
        self._spool.quarantine(poison, why)
        self._log_drop("invalid", len(poison), why)

    def _drop(self, unsendable: Mapping[DropReason, Sequence[SpooledRecord]]) -> None:
        for reason, records in unsendable.items():
            if reason == "invalid":
                # an empty line is the only invalid record that `cut` finds
                self._quarantine(records, "the line is empty")
            else:
                self._spool.settle_records(dropped={reason: [record.id for record in records]})
                self._log_drop(reason, len(records))

    def _log_drop(self, reason: DropReason, records: int, why: str | None = None) -> None:
        if count := self._drop_log.due(reason, records):
            extra: dict[str, object] = {"count": count, "reason": reason, "stage": "sending"}
            if why is not None:
                extra["why"] = why
            _log.warning("records dropped", extra=extra)

    def _say(self, problem: Undelivered, wait_s: float) -> None:
        self.problem = problem
        if self._quiet:
            return
        if count := self._problem_log.due(problem.reason):
            self._problem_said = True
            _log.log(
                logging.ERROR if isinstance(problem, Refused) else logging.WARNING,
                "delivery refused" if isinstance(problem, Refused) else "delivery delayed",
                extra={
                    "reason": problem.reason,
                    "why": problem.sentence,
                    "attempts": count,
                    "records": self.remaining(),
                    "wait_s": round(wait_s, 1),
                },
            )
