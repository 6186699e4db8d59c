"""
Open findings during one run of close: read once, changed by minutes, written, sent.

Minutes are folded in order: a minute that closed before an earlier one is read again after it,
because its records are the stored truth. A late record adds only faults to a minute that was
folded. A step is written before its event is sent: every sent event is true, whatever crashes. An
item is replaced only if it is still as it was read, so one of two simultaneous runs stops.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aggregator.findings.instance_findings import InstanceFindings
from aggregator.findings.outbox import send_due
from aggregator.findings.owner_findings import OwnerFindings
from aggregator.minutes import end_s
from aggregator.reading.capacity import MAX_BUCKET_BYTES
from aggregator.storage.table import LAST_ROLLUP_LIFE_S
from aggregator.storage.values import FindingsItem
from neuron_accounts.findings import CLUSTER_PLACE, FindingsState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from aggregator.environment import Rules
    from aggregator.findings.detail import FactsOf
    from aggregator.findings.outbox import FindingsOutlet
    from aggregator.rollups.rollup import RollupInProgress
    from aggregator.storage.table import Table


@dataclass(slots=True)
class NoFindings:
    """
    The findings of a stack without an event bus: no finding is read, kept or sent.

    Attributes:
        minute: The newest minute that was folded while there was a bus.

        untaken: No minute waits for findings.

        steps_waiting: No step waits.
    """

    minute: int
    untaken: set[int] = field(default_factory=set)
    steps_waiting: int = 0

    def takes_in(self, _minute: int) -> bool:
        """Return False: no minute is taken in."""
        return False

    def bucket_findings(self, _buckets: Iterable[int]) -> None:
        """Return None: no bucket has findings."""

    def take_in_minute(self, *_minute: object) -> None:
        """Change nothing: no finding is kept."""

    def write_findings(self, _buckets: Iterable[tuple[int, int, bytes]]) -> bool:
        """Return True: there is nothing to write."""
        return True

    def send_events(self, _has_time: Callable[[], bool]) -> int:
        """Return 0: no event failed."""
        return 0


@dataclass(slots=True)
class FindingsBook:
    """
    The open findings of one run of close.

    Attributes:
        table: The stack's table.

        rules: Settings: the minutes until a core is idle, and until an owner is forgotten.

        outlet: The destination of finding events.

        minute: The newest folded minute.

        untaken: Minutes to fold: open minutes, and minutes that closed early.

        faults_from: The first minute that late records may still be added to.

        waiting: Steps of instances without room, and items that are too large.
    """

    table: Table
    rules: Rules
    outlet: FindingsOutlet
    minute: int
    untaken: set[int]
    faults_from: int
    waiting: int = 0
    _items: dict[str, FindingsItem] = field(init=False)
    _clusters: OwnerFindings = field(init=False)

    def __post_init__(self) -> None:
        """Read the open findings."""
        self._items = self.table.read_findings()
        states = {
            place.removeprefix(CLUSTER_PLACE): FindingsState.unpacked(item.payload)
            for place, item in self._items.items()
            if place.startswith(CLUSTER_PLACE)
        }
        self._clusters = OwnerFindings(states, self.rules, self.outlet.groups)

    def bucket_findings(self, buckets: Iterable[int]) -> InstanceFindings:
        """Return the open findings of *buckets*."""
        states = {}
        for bucket in buckets:
            item = self._items.get(_place(bucket))
            states[bucket] = FindingsState.unpacked(item.payload) if item else FindingsState()
            states[bucket].forget_faults(self.faults_from)
        return InstanceFindings(states, self.rules, self.outlet.groups)

    def takes_in(self, minute: int) -> bool:
        """Return True if no earlier minute must be folded before *minute*."""
        return minute <= min(self.untaken, default=minute)

    def take_in_minute(
        self,
        minute: int,
        clusters: Mapping[str, RollupInProgress],
        facts: FactsOf,
        steps_waiting: int,
    ) -> None:
        """
        Step the owners of *clusters* after *minute* and all earlier minutes were published.

        *steps_waiting* steps of its instances found no room.
        """
        self.waiting += steps_waiting
        if minute > self.minute:
            self._clusters.step_minute(minute, clusters, facts)
            self.minute = minute
        self.untaken.discard(minute)

    @property
    def steps_waiting(self) -> int:
        """The number of steps without room."""
        return self.waiting + self._clusters.waiting

    def write_findings(self, buckets: Iterable[tuple[int, int, bytes]]) -> bool:
        """Write the changed *buckets* and clusters. Return False if another run wrote them."""
        changed = [
            (f"{CLUSTER_PLACE}{cluster}", due, payload)
            for cluster, due, payload in self._clusters.packed_clusters()
        ]
        changed += [(_place(bucket), due, payload) for bucket, due, payload in buckets]
        return all(self._write(place, due, payload) for place, due, payload in changed)

    def _write(self, place: str, due: int, payload: bytes) -> bool:
        if len(payload) > MAX_BUCKET_BYTES:  # Drop oversized findings rather than block close.
            self.waiting += 1
            return True
        before = self._items.get(place)
        item = FindingsItem(before.version + 1 if before else 1, due, payload)
        self._items[place] = item
        return self.table.write_findings(place, item, self._expires_s)

    def send_events(self, has_time: Callable[[], bool]) -> int:
        """Send due events, the oldest first. Return the number that the bus did not accept."""
        return send_due(self.outlet, self.table, self._items, self._expires_s, has_time)

    @property
    def _expires_s(self) -> int:
        return end_s(self.minute) + LAST_ROLLUP_LIFE_S


def _place(bucket: int) -> str:
    return f"{bucket:02d}"
