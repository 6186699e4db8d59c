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
from aggregator.reading.bucket_reader import BucketReader
from aggregator.reading.reading_counts import ReadingCounts
from aggregator.rollups.rollup import RollupInProgress
from neuron_wire.merging import merge_records

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from mmap import mmap

    from aggregator.close.registry import Key, Newcomer
    from aggregator.environment import Rules
    from aggregator.findings.bucket_findings import BucketFindings
    from aggregator.findings.detail import RollupFacts
    from aggregator.rollups.rollup import SilentInstance
    from aggregator.storage.table import Table
    from neuron_wire import MinuteRecord
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

        incomplete: Clusters of which not all is known: an instance that ought to has not
            reported, or does not tell its cores.
    """

    clusters: Mapping[str, RollupInProgress]
    silent: Mapping[str, Sequence[SilentInstance]]
    newcomers: Sequence[Newcomer]
    counts: ReadingCounts
    lacks: bool
    incomplete: set[str] = field(default_factory=set)


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

    def begin(self) -> set[str]:
        """Load what is remembered; the clusters in it."""
        self._table = self.connect()
        self._registry = Registry(
            self.rules.silent_after_minutes,
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
        taken_in: int | None = None,
    ) -> MinuteShare:
        """
        Read *minute*; with *wait*, until an instance is found to be missing.

        *clusters* are those that are remembered, in whichever process. Findings have
        *taken_in* the minutes up to that one; without it they leave this one alone.
        """
        self._registry.agree(clusters)
        counts = ReadingCounts()
        reader = BucketReader(self._table, self._registry, counts, self.check_time, minute)
        minute_clusters: dict[str, RollupInProgress] = {}
        incomplete: set[str] = set()
        findings = None if taken_in is None else self.findings
        if findings is not None and taken_in is not None:
            findings.begin(minute, taken_in)
        for bucket in self.buckets:
            self.check_time()
            if wait and self.lacking[0]:
                break
            records_of = reader.read(bucket)
            missing = self._registry.incomplete(bucket, minute, records_of.keys())
            if wait and missing:
                self.lacking[0] = 1
                break
            incomplete |= missing | self._add(minute, records_of, minute_clusters, findings)
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
            incomplete=incomplete,
        )

    def _add(
        self,
        minute: int,
        records_of: Mapping[Key, Sequence[MinuteRecord]],
        clusters: dict[str, RollupInProgress],
        findings: BucketFindings | None,
    ) -> set[str]:
        """Add the records of one bucket; the clusters of instances that do not tell their cores."""
        untold: set[str] = set()
        for (cluster, instance_id), records in records_of.items():
            instance = merge_records(records)
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
            if not instance.record.core_state:
                untold.add(cluster)
            if findings is not None:
                findings.see(instance)
        return untold

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
