"""
The known instances, and which of them are silent or gone.

An instance is remembered as the runs of minutes in which it reported. A run includes gaps that are
too short to be silence, so the runs depend on which minutes were seen and not on their order: a
minute that is reduced again, or out of order, gets the result that was right then, and an instance
that appeared later was not silent before it existed.

An instance that no longer reports is gone, and not silent, if it shut down cleanly, if EC2 reported
that it stopped, or if it has reported to another cluster since.

The registry is packed by bucket of the instance, like the records, so that the records of one
bucket are compared with the instances of one bucket.

Anyone who can write lines can choose names, so their number is limited: a maximum of clusters, and
for each bucket as much as one item of the table holds. A remembered instance stays until it is
forgotten; a new one is not admitted if there is no room.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from aggregator.environment import MAX_CLUSTERS_WITH_OVERRIDES
from aggregator.minutes import SILENT_FORGET_MINUTES, Departures, has_departed
from aggregator.reading.capacity import MAX_BUCKET_BYTES, BucketCapacity
from aggregator.rollups.rollup import SilentInstance, SilentOf
from aggregator.storage.record_items import TABLE_BUCKETS, bucket_of
from neuron_accounts.findings import pack_json, unpack_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from neuron_wire.merging import Key


@dataclass(slots=True)
class PresenceRun:
    """
    A run of minutes in which an instance reported.

    Attributes:
        first: The first minute it reported in.

        last: The last minute of the run.

        is_clean_shutdown: True if the instance shut down cleanly in its last minute.
    """

    first: int
    last: int
    is_clean_shutdown: bool


@dataclass(slots=True)
class RegistryEntry:
    """
    One instance of one cluster.

    Attributes:
        cluster: Its name.

        instance_type: The last reported type, or None.

        runs: The runs, ascending, with silence between them; none until a minute in which it
            reported has been read completely.

        seen: The latest minute whose record knows a core; None before the first.
    """

    cluster: str
    instance_type: str | None
    runs: list[PresenceRun]
    seen: int | None = None

    @property
    def last(self) -> int:
        """The latest minute in which the instance reported."""
        return self.runs[-1].last

    def extend(self, minute: int, silent_after_minutes: int, *, gone: bool) -> bool:
        """Record a report in *minute*; *gone* means a clean shutdown. Return True on a change."""
        if self.runs and 0 < minute - self.last <= silent_after_minutes + 1:
            self.runs[-1] = PresenceRun(self.runs[-1].first, minute, gone)
            return True
        for run in self.runs:
            if run.first <= minute < run.last or (
                run.last == minute and run.is_clean_shutdown == gone
            ):
                return False
        # Stable sort: a shutdown in this minute wins over an earlier entry.
        runs = sorted([*self.runs, PresenceRun(minute, minute, gone)], key=lambda run: run.last)
        joined = [runs[0]]
        for run in runs[1:]:
            before = joined[-1]
            if run.first - before.last > silent_after_minutes + 1:
                joined.append(run)
            else:
                joined[-1] = PresenceRun(
                    min(before.first, run.first), run.last, run.is_clean_shutdown
                )
        self.runs = joined
        return True

    def run_at(self, minute: int) -> PresenceRun | None:
        """Return the latest run that began in *minute* or before."""
        return next((run for run in reversed(self.runs) if run.first <= minute), None)

    def packed(self, most_runs: int) -> list[object]:
        """Return the entry in the registry's form: the type, then the last *most_runs* runs."""
        runs = self.runs[-most_runs:]
        packed = [[run.first, run.last, int(run.is_clean_shutdown)] for run in runs]
        unseen_minutes = self.last - (self.seen or 0)
        if unseen_minutes:
            packed[-1].append(unseen_minutes if unseen_minutes <= SILENT_FORGET_MINUTES else -1)
        return [self.instance_type, *packed]

    @classmethod
    def unpacked(cls, cluster: str, packed: Sequence[Any]) -> RegistryEntry:
        """Return the entry that `packed` encoded."""
        instance_type, *numbers = packed
        runs = [
            PresenceRun(first, last, bool(is_clean_shutdown))
            for first, last, is_clean_shutdown, *_ in numbers
        ]
        unseen_minutes = sum(numbers[-1][3:])
        seen = None if unseen_minutes < 0 else runs[-1].last - unseen_minutes
        return cls(cluster, instance_type, runs, seen)


_MOST_RUNS: Final = (sys.maxsize, 8, 4, 2, 1)
"""The runs that are kept for each instance: all of them, or fewer if the bucket is too large."""

Presence = Literal["live", "silent", "gone"]


class Newcomer(NamedTuple):
    """A new cluster, the bucket of its first instance, and whether it was published before."""

    bucket: int
    cluster: str
    is_published: bool


