"""
Deliveries on their way into ingest: late, twice, out of order, retried, kept.

A failed invocation from CloudWatch Logs is retried after one minute and after two more, then kept
in the failure queue; from Kinesis the batch is delivered again. The counts of each invocation are
compared with its input.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from proof.chaos.functions import (
    DONE,
    FAILED,
    HEALTH_STEP,
    Functions,
    InjectedFaults,
    InvocationResult,
)
from proof.chaos.subscription import LINES, UNREADABLE, FilteredDelivery, Shard
from proof.chaos.timeline import Deck, Steps
from proof.factories.invocations import direct

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from proof.chaos.timeline import Timeline

SHARDS = 2
WINDOW_S = (1.0, 20.0)  # seconds in which a batch is collected
RETRIES_S = (60.0, 120.0)
REDRIVE_S = 300.0
RETRY_S = 1.0
DELIVERED_LATE_S = 60.0
LONGEST_INGEST_PAUSE_S = 55.0  # less than the timeout of the function
DELAYS_S = {(0.2, 5.0): 14, (5.0, DELIVERED_LATE_S): 4, (DELIVERED_LATE_S, 180.0): 2}
CARDS = {"": 9, "killed": 4, "kept": 1, "refused": 1, "held up": 2, "met by close": 1}
INGEST_CALLS = ("put_records", "put_markers", HEALTH_STEP)
FIRST_STEPS = 6
KEPT_IN_QUEUE = "direct: kept in the failure queue"
INGEST_TROUBLES = ("delivered late", KEPT_IN_QUEUE, "ingest: held up", "ingest: met by close")


class IngestRuns:
    """
    Everything between the subscription and the table.

    Attributes:
        steps: Steps at which ingest was killed, and steps that are left.

        run_close: Runs close at once.
    """

    def __init__(self, rng: random.Random, timeline: Timeline, functions: Functions) -> None:
        self.steps = Steps("ingest", INGEST_CALLS, rng, timeline.happened)
        self.run_close: Callable[[], None] = lambda: None
        self._rng = rng
        self._timeline = timeline
        self._functions = functions
        self._delays_s = Deck(rng, DELAYS_S)
        self._deck = Deck(rng, CARDS)
        self._shards = [Shard(rng, functions) for _ in range(SHARDS)]
        self._direct: dict[int, FilteredDelivery] = {}  # on their way, by number
        self._under_way = 0
        self._sent = 0
        self._doomed: set[int] = set()
        self._kept: list[FilteredDelivery] = []

    def start_polling(self) -> None:
        """Start to poll the stream."""
        for shard in self._shards:
            first_s = self._rng.uniform(*WINDOW_S)
            self._timeline.after(first_s, partial(self._poll, shard))
        self._timeline.after(REDRIVE_S, self._redrive)

    def send(self, delivery: FilteredDelivery, *, streamed: bool) -> None:
        """Deliver *delivery* some time later, through the stream if it is *streamed*."""
        self._sent += 1
        number = self._sent
        delay_s = self._rng.uniform(*self._delays_s.deal())
        self._timeline.happened["delivered late"] += delay_s > DELIVERED_LATE_S
        if not streamed:
            self._direct[number] = delivery
            self._timeline.after(delay_s, lambda: self._arrive(number))
            return
        self._under_way += 1
        shard = self._shards[sum(delivery.stream.encode()) % SHARDS]

        def put() -> None:
            self._under_way -= 1
            shard.put_delivery(delivery)

        self._timeline.after(delay_s, put)

    def deliver_now(self) -> bool:
        """
        Deliver the oldest delivery on its way now. Return True if there was one.

        Its minute is the most likely to be closed, or to be restated just now.
        """
        if not self._direct:
            return False
        self._arrive(min(self._direct), InjectedFaults())
        return True

    @property
    def is_idle(self) -> bool:
        """Return True if every delivery has arrived."""
        waiting = (
            self._direct or self._under_way or not all(shard.is_empty for shard in self._shards)
        )
        return not waiting and all(delivery.kind == UNREADABLE for delivery in self._kept)

    def lost(self) -> list[FilteredDelivery]:
        """Return deliveries that Lambda dropped although they could be read."""
        found = [*self._kept, *(delivery for shard in self._shards for delivery in shard.given_up)]
        return [delivery for delivery in found if delivery.kind != UNREADABLE]

    def _redrive(self) -> None:
        """Deliver the failure queue once more, as the operator does after the alarm."""
        kept = self._kept
        self._kept = []
        for delivery in kept:
            if delivery.kind == UNREADABLE:
                self._kept.append(delivery)
            else:
                self._timeline.happened["direct: sent again from the failure queue"] += 1
                self.send(delivery, streamed=False)
        self._timeline.after(REDRIVE_S, self._redrive)

    def _arrive(self, number: int, faults: InjectedFaults | None = None) -> None:
        delivery = self._direct.pop(number, None)
        if delivery is not None:  # otherwise it arrived before
            self._attempt(delivery, 0, faults or self._choose_faults(delivery))

    def _attempt(self, delivery: FilteredDelivery, retries: int, faults: InjectedFaults) -> None:
        seen = self._functions.ingest(direct(delivery.payload), faults)
        self._judge([delivery], seen, faults)
        if seen.ended == DONE:
            return
        if retries == len(RETRIES_S):
            self._timeline.happened[KEPT_IN_QUEUE] += 1
            self._doomed.discard(id(delivery))
            self._kept.append(delivery)
            return
        self._under_way += 1

        def again() -> None:
            self._under_way -= 1
            self._attempt(delivery, retries + 1, self._choose_faults(delivery))

        self._timeline.after(RETRIES_S[retries], again)

    def _poll(self, shard: Shard) -> None:
        if not shard.is_empty:
            faults = self._choose_faults(None)
            polled = shard.poll(faults)
            if polled is not None:
                self._judge(*polled, faults)
        window_s = RETRY_S if shard.is_failing else self._rng.uniform(*WINDOW_S)
        self._timeline.after(window_s, lambda: self._poll(shard))

    def _choose_faults(self, delivery: FilteredDelivery | None) -> InjectedFaults:
        """Choose the faults of the next invocation; *delivery* comes directly."""
        if delivery is not None and id(delivery) in self._doomed:
            return InjectedFaults(killed_at=1)
        card = self._deck.deal()
        if card == "kept" and delivery is not None and delivery.kind == LINES:
            self._doomed.add(id(delivery))
            return InjectedFaults(killed_at=1)
        faults_by_card: dict[str, Callable[[], InjectedFaults]] = {
            "killed": self._death,
            "refused": lambda: InjectedFaults(refused_at=self._rng.randint(1, 2)),
            "held up": self._held_up,
            "met by close": lambda: InjectedFaults(
                meets_at=self._rng.randint(1, 2), meets=self._meet_close
            ),
        }
        return faults_by_card.get(card, InjectedFaults)()

    def _death(self) -> InjectedFaults:
        call = self.steps.next_call()
        if call is not None:
            return InjectedFaults(killed_at=(call[0], 1), after=call[1])
        return InjectedFaults(
            killed_at=self._rng.randint(1, FIRST_STEPS), after=self._rng.random() < 0.5
        )

    def _held_up(self) -> InjectedFaults:
        """Delay the invocation before it stores, or between storing and its look at the clock."""
        if self._rng.random() < 0.5:
            return InjectedFaults(meets_at=("put_records", 1), meets=self._pause)
        return InjectedFaults(pause=self._pause)

    def _pause(self) -> None:
        held_up = self._timeline.hold_up("ingest", self._rng.uniform(5.0, LONGEST_INGEST_PAUSE_S))
        self._timeline.happened["ingest: held up"] += held_up
        self.run_close()

    def _meet_close(self) -> None:
        self._timeline.happened["ingest: met by close"] += 1
        self.run_close()

    def _judge(
        self, given: list[FilteredDelivery], seen: InvocationResult, faults: InjectedFaults
    ) -> None:
        """Compare the counts of ingest with its input."""
        cannot_read = sum(delivery.kind == UNREADABLE for delivery in given)
        if self.steps.count_failure(seen, faults):
            return
        if seen.ended == FAILED:
            if cannot_read != len(given):
                self._timeline.complain(f"expected ingest to end in order, found {seen.error}")
            return
        expected = {
            "RecordsRejected": sum(delivery.rejected for delivery in given),
            "RecordsTooLate": 0,
            "DeliveriesUnreadable": cannot_read,
        }
        for name, amount in expected.items():
            if seen.health[name] != amount:
                self._timeline.complain(
                    f"expected ingest to report {name} {amount}, found {seen.health[name]}"
                )
