"""
What one process does of every minute: some of its buckets, and their part of the registry.

A bucket has all records of its instances and all that is remembered of them,
so no process needs to know what another one reads. What does cross buckets is
which clusters there are: each process admits new ones as if it were alone, and
learns with the next question which of them count.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aggregator.close.registry import Registry
from aggregator.findings.cluster_findings import OwnersSeen
from aggregator.reading.bucket_reader import BucketReader
from aggregator.reading.reading_counts import ReadingCounts
from aggregator.rollups.rollup import RollupInProgress
from neuron_wire.holders import core_indexes
from neuron_wire.merging import merge
from neuron_wire.names import BUSY, NOBODY
from neuron_wire.owners import UNNAMED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from mmap import mmap

    from aggregator.close.registry import Newcomer
    from aggregator.environment import Rules
    from aggregator.findings.bucket_findings import BucketFindings
    from aggregator.findings.detail import RollupFacts
    from aggregator.rollups.rollup import SilentInstance
    from aggregator.storage.table import Table
    from neuron_wire.merging import InstanceMinute
    from neuron_wire.prices import Prices


@dataclass(frozen=True, slots=True)
class MinuteShare:
    """
    What some buckets have of one minute.

    Attributes:
        clusters: What their records add up to, by cluster.

        silent: The clusters that their instances are known in, each with those
            that are silent.

        newcomers: Clusters that were not remembered, in the order of their buckets.

        counts: What was read and what was left out.

        lacks: Somebody has not reported who ought to; then the rest is not whole.

        owners: Of the owners with a finding, those that hold cores, by cluster.
    """

    clusters: Mapping[str, RollupInProgress]
    silent: Mapping[str, Sequence[SilentInstance]]
    newcomers: Sequence[Newcomer]
    counts: ReadingCounts
    lacks: bool
    owners: Mapping[str, OwnersSeen] = field(default_factory=dict)


@dataclass(slots=True)
class BucketShare:
    """
    Some of the buckets.

    Attributes:
        buckets: Their numbers.

        connect: Opens the table in the process that asks for it.

        rules: When an instance is silent, when a core is idle.

        prices: What a core costs.

        check_time: Raises when the run must stop.

        registered: The registry as it was read, by bucket.

        departures: The minutes in which EC2 said that each instance stopped.

        lacking: One byte that all processes see: not 0 once one of them lacks an instance.

        findings: What is open of its buckets; None where nobody wants to know.
    """

    buckets: Sequence[int]
    connect: Callable[[], Table]
    rules: Rules
    prices: Prices
    check_time: Callable[[], None]
    registered: Mapping[int, bytes]
    departures: Mapping[str, Sequence[int]]
    lacking: mmap
    findings: BucketFindings | None = None
    _table: Table = field(init=False)
    _registry: Registry = field(init=False)
    _sightings: _Sightings | None = None

    def begin(self) -> set[str]:
        """Load what is remembered; the clusters in it."""
        self._table = self.connect()
        self._registry = Registry(
            self.rules.silent_after_minutes,
            self.rules.silent_forget_minutes,
            self.rules.max_clusters,
        )
        own = {bucket: text for bucket, text in self.registered.items() if bucket in self.buckets}
        self._registry.load(own)
        self._registry.depart(self.departures)
        return self._registry.clusters

    def reduce(
        self,
        minute: int,
        clusters: set[str],
        *,
        wait: bool,
        watched: Mapping[str, frozenset[str]] | None = None,
    ) -> MinuteShare:
        """
        Read *minute*; with *wait*, until an instance is found to be missing.

        *clusters* are those that are remembered, in whichever process. With
        *watched*, the owners with a finding, findings take the minute in.
        """
        self._registry.agree(clusters)
        counts = ReadingCounts()
        reader = BucketReader(self._table, self._registry, counts, self.check_time, minute)
        minute_clusters: dict[str, RollupInProgress] = {}
        findings = None if watched is None else self.findings
        self._sightings = None if findings is None else _Sightings(findings, watched or {})
        if findings is not None:
            findings.begin(minute)
        for bucket in self.buckets:
            self.check_time()
            if not (wait and self.lacking[0]) and self._add(
                reader, bucket, minute_clusters, wait=wait
            ):
                continue
            self.lacking[0] = 1
            break
        if wait and self.lacking[0]:
            return MinuteShare({}, {}, self._registry.newcomers, counts, lacks=True)
        silent = self._registry.silent_by_cluster(minute)
        if findings is not None:
            findings.miss(self._registry, silent)
        return MinuteShare(
            clusters=minute_clusters,
            silent=silent,
            newcomers=self._registry.newcomers,
            counts=counts,
            lacks=False,
            owners=self._sightings.owners if self._sightings else {},
        )

    def _add(
        self,
        reader: BucketReader,
        bucket: int,
        clusters: dict[str, RollupInProgress],
        *,
        wait: bool,
    ) -> bool:
        """Add one bucket; with *wait*, only if nobody is missing in it."""
        minute = reader.minute
        records_of = reader.read(bucket)
        if wait and self._registry.lacks(bucket, minute, records_of.keys()):
            return False
        for (cluster, instance_id), records in records_of.items():
            instance = merge(records)
            self._registry.see(
                cluster, instance_id, minute, instance.record.instance_type, gone=instance.gone
            )
            if cluster not in clusters:
                clusters[cluster] = RollupInProgress(
                    cluster,
                    self.rules.idle_after_minutes,
                    self.prices,
                    self.rules.paid_by_type,
                )
            clusters[cluster].add(instance)
            if self._sightings is not None:
                self._sightings.add(instance)
        return True

    def pack(self, before_minute: int, clusters: set[str]) -> list[tuple[int, bytes]]:
        """Forget what was before *before_minute*; the buckets of the registry that changed."""
        self._registry.agree(clusters)
        self._registry.forget(before_minute)
        return list(self._registry.packed())

    def keep(self, facts: Mapping[str, RollupFacts]) -> int:
        """The minute was published: its findings are so; how many steps found no room."""
        return self.findings.keep(facts) if self.findings else 0

    def pack_findings(self) -> list[tuple[int, int, bytes]]:
        """The buckets in which something is open, where that changed."""
        return list(self.findings.packed()) if self.findings else []


@dataclass(slots=True)
class _Sightings:
    # What findings want to know of each instance of a minute.
    findings: BucketFindings
    watched: Mapping[str, frozenset[str]]
    owners: dict[str, OwnersSeen] = field(default_factory=dict)

    def add(self, instance: InstanceMinute) -> None:
        self.findings.see(instance)
        record = instance.record
        watched = self.watched.get(record.cluster)
        for owner in record.owners if watched else ():
            name = UNNAMED if owner.name in NOBODY else owner.name
            if watched and name in watched:
                seen = self.owners.setdefault(record.cluster, OwnersSeen())
                seen.holding.add(name)
                if any(record.core_state[core] == BUSY for core in core_indexes(owner.cores)):
                    seen.working.add(name)
