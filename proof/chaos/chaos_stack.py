"""
The stack's side of the chaos: from accepted lines to rollups.

Deliveries, invocations and ticks are events in simulated time, chosen by a seed:

* A delivery comes late, twice or out of order.
* Ingest is killed and retried, as Lambda does. In the end the delivery waits in the failure queue
  until an operator redelivers it.
* Close is killed at every step in turn, meets other runs, finds the lease of a dead run, and misses
  ticks.
* Both functions are delayed while everything else continues.

The functions are the real handlers. There is one thread: no other code may print to standard output
while it runs.
"""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from neuron_wire.names import MINUTE_S
from proof.chaos import close_runs, ingest_runs
from proof.chaos.chaos_fleet import CHAOS_START_MINUTE
from proof.chaos.close_runs import CloseRuns
from proof.chaos.functions import Functions
from proof.chaos.ingest_runs import IngestRuns
from proof.chaos.subscription import ODD, SubscriptionFilter
from proof.chaos.timeline import Deck, Timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from neuron_wire import MinuteRecord
    from proof.chaos.chaos_fleet import Accepted
    from proof.chaos.subscription import FilteredDelivery

LATE_MINUTES = 120
STEP_S = 7.0  # seconds in which accepted lines are delivered together
AGAIN = {"": 15, "delivered twice": 3, "delivered twice, cut otherwise": 2}
BESIDE_LINES = {"": 8, **dict.fromkeys(ODD, 1)}
GARBAGE_CARDS = {"": 5, "garbage lines": 1}
STACK_TROUBLES = (
    *(name for name in (*AGAIN, *BESIDE_LINES, *GARBAGE_CARDS) if name),
    "through the stream",
    "direct",
)


