"""
Which instances there are, and which of them have gone silent.

An instance is remembered as the runs of minutes in which it reported. A run
bridges the gaps that are too short to be silence, so the runs depend on which
minutes were seen and not on the order in which they came: a minute that is
reduced again, or out of turn, gets the answer that was true then, and an
instance that appeared later was not silent before it existed.

Packed by bucket of the instance, like the records, so that the records of one
bucket answer for the instances of one bucket.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from aggregator.item import BUCKETS, bucket_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Presence = Literal["live", "silent", "gone"]
Key = tuple[str, str]  # cluster, instance


@dataclass(slots=True)
class Run:
    """
    Minutes in which an instance was there.

    Attributes:
        first: The first minute it reported in.

        last: The last one.

        bye: It said goodbye in the last one.
    """

    first: int
    last: int
    bye: bool


@dataclass(slots=True)
class Entry:
    """
    One instance of one cluster.

    Attributes:
        instance_type: As last reported, or None.

        runs: At least one, ascending, with silence between them.
    """

    instance_type: str | None
    runs: list[Run]

    @property
    def last(self) -> int:
        """
        The latest minute in which the instance reported.
        """
        return self.runs[-1].last


@dataclass(frozen=True, slots=True)
class Silent:
    """
    An instance that stopped reporting without a goodbye.

    Attributes:
        instance_id: Its name.

        instance_type: As last reported, or None.

        last_minute: The last minute it reported in.
    """

    instance_id: str
    instance_type: str | None
    last_minute: int


@dataclass(slots=True)
class Registry:
    """
    Every instance that is not forgotten.

    Attributes:
        silent_after_minutes: Minutes without a record after which an instance
            is silent.

        silent_forget_minutes: Minutes without a record after which it is
            forgotten.
    """

    silent_after_minutes: int
    silent_forget_minutes: int
    _buckets: list[dict[Key, Entry]] = field(default_factory=lambda: [{} for _ in range(BUCKETS)])
    _changed: set[int] = field(default_factory=set)

    def load(self, packed: Mapping[int, bytes]) -> None:
        """
        Take over what `packed` gave.
        """
        for bucket, payload in packed.items():
            clusters: dict[str, dict[str, list[Any]]] = json.loads(zlib.decompress(payload))
            self._buckets[bucket] = {
                (cluster, instance_id): Entry(
                    instance_type, [Run(first, last, bool(bye)) for first, last, bye in runs]
                )
                for cluster, instances in clusters.items()
                for instance_id, (instance_type, *runs) in instances.items()
            }

    def packed(self) -> Iterator[tuple[int, bytes]]:
        """
        The buckets that changed since they were loaded.
        """
        for bucket in sorted(self._changed):
            clusters: dict[str, dict[str, list[object]]] = {}
            for (cluster, instance_id), entry in sorted(self._buckets[bucket].items()):
                clusters.setdefault(cluster, {})[instance_id] = [
                    entry.instance_type,
                    *([run.first, run.last, int(run.bye)] for run in entry.runs),
                ]
            text = json.dumps(clusters, separators=(",", ":"))
            yield bucket, zlib.compress(text.encode(), 9)

    def see(
        self, cluster: str, instance_id: str, minute: int, instance_type: str | None, *, gone: bool
    ) -> None:
        """
        The instance reported in *minute*, and with *gone* said goodbye in it.
        """
        bucket = bucket_of(instance_id)
        entry = self._buckets[bucket].get((cluster, instance_id))
        if entry is None:
            entry = Entry(instance_type, [])
            self._buckets[bucket][cluster, instance_id] = entry
        elif instance_type not in (None, entry.instance_type) and (
            entry.instance_type is None or minute >= entry.last
        ):
            entry.instance_type = instance_type
            self._changed.add(bucket)
        if self._extend(entry, minute, gone=gone):
            self._changed.add(bucket)

    def _extend(self, entry: Entry, minute: int, *, gone: bool) -> bool:
        for run in entry.runs:
            if run.first <= minute < run.last or (run.last == minute and run.bye == gone):
                return False
        # Last of equals, so that this minute's own word on goodbye is the one that stays.
        runs = sorted([*entry.runs, Run(minute, minute, gone)], key=lambda run: run.last)
        joined = [runs[0]]
        for run in runs[1:]:
            before = joined[-1]
            if run.first - before.last > self.silent_after_minutes + 1:
                joined.append(run)
            else:
                joined[-1] = Run(min(before.first, run.first), run.last, run.bye)
        entry.runs = joined
        return True

    def forget(self, before_minute: int) -> None:
        """
        Drop the runs that ended before *before_minute*.
        """
        for bucket, entries in enumerate(self._buckets):
            for key, entry in list(entries.items()):
                kept = [run for run in entry.runs if run.last >= before_minute]
                if len(kept) == len(entry.runs):
                    continue
                self._changed.add(bucket)
                if kept:
                    entry.runs = kept
                else:
                    del entries[key]

    def expected(self, bucket: int, minute: int) -> Iterator[Key]:
        """
        The instances of *bucket* that ought to report in *minute*.
        """
        for key, entry in self._buckets[bucket].items():
            presence, _ = self._presence(entry, minute)
            if presence == "live":
                yield key

    def silent_by_cluster(self, minute: int) -> dict[str, list[Silent]]:
        """
        The clusters known in *minute*, each with its silent instances.

        A cluster is known while any of its instances is live or silent.
        """
        clusters: dict[str, list[Silent]] = {}
        for entries in self._buckets:
            for (cluster, instance_id), entry in entries.items():
                presence, last_minute = self._presence(entry, minute)
                if presence == "gone":
                    continue
                silent = clusters.setdefault(cluster, [])
                if presence == "silent":
                    silent.append(Silent(instance_id, entry.instance_type, last_minute))
        return clusters

    def _presence(self, entry: Entry, minute: int) -> tuple[Presence, int]:
        for run in reversed(entry.runs):
            if run.first > minute:
                continue
            absent_minutes = minute - run.last
            if absent_minutes <= 0:
                return "live", run.last
            if run.bye or absent_minutes > self.silent_forget_minutes:
                return "gone", run.last
            if absent_minutes > self.silent_after_minutes:
                return "silent", run.last
            return "live", run.last
        return "gone", minute  # not there yet