@dataclass(slots=True)
class Registry:
    """
    Every instance that is not forgotten.

    Attributes:
        silent_after_minutes: Minutes without a record after which an instance
            is silent.

        max_clusters: Clusters that are remembered at a time.

        departures: The minutes in which EC2 reported that each instance stopped. They are not
            packed: the code that loads the registry sets them again.

        clusters: The remembered clusters.

        newcomers: The remembered clusters that `agree` did not name.
    """

    silent_after_minutes: int
    max_clusters: int = MAX_CLUSTERS_WITH_OVERRIDES
    departures: Departures = field(default_factory=dict)
    clusters: set[str] = field(default_factory=set)
    newcomers: list[Newcomer] = field(default_factory=list)
    # for each instance one entry per cluster
    _buckets: list[dict[str, list[RegistryEntry]]] = field(
        default_factory=lambda: [{} for _ in range(TABLE_BUCKETS)]
    )
    _changed: set[int] = field(default_factory=set)
    _capacities: list[BucketCapacity] = field(
        default_factory=lambda: [BucketCapacity() for _ in range(TABLE_BUCKETS)]
    )

    def load(self, packed: Mapping[int, bytes]) -> None:
        """Load the registry that `packed` encoded."""
        for bucket, payload in packed.items():
            clusters: dict[str, dict[str, list[Any]]] = unpack_json(payload)
            entries: dict[str, list[RegistryEntry]] = {}
            capacity = self._capacities[bucket]
            self.clusters.update(clusters)
            for cluster, instances in clusters.items():
                for instance_id, of_instance in instances.items():
                    entry = RegistryEntry.unpacked(cluster, of_instance)
                    capacity.take_room(cluster, instance_id, entry.instance_type)
                    entries.setdefault(instance_id, []).append(entry)
            self._buckets[bucket] = entries

    def occupied_buckets(self) -> set[int]:
        """Return the buckets with a remembered instance."""
        return {bucket for bucket, instances in enumerate(self._buckets) if instances}

    def agree(self, clusters: Collection[str]) -> None:
        """Remember only *clusters*, for which all processes together have room."""
        refused = self.clusters.difference(clusters)
        self.clusters = set(clusters)
        self.newcomers = []
        if not refused:
            return
        for instances in self._buckets:
            for instance_id, entries in list(instances.items()):
                instances[instance_id] = [
                    entry for entry in entries if entry.cluster not in refused
                ]

    def packed(self) -> Iterator[tuple[int, bytes]]:
        """Return the buckets that changed since they were loaded."""
        for bucket in sorted(self._changed):
            payload = b""
            # Only old runs are lost: a restated minute of that time may miss silent instances.
            for most_runs in _MOST_RUNS:
                payload = self._payload(bucket, most_runs)
                if len(payload) <= MAX_BUCKET_BYTES:
                    break
            yield bucket, payload

    def _payload(self, bucket: int, most_runs: int) -> bytes:
        clusters: dict[str, dict[str, list[object]]] = {}
        for instance_id, entries in sorted(self._buckets[bucket].items()):
            for entry in entries:
                if entry.runs:  # a new entry has no run until its minute is published
                    clusters.setdefault(entry.cluster, {})[instance_id] = entry.packed(most_runs)
        return pack_json(dict(sorted(clusters.items())))

    def admits(self, cluster: str, instance_id: str, *, is_published: bool = False) -> bool:
        """
        Return True if the instance is remembered, or there was room to remember it.

        A cluster that *is_published* needs no room among the clusters.
        """
        return (
            self._entry(bucket_of(instance_id), cluster, instance_id, is_published=is_published)
            is not None
        )

    def _entry(
        self, bucket: int, cluster: str, instance_id: str, *, is_published: bool
    ) -> RegistryEntry | None:
        entries = self._buckets[bucket].get(instance_id, [])
        for entry in entries:
            if entry.cluster == cluster:
                return entry
        is_full = len(self.clusters) >= self.max_clusters
        if is_full and not is_published and cluster not in self.clusters:
            return None
        if not self._capacities[bucket].admits(cluster, instance_id):
            return None
        if cluster not in self.clusters:
            self.clusters.add(cluster)
            self.newcomers.append(Newcomer(bucket, cluster, is_published))
        entry = RegistryEntry(cluster, None, [])
        self._buckets[bucket][instance_id] = [*entries, entry]
        return entry

    def record_presence(
        self,
        cluster: str,
        instance_id: str,
        minute: int,
        instance_type: str | None,
        *,
        gone: bool,
        is_seen: bool = True,
    ) -> None:
        """
        Record that the instance reported in *minute*; *gone* means a clean shutdown in it.

        *is_seen* is True if its record knows a core. An instance that was not admitted is not
        remembered.
        """
        bucket = bucket_of(instance_id)
        entry = self._entry(bucket, cluster, instance_id, is_published=False)
        if entry is None:
            return
        if (
            instance_type not in (None, entry.instance_type)
            and (entry.instance_type is None or minute >= entry.last)
            and self._capacities[bucket].exchanges(entry.instance_type, instance_type)
        ):
            entry.instance_type = instance_type
            self._changed.add(bucket)
        if entry.extend(minute, self.silent_after_minutes, gone=gone):
            self._changed.add(bucket)
        if is_seen and minute > (entry.seen or 0):
            entry.seen = minute
            self._changed.add(bucket)

    def forget(self, before_minute: int) -> None:
        """Drop the runs that ended before *before_minute*."""
        for bucket, instances in enumerate(self._buckets):
            for instance_id, entries in list(instances.items()):
                if all(entry.runs and entry.runs[0].last >= before_minute for entry in entries):
                    continue
                self._changed.add(bucket)
                for entry in entries:
                    entry.runs = [run for run in entry.runs if run.last >= before_minute]
                kept = [entry for entry in entries if entry.runs]
                if kept:
                    instances[instance_id] = kept
                else:
                    del instances[instance_id]

    def expected(self, bucket: int, minute: int, besides: Collection[Key] = ()) -> Iterator[Key]:
        """Return the instances of *bucket* that should report in *minute*, except *besides*."""
        for instance_id, entries in self._buckets[bucket].items():
            for entry in entries:
                key = entry.cluster, instance_id
                if key not in besides:
                    presence, _ = self._presence(instance_id, entry, entries, minute)
                    if presence == "live":
                        yield key

    def lacks(self, bucket: int, minute: int, keys: Collection[Key]) -> bool:
        """
        Return True if an instance of *bucket* that should report in *minute* is not in *keys*.

        An instance that has just moved to another cluster is not awaited in the old one.
        """
        missing = set(self.expected(bucket, minute, besides=keys))
        if not missing:
            return False
        moved = {
            instance_id for _, instance_id in set(keys).difference(self.expected(bucket, minute))
        }
        return any(instance_id not in moved for _, instance_id in missing)

    def silent_by_cluster(self, minute: int) -> SilentOf:
        """
        Return the clusters known in *minute*, each with its silent instances.

        A cluster is known while any of its instances is live or silent.
        """
        clusters: SilentOf = {}
        for instances in self._buckets:
            for instance_id, entries in instances.items():
                for entry in entries:
                    presence, last_minute = self._presence(instance_id, entry, entries, minute)
                    if presence == "gone":
                        continue
                    silent = clusters.setdefault(entry.cluster, [])
                    if presence == "silent":
                        silent.append(SilentInstance(instance_id, entry.instance_type, last_minute))
        return clusters

    def presence(self, cluster: str, instance_id: str, minute: int) -> tuple[Presence, int]:
        """Return the presence of the instance in *minute*, and its minutes of absence."""
        entries = self._buckets[bucket_of(instance_id)].get(instance_id, [])
        for entry in entries:
            if entry.cluster == cluster:
                presence, last_minute = self._presence(instance_id, entry, entries, minute)
                return presence, minute - last_minute
        return "gone", SILENT_FORGET_MINUTES + 1

    def _presence(
        self, instance_id: str, entry: RegistryEntry, entries: Iterable[RegistryEntry], minute: int
    ) -> tuple[Presence, int]:
        """Return the presence of *entry* of an instance in *minute*, and its last report."""
        run = entry.run_at(minute)
        if run is None:
            return "gone", minute  # not present yet
        absent_minutes = minute - run.last
        if absent_minutes <= 0:
            return "live", run.last
        if (
            run.is_clean_shutdown
            or absent_minutes > SILENT_FORGET_MINUTES
            or has_departed(self.departures, instance_id, run.last, minute)
            # The instance has reported since then, to any cluster.
            or any(
                other_run.first <= minute and other_run.last > run.last
                for other in entries
                for other_run in other.runs
            )
        ):
            return "gone", run.last
        if absent_minutes > self.silent_after_minutes:
            return "silent", run.last
        return "live", run.last

    def unseen(self, bucket: int, minute: int, seen: Collection[Key]) -> Iterator[tuple[Key, int]]:
        """
        Return the instances that may work unseen in *minute*, and when each was last seen.

        These are the instances of *bucket* without a known core in *minute* (*seen* has the others)
        that are not forgotten. An instance that shut down cleanly may only be restarting, so it
        counts until another instance would be silent. If *minute* is restated, the time last seen
        is an upper limit; otherwise it is exact.
        """
        for instance_id, entries in self._buckets[bucket].items():
            for entry in entries:
                key = entry.cluster, instance_id
                run = None if key in seen else entry.run_at(minute)
                if run is None or entry.seen is None:
                    continue
                most = self.silent_after_minutes if run.is_clean_shutdown else SILENT_FORGET_MINUTES
                last = entry.seen if entry.seen < minute else min(run.last, minute - 1)
                is_gone = minute - run.last > most or minute - last > SILENT_FORGET_MINUTES
                if not is_gone and not self._left(instance_id, entries, run.last, minute):
                    yield key, last

    def _left(
        self, instance_id: str, entries: Iterable[RegistryEntry], last_minute: int, minute: int
    ) -> bool:
        """Return True if EC2 stopped the instance, or it joined another cluster, since then."""
        return has_departed(self.departures, instance_id, last_minute, minute) or any(
            last_minute < run.first <= minute for entry in entries for run in entry.runs
        )
