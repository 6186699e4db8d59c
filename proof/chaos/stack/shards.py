"""
One shard of a stream of deliveries, read as Lambda's poller does.

In order; a batch that fails as a whole is cut in half, one that failed in part
goes on from the first record that was named, and what is left is tried again
until it is given up: nothing behind it moves meanwhile.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from proof.chaos.stack.functions import DONE, Fate, Functions, InvocationResult
from proof.factories.invocations import batch

if TYPE_CHECKING:
    import random

    from proof.chaos.stack.subscription import FilteredDelivery

MAX_BATCH = 8
ATTEMPTS = 20  # 101 by the template: an unreadable record costs as many invocations


class Shard:
    """
    Deliveries that wait in order.

    Attributes:
        given_up: Deliveries that no attempt is left for.
    """

    def __init__(self, rng: random.Random, functions: Functions) -> None:
        self.given_up: list[FilteredDelivery] = []
        self._rng = rng
        self._functions = functions
        self._queue: deque[FilteredDelivery] = deque()
        self._work: list[tuple[list[FilteredDelivery], int]] = []

    def put(self, delivery: FilteredDelivery) -> None:
        """Put *delivery* behind the others."""
        self._queue.append(delivery)

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not self._queue and not self._work

    @property
    def is_failing(self) -> bool:
        """Whether what was tried is to be tried again."""
        return bool(self._work)

    def poll(self, fate: Fate) -> tuple[list[FilteredDelivery], InvocationResult] | None:
        """One invocation, if anything waits: what it was given and what became of it."""
        if not self._work and self._queue:
            count = min(len(self._queue), self._rng.randint(MAX_BATCH // 2, MAX_BATCH))
            self._work.append(([self._queue.popleft() for _ in range(count)], 1))
        if not self._work:
            return None
        records, attempt = self._work.pop()
        # While it runs another poll of this shard must find nothing: it is pushed back below.
        seen = self._functions.ingest(batch(*(one.payload for one in records)), fate)
        left = records[_taken(seen, len(records)) :]
        if left and len(left) < len(records):
            self._work.append((left, 1))
        elif left and len(left) > 1:
            half = len(left) // 2
            self._work += [(left[half:], attempt), (left[:half], attempt)]
        elif left and attempt >= ATTEMPTS:
            self.given_up.append(left[0])
        elif left:
            self._work.append((left, attempt + 1))
        return records, seen


def _taken(seen: InvocationResult, count: int) -> int:
    """How many of a batch of *count* need not be brought again."""
    if seen.ended != DONE:
        return 0
    failed = [one["itemIdentifier"] for one in seen.answer["batchItemFailures"]]
    return min((int(name.removeprefix("n-")) for name in failed), default=count)
