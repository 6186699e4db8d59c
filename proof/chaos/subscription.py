"""
Make the deliveries of a subscription filter or a stream from accepted events, some of them invalid.

As CloudWatch Logs does, a delivery has compressed lines of one log stream, each event has an ID,
and some deliveries are control messages. Invalid input is also made: lines that no emitter wrote,
lines of the stack's own log groups, and bytes that cannot be unpacked.

A shard of a stream is read in order, as Lambda's poller reads it. After a partial failure the batch
continues from the first failed record. The rest is retried until its first record is given up, and
no later record is read meanwhile.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aggregator.arrivals import LogLine
from proof.chaos.functions import (
    DONE,
    INGEST_GROUP,
    ROLLUPS_GROUP,
    Functions,
    InjectedFaults,
    InvocationResult,
)
from proof.factories.invocations import batch, payload
from proof.factories.records import message

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Sequence

    from neuron_wire import MinuteRecord

MAX_DELIVERED_EVENTS = 40  # in one delivery; CloudWatch Logs documents no limit
MAX_STREAM_BATCH = 8
PUT_ATTEMPTS = 20  # 101 in the template: an unreadable record costs as many invocations
FORGED_MESSAGE = "never-sent"  # a cluster that must never get a rollup

LINES = "lines"
CONTROL = "control message"
OWN_GROUP = "delivery of the rollups' log group"
OWN_LOG = "delivery of ingest's own log group"
UNREADABLE = "unreadable delivery"
ODD = (CONTROL, OWN_GROUP, OWN_LOG, UNREADABLE)
GARBAGE_LINES = (
    "",
    "{",
    "[1]",
    '"CoveredSeconds"',
    '{"CoveredSeconds":60}',
    '{"Schema":99,"Kind":"minute","CoveredSeconds":60}',
    '{"Schema":1,"Kind":"minute","CoveredSeconds":60}',
    '{"Schema":1,"Kind":"minute","CoveredSeconds":NaN}',
    "[" * 3000,
)


@dataclass(frozen=True)
class FilteredDelivery:
    """
    One delivery.

    Attributes:
        kind: `LINES`, or one of `ODD`.

        stream: The log stream.

        events: Its events, without invalid lines.

        payload: The whole delivery as it is sent.

        rejected: Its lines that ingest has to count as rejected.
    """

    kind: str
    stream: str
    events: tuple[LogLine, ...]
    payload: bytes
    rejected: int = 0


class SubscriptionFilter:
    """The subscription filter."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._ids = (f"{number:056d}" for number in itertools.count(1))
        self._garbage = itertools.cycle(GARBAGE_LINES)

    def deliveries(self, records: Iterable[MinuteRecord]) -> list[FilteredDelivery]:
        """Cut accepted records into deliveries of lines, in order."""
        streams: dict[str, list[LogLine]] = defaultdict(list)
        for record in records:
            streams[record.instance_id].append(LogLine(next(self._ids), message(record)))
        return [
            delivery for stream, events in streams.items() for delivery in self.cut(stream, events)
        ]

    def cut(self, stream: str, events: Sequence[LogLine]) -> list[FilteredDelivery]:
        """Cut *events* of one stream at random places."""
        deliveries = []
        left = list(events)
        while left:
            count = self._rng.randint(1, MAX_DELIVERED_EVENTS)
            deliveries.append(self._lines(stream, tuple(left[:count])))
            left = left[count:]
        return deliveries

    def with_garbage(self, delivery: FilteredDelivery) -> FilteredDelivery:
        """Return the same *delivery* with one or two invalid lines."""
        return self._lines(delivery.stream, delivery.events, self._rng.randint(1, 2))

    def odd(self, kind: str, like: FilteredDelivery) -> FilteredDelivery:
        """Return a delivery of *kind* similar to *like*."""
        forged = [LogLine(next(self._ids), _forged(event)) for event in like.events]
        if kind == CONTROL:
            # A control message with valid lines: ingest must ignore them because of the type.
            packed = payload(*forged, log_group="", log_stream="", kind="CONTROL_MESSAGE")
            return FilteredDelivery(kind, "", (), packed)
        if kind == OWN_GROUP:
            packed = payload(*forged, log_group=ROLLUPS_GROUP, log_stream=like.stream)
            return FilteredDelivery(kind, like.stream, (), packed, rejected=len(forged))
        if kind == OWN_LOG:
            packed = payload(*forged, log_group=INGEST_GROUP, log_stream=like.stream)
            return FilteredDelivery(kind, like.stream, (), packed)
        cut_short = like.payload[: self._rng.randrange(len(like.payload) - 8)]
        return FilteredDelivery(kind, like.stream, (), cut_short)

    def _lines(
        self, stream: str, events: tuple[LogLine, ...], garbage: int = 0
    ) -> FilteredDelivery:
        sent = list(events)
        for _ in range(garbage):
            event = LogLine(next(self._ids), next(self._garbage))
            sent.insert(self._rng.randint(0, len(sent)), event)
        packed = payload(*sent, log_stream=stream)
        return FilteredDelivery(LINES, stream, events, packed, rejected=garbage)


class Shard:
    """
    Waiting deliveries in order.

    Attributes:
        given_up: Deliveries without another attempt.
    """

    def __init__(self, rng: random.Random, functions: Functions) -> None:
        self.given_up: list[FilteredDelivery] = []
        self._rng = rng
        self._functions = functions
        self._queue: deque[FilteredDelivery] = deque()
        self._work: tuple[list[FilteredDelivery], int] | None = None

    def put_delivery(self, delivery: FilteredDelivery) -> None:
        """Add *delivery* after the others."""
        self._queue.append(delivery)

    @property
    def is_empty(self) -> bool:
        """Return True if no delivery waits."""
        return not self._queue and self._work is None

    @property
    def is_failing(self) -> bool:
        """Return True if the last attempt must be repeated."""
        return self._work is not None

    def poll(
        self, faults: InjectedFaults
    ) -> tuple[list[FilteredDelivery], InvocationResult] | None:
        """Invoke once if a delivery waits. Return the input and the result."""
        if self._work is None and self._queue:
            count = min(
                len(self._queue), self._rng.randint(MAX_STREAM_BATCH // 2, MAX_STREAM_BATCH)
            )
            self._work = [self._queue.popleft() for _ in range(count)], 1
        if self._work is None:
            return None
        # While it runs, another poll of this shard must find nothing: it is put back below.
        (records, attempt) = self._work
        self._work = None
        seen = self._functions.ingest(batch(*(record.payload for record in records)), faults)
        left = records[_taken(seen, len(records)) :]
        attempt = 1 if len(left) < len(records) else attempt + 1
        if attempt > PUT_ATTEMPTS:
            self.given_up.append(left.pop(0))
            attempt = 1
        if left:
            self._work = left, attempt
        return records, seen


def _forged(event: LogLine) -> str:
    return json.dumps({**json.loads(event.message), "ClusterName": FORGED_MESSAGE})


def _taken(seen: InvocationResult, count: int) -> int:
    """Return how many of a batch of *count* do not have to be delivered again."""
    if seen.ended != DONE:
        return 0
    failed = [failure["itemIdentifier"] for failure in seen.answer["batchItemFailures"]]
    return min((int(name.removeprefix("n-")) for name in failed), default=count)