class ChaosStack:
    """
    Both functions, the table, and everything between them and CloudWatch Logs.

    Attributes:
        printed: Rollup lines (of clusters and of instance types) in order.

        restated: Lines that close printed at the end, when each minute was reduced once more with
            all records. Silence is compared with these lines.

        happened: The number of times that each trouble happened, by its name.

        complaints: Problems that the stack's side found; each is a difference.

        closed: The minutes, since the epoch, that close has closed, with or without lines.
    """

    def __init__(self, seed: int, clusters: Collection[str]) -> None:
        """Make a new stack; half of *clusters*, by *seed*, come through Kinesis."""
        rng = random.Random(f"stack/{seed}")
        self.printed: list[str] = []
        self.restated: list[str] = []
        self._timeline = Timeline()
        self.happened = self._timeline.happened
        self.complaints = self._timeline.complaints
        self.closed = range(0)
        self._functions = Functions(lambda: self._timeline.now_s, self._take)
        self._subscription = SubscriptionFilter(rng)
        self._ingesting = IngestRuns(rng, self._timeline, self._functions)
        self._closes = CloseRuns(rng, self._timeline, self._functions)
        self._ingesting.run_close = self._closes.run
        self._closes.deliver = self._deliver
        self._streamed = set(rng.sample(sorted(clusters), len(clusters) // 2))
        self._again = Deck(rng, AGAIN)
        self._beside = Deck(rng, BESIDE_LINES)
        self._garbage = Deck(rng, GARBAGE_CARDS)
        self._last_sent: FilteredDelivery | None = None
        self._restating = range(0)

    def run(self, lived: Sequence[Accepted]) -> None:
        """Run everything, deliver the rest, and close until no minute is open."""
        start_s = float(CHAOS_START_MINUTE * MINUTE_S)
        self._timeline.now_s = start_s
        self._closes.start_ticks()
        first_closed = self._first_open()
        self._ingesting.start_polling()
        accepted: dict[float, list[MinuteRecord]] = defaultdict(list)
        for line in lived:
            steps = math.ceil((line.at_s - start_s) / STEP_S)
            accepted[start_s + STEP_S * steps].append(line.record)
        for at_s, records in accepted.items():
            self._timeline.at(at_s, partial(self._accept, records))
        minutes = {line.record.minute_ms // 60_000 for line in lived}
        present = int(max(accepted) // MINUTE_S)
        self._timeline.pass_until(max(accepted))
        # Close may have run before the last delivery.
        self._go_on(lambda: self._is_caught_up(present), 30)
        self._restating = range(min(minutes), self._first_open())
        self._functions.table.put_markers(self._restating, "again", 0)
        self._go_on(lambda: self._is_closed(present), 30)
        self._go_on(lambda: self._is_closed(max(minutes)), 3 * LATE_MINUTES)
        self.closed = range(first_closed, self._first_open())
        lost = len(self._ingesting.lost())
        if lost:
            self._timeline.complain(f"expected every delivery to be taken, found {lost} given up")

    def missing(self) -> list[str]:
        """Return the kinds of trouble that have not happened."""
        kinds = [*STACK_TROUBLES, *ingest_runs.INGEST_TROUBLES, *close_runs.CLOSE_TROUBLES]
        kinds += [*self._ingesting.steps.kinds, *self._closes.steps.kinds]
        return [kind for kind in kinds if not self.happened[kind]]

    @property
    def killed_at(self) -> tuple[int, int]:
        """
        Return the steps of close at which it was killed, before and after them, and all steps.
        """
        return self._closes.steps.numbers_hit, len(self._closes.steps.numbers)

    def _accept(self, records: Iterable[MinuteRecord]) -> None:
        for delivery in self._subscription.deliveries(records):
            self._send(delivery)
            self._last_sent = delivery

    def _deliver(self) -> bool:
        """Deliver something now: an old delivery once more if none is on its way."""
        if self._ingesting.deliver_now():
            return True
        if self._last_sent is None:
            return False
        self._ingesting.send(self._last_sent, streamed=False)
        return self._ingesting.deliver_now()

    def _send(self, delivery: FilteredDelivery) -> None:
        streamed = json.loads(delivery.events[0].message)["ClusterName"] in self._streamed
        for sent in self._with_trouble(delivery):
            self.happened["through the stream" if streamed else "direct"] += 1
            self._ingesting.send(sent, streamed=streamed)

    def _with_trouble(self, delivery: FilteredDelivery) -> list[FilteredDelivery]:
        """Return the deliveries in place of *delivery*, and additional ones."""
        deliveries = [delivery]
        if self._garbage.deal():
            deliveries = [self._subscription.with_garbage(delivery)]
            self.happened["garbage lines"] += deliveries[0].rejected
        again = self._again.deal()
        if again == "delivered twice":
            deliveries += deliveries
        elif again:
            deliveries += self._subscription.cut(delivery.stream, delivery.events)
        odd = self._beside.deal()
        if odd:
            deliveries.append(self._subscription.odd(odd, delivery))
        self.happened.update(name for name in (again, odd) if name)
        return deliveries

    def _take(self, line: str) -> None:
        minute = json.loads(line)["_aws"]["Timestamp"] // 60_000
        (self.restated if minute in self._restating else self.printed).append(line)

    def _go_on(self, until: Callable[[], bool], minutes: int) -> None:
        for _ in range(minutes):
            if until():
                return
            self._timeline.pass_until(self._timeline.now_s + MINUTE_S)
        if not until():
            self._timeline.complain(
                f"expected everything to be closed, found something open after {minutes} minutes"
            )

    def _first_open(self) -> int:
        progress = self._functions.table.progress
        return 0 if progress is None else min([*progress.open_minutes, progress.next_minute])

    def _is_closed(self, latest: int) -> bool:
        """Return True if everything arrived and no minute up to *latest* is open or marked."""
        marked = self._functions.table.markers
        everything_came = self._ingesting.is_idle and self._first_open() > latest
        return everything_came and all(minute > latest for minute in marked)

    def _is_caught_up(self, present: int) -> bool:
        """
        Return True if everything arrived and no closed minute up to *present* is marked.

        Time has passed since the *present* minute: a late publication would look like a
        restatement.
        """
        return self._is_closed(max(present, self._first_open() - 1))
