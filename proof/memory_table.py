"""
The table in a dictionary, and a process that can be killed at any of its calls.

`test_store.py` tests this table and the one in DynamoDB with the same contract: this table rejects
what DynamoDB rejects. Nothing expires here.
"""

# ruff: noqa: ARG002

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aggregator.storage.record_items import MAX_KEY_BYTES
from aggregator.storage.table import Table
from aggregator.storage.values import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from aggregator.storage.values import (
        Claim,
        CloseProgress,
        FindingsItem,
        LastRollup,
        Publication,
        RecordItem,
    )
    from neuron_accounts.findings import Detail


MAX_TABLE_ITEM_BYTES = 400 * 1024


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Return *values* as a list; raise TableError for a duplicate, as in one request."""
    listed = list(values)
    if len(set(listed)) < len(listed):
        msg = "a request has a key twice"
        raise TableError(msg)
    return listed


def _check_item(key: str, payload: bytes = b"") -> None:
    """Raise TableError if DynamoDB rejects an item with this sort key and *payload*."""
    if not 0 < len(key.encode()) <= MAX_KEY_BYTES or len(payload) >= MAX_TABLE_ITEM_BYTES:
        msg = f"an item has a key of {len(key)} characters and {len(payload)} bytes"
        raise TableError(msg)


class MemoryTable(Table):
    """The table in a dictionary."""

    def __init__(self) -> None:
        self.records: dict[tuple[int, int], dict[str, bytes]] = defaultdict(dict)
        self.markers: dict[int, str] = {}
        self.lease: tuple[str, float] | None = None
        self.progress: CloseProgress | None = None
        self.publications: dict[int, dict[str, Publication]] = defaultdict(dict)
        self.registry: dict[int, bytes] = {}
        self.findings: dict[str, FindingsItem] = {}
        self.last_rollups: dict[tuple[str, str], tuple[int, str]] = {}
        self.departures: set[tuple[str, int]] = set()
        self.notified: set[str] = set()
        self.claims: dict[str, Claim] = {}
        self.settled: int | None = None
        self.purchases: dict[tuple[int, int], bytes] = {}

    def put_records(self, items: Sequence[RecordItem]) -> None:
        _distinct((item.minute, item.bucket, item.key) for item in items)
        for item in items:
            _check_item(item.key, item.payload)
            self.records[item.minute, item.bucket][item.key] = item.payload

    def put_markers(self, minutes: Iterable[int], token: str, expires_s: int) -> None:
        for minute in _distinct(minutes):
            self.markers[minute] = token

    def read_markers(self, minutes: Iterable[int]) -> dict[int, str]:
        return {minute: self.markers[minute] for minute in minutes if minute in self.markers}

    def clear_marker(self, minute: int, token: str) -> None:
        if self.markers.get(minute) == token:
            del self.markers[minute]

    def read_bucket(self, minute: int, bucket: int) -> Iterator[bytes]:
        return iter([payload for _, payload in sorted(self.records[minute, bucket].items())])

    def take_lease(self, owner: str, now_s: float, expires_s: float) -> bool:
        if self.lease is not None and self.lease[1] >= now_s:
            return False
        self.lease = (owner, expires_s)
        return True

    def release_lease(self, owner: str) -> None:
        if self.lease is not None and self.lease[0] == owner:
            self.lease = None

    def read_progress(self) -> CloseProgress | None:
        return self.progress

    def write_progress(self, progress: CloseProgress) -> None:
        self.progress = progress

    def read_publications(self, minute: int) -> dict[str, Publication]:
        return dict(self.publications[minute])

    def write_publication(
        self, minute: int, cluster: str, publication: Publication, expires_s: int
    ) -> bool:
        _check_item(cluster)
        before = self.publications[minute].get(cluster)
        if before is not None and before.number != publication.number - 1:
            return False
        self.publications[minute][cluster] = publication
        return True

    def read_registry(self) -> dict[int, bytes]:
        return dict(self.registry)

    def write_registry(self, bucket: int, payload: bytes) -> None:
        self.registry[bucket] = payload

    def read_findings(self) -> dict[str, FindingsItem]:
        return dict(self.findings)

    def write_findings(self, place: str, item: FindingsItem, expires_s: int) -> bool:
        _check_item(place, item.payload)
        before = self.findings.get(place)
        if before is not None and before.version != item.version - 1:
            return False
        self.findings[place] = item
        return True

    def write_last_rollup(self, about: LastRollup, cluster: str, minute: int, line: str) -> None:
        _check_item(cluster)
        if self.last_rollups.get((about, cluster), (0, ""))[0] <= minute:
            self.last_rollups[about, cluster] = (minute, line)

    def read_last_rollup(self, about: LastRollup, cluster: str) -> str | None:
        return self.last_rollups.get((about, cluster), (0, None))[1]

    def read_published(
        self, cluster: str, minutes: Iterable[int]
    ) -> Iterator[tuple[int, Publication]]:
        for minute in minutes:
            if cluster in self.publications.get(minute, {}):
                yield minute, self.publications[minute][cluster]

    def put_departure(self, instance_id: str, minute: int, expires_s: int) -> None:
        self.departures.add((instance_id, minute))

    def read_departures(self, first_minute: int, last_minute: int) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for instance_id, minute in self.departures:
            if first_minute <= minute <= last_minute:
                found[instance_id].append(minute)
        return dict(found)

    def read_settled(self) -> int | None:
        return self.settled

    def write_settled(self, next_hour: int) -> None:
        self.settled = next_hour

    def put_purchases(self, hour: int, part: int, payload: bytes, expires_s: int) -> None:
        self.purchases.setdefault((hour, part), payload)

    def read_purchases(self, hour: int, part: int) -> bytes | None:
        return self.purchases.get((hour, part))

    def was_notified(self, transition: str) -> bool:
        return transition in self.notified

    def put_notified(self, transition: str, expires_s: int) -> None:
        self.notified.add(transition)

    def read_claim(self, group: str) -> Claim | None:
        return self.claims.get(group)

    def write_claim(self, group: str, claim: Claim, before: Claim | None, expires_s: int) -> bool:
        if self.claims.get(group) != before:
            return False
        self.claims[group] = claim
        return True


Step = int | tuple[str, int]


class KilledError(BaseException):
    """The process is dead: its calls no longer have an effect."""


@dataclass
class KillableProcess:
    """
    One invocation's view of the table, of stdout and of the event bus.

    Every call is a step, identified by its number, or by its name and its count; both from 1. At
    step *killed_at* the process dies, before the step has its effect or, with *after*, after it. At
    step *meets_at* another process runs first. *calls* are the names of the steps so far.
    """

    table: MemoryTable
    printed: list[str]
    killed_at: Step | None = None
    after: bool = False
    meets_at: Step | None = None
    meets: Callable[[], None] | None = None
    bus: list[Detail] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    is_dead: bool = False

    def emit(self, line: str) -> None:
        self.do("print", lambda: self.printed.append(line))

    def put_events(self, details: Sequence[Detail]) -> list[bool]:
        """Accept all events."""
        self.do("put_events", lambda: self.bus.extend(details))
        return [True] * len(details)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.table, name)
        return lambda *args: self.do(name, lambda: method(*args))

    def do(self, name: str, effect: Callable[[], Any]) -> Any:
        """Do one step."""
        if self.is_dead:
            raise KilledError
        self.calls.append(name)
        step = len(self.calls), (name, self.calls.count(name))
        if self.meets_at in step and self.meets is not None:
            self.meets()
        self.is_dead = self.killed_at in step
        result = effect() if self.after or not self.is_dead else None
        if self.is_dead:
            raise KilledError
        return result
