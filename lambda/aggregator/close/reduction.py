"""
Reduce one minute of all clusters: each worker reads some buckets, and their shares are merged.

A bucket has all records of its instances and everything that is remembered about them, so no worker
needs the data of another. Only the set of clusters is common to all buckets: each worker admits new
clusters as if it were alone, and learns with the next minute which of them count.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING

from aggregator.close.registry import Registry
from aggregator.reading.bucket_reader import (
    BucketReader,
    ReadingCounts,
    knows_a_core,
    read_last_records,
)
from aggregator.rollups.rollup import RollupInProgress, SilentOf
from neuron_accounts.owner_minutes import UnseenOwners
from neuron_wire.line_members import stands_as
from neuron_wire.merging import merge_clusters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from mmap import mmap

    from aggregator.close.registry import Newcomer
    from aggregator.environment import Rules
    from aggregator.findings.detail import FactsOf
    from aggregator.findings.instance_findings import InstanceFindings
    from aggregator.minutes import Departures, TimeCheck
    from aggregator.reading.workers import Workers
    from aggregator.storage.table import Table
    from neuron_wire.merging import Key, RecordsOf

# A minute of a large fleet is millions of objects with hardly a reference cycle. Searching for
# cycles after each 700, as Python does by default, takes a tenth of the time.
gc.set_threshold(50_000, 20, 100)


@dataclass(slots=True)
class CloseOutcome(ReadingCounts):
    """
    The results of one run, in addition to the reading counts.

    Attributes:
        left: True if another run holds the lease and this run did nothing.

        superseded: True if another run published at the same time, so this run stopped.

        out_of_time: True if minutes are left for the next run.

        minutes_closed: Minutes closed for the first time.

        minutes_restated: Minutes reduced again for late records.

        minutes_waiting: Minutes left to the next run although they are due.

        minutes_dropped: Minutes that were never closed, because closing paused too long or no run
            could read them completely.

        lines_printed: Rollups printed.

        lines_refused: Rollups dropped because CloudWatch would not extract them.

        seconds_behind: Seconds since the end of the latest minute up to which every minute is
            closed.

        findings_failed: Events that the bus did not accept, and that the next run sends again.

        findings_waiting: Steps that were not applied, because too many events wait.
    """

    left: bool = False
    superseded: bool = False
    out_of_time: bool = False
    minutes_closed: int = stands_as("MinutesClosed", 0)
    minutes_restated: int = stands_as("MinutesRestated", 0)
    minutes_waiting: int = stands_as("MinutesWaiting", 0)
    minutes_dropped: int = stands_as("MinutesDropped", 0)
    lines_printed: int = stands_as("LinesPrinted", 0)
    lines_refused: int = stands_as("LinesRefused", 0)
    seconds_behind: float = stands_as("SecondsBehind", 0.0)
    findings_failed: int = 0
    findings_waiting: int = 0


@dataclass(slots=True)
class MinuteShare:
    """
    The share of one minute in some or all buckets.

    Attributes:
        counts: The counts of read and omitted records.

        newcomers: Clusters that were not remembered, in the order of their buckets.

        lacks: True if an expected instance has not reported; then the rest is incomplete.

        clusters: The sums of the records, by cluster.

        silent: The silent instances of every known cluster, by cluster.

        unseen: Owners that may work on instances without telemetry, by cluster.
    """

    counts: ReadingCounts
    newcomers: Sequence[Newcomer] = ()
    lacks: bool = False
    clusters: dict[str, RollupInProgress] = field(default_factory=dict)
    silent: SilentOf = field(default_factory=dict)
    unseen: dict[str, UnseenOwners] = field(default_factory=dict)

    def merge_share(self, other: MinuteShare) -> None:
        """Add the share of other buckets."""
        for cluster, sums in other.clusters.items():
            if cluster in self.clusters:
                self.clusters[cluster].merge_sums(sums)
            else:
                self.clusters[cluster] = sums
        for cluster, instances in other.silent.items():
            self.silent.setdefault(cluster, []).extend(instances)
        for cluster, unseen in other.unseen.items():
            self.unseen.setdefault(cluster, UnseenOwners()).fold_unseen(unseen)


@dataclass(slots=True)
class BucketShare:
    """
    The share of one worker: some of the buckets.

    Attributes:
        buckets: The numbers of the buckets.

        connect: Opens the table in the calling process.

        rules: When an instance is silent, and when a core is idle.

        check_time: Raises an error if the run must stop.

        registered: The stored registry, by bucket.

        departures: The minutes in which EC2 reported that each instance stopped.

        is_missing: One byte that all processes share: not 0 once one of them misses an instance.

        findings: The open findings of its buckets; None if no bus is set.
    """

    buckets: Sequence[int]
    connect: Callable[[], Table]
    rules: Rules
    check_time: TimeCheck
    registered: Mapping[int, bytes]
    departures: Departures
    is_missing: mmap
    findings: InstanceFindings | None = None
    _table: Table = field(init=False)
    _registry: Registry = field(init=False)

    def load_registry(self) -> set[str]:
        """Load the registry. Return the clusters in it."""
        self._table = self.connect()
        rules = self.rules
        self._registry = Registry(rules.silent_after_minutes, rules.max_clusters, self.departures)
        own = {bucket: text for bucket, text in self.registered.items() if bucket in self.buckets}
        self._registry.load(own)
        return self._registry.clusters

    def reduce_share(
        self,
        minute: int,
        clusters: set[str],
        *,
        wait: bool,
        taken_in: int | None = None,
    ) -> MinuteShare:
        """
        Read *minute*; with *wait*, only until an instance is found to be missing.

        *clusters* are the remembered ones of all processes. The findings contain the minutes up to
        *taken_in*; if it is None, they ignore this minute.
        """
        self._registry.agree(clusters)
        share = MinuteShare(ReadingCounts(), self._registry.newcomers)
        reader = BucketReader(self._table, self._registry, share.counts, self.check_time, minute)
        findings = None if taken_in is None else self.findings
        if findings is not None and taken_in is not None:
            findings.begin_minute(minute, taken_in)
        occupied = self._registry.occupied_buckets()
        last_seen: dict[int, dict[Key, int]] = {}
        for bucket, records_of in reader.read_buckets(self.buckets, occupied):
            if wait and (
                self.is_missing[0] or self._registry.lacks(bucket, minute, records_of.keys())
            ):
                self.is_missing[0] = 1
                break
            seen = self._fold_bucket(minute, records_of, share, findings)
            last_seen[bucket] = dict(self._registry.unseen(bucket, minute, seen))
        if wait and self.is_missing[0]:
            return MinuteShare(share.counts, share.newcomers, lacks=True)
        share.silent = self._registry.silent_by_cluster(minute)
        for cluster in share.silent:
            self._in_progress(cluster, share)
        for bucket, of_bucket in last_seen.items():
            for (cluster, _), record in read_last_records(
                self._table, bucket, minute, of_bucket, self.check_time
            ):
                share.unseen.setdefault(cluster, UnseenOwners()).fold_last(record)
        if findings is not None:
            findings.draft_absent(share.silent, self._registry.presence)
        return share

    def _fold_bucket(
        self,
        minute: int,
        records_of: RecordsOf,
        share: MinuteShare,
        findings: InstanceFindings | None,
    ) -> set[Key]:
        """Fold the records of one bucket into *share*. Return the instances that were seen."""
        seen: set[Key] = set()
        for key, instance in merge_clusters(records_of).items():
            cluster, instance_id = key
            is_seen = knows_a_core(instance.record)
            self._registry.record_presence(
                cluster,
                instance_id,
                minute,
                instance.record.instance_type,
                gone=instance.gone,
                is_seen=is_seen,
            )
            if is_seen:
                seen.add(key)
            self._in_progress(cluster, share).fold_instance(instance)
            if findings is not None:
                findings.draft_instance(instance)
        return seen

    def _in_progress(self, cluster: str, share: MinuteShare) -> RollupInProgress:
        if cluster not in share.clusters:
            share.clusters[cluster] = RollupInProgress(cluster, self.rules)
        return share.clusters[cluster]

    def pack_registry(self, before_minute: int, clusters: set[str]) -> list[tuple[int, bytes]]:
        """Forget presence before *before_minute*. Return the changed buckets of the registry."""
        self._registry.agree(clusters)
        self._registry.forget(before_minute)
        return list(self._registry.packed())

    def keep_findings(self, facts: FactsOf) -> int:
        """Keep the findings of the published minute. Return the number of steps left out."""
        return self.findings.keep_drafts(facts) if self.findings else 0

    def pack_findings(self) -> list[tuple[int, int, bytes]]:
        """Return the buckets whose open findings have changed."""
        return list(self.findings.packed_buckets()) if self.findings else []


@dataclass(slots=True)
class Reduction:
    """
    The worker processes of one run.

    Attributes:
        workers: The processes.

        max_clusters: Clusters that are remembered at a time.

        outcome: The counts of read and omitted records.

        is_missing: The byte that all processes share.

        clusters: The remembered clusters.
    """

    workers: Workers[BucketShare]
    max_clusters: int
    outcome: CloseOutcome
    is_missing: mmap
    clusters: set[str]

    def reduce_minute(
        self, minute: int, *, wait: bool, taken_in: int | None = None
    ) -> MinuteShare | None:
        """
        Read *minute*; with *wait*, return None if an instance is missing.

        The findings contain the minutes up to *taken_in*; if it is None, they ignore this minute.
        """
        shares = self._shares(minute, wait=wait, taken_in=taken_in)
        if not self._remember(newcomer for share in shares for newcomer in share.newcomers):
            # Each process admitted as many clusters as it had room for, and together these are too
            # many. Read the minute once more with the admitted clusters. Then no room is left, so
            # this happens only once.
            shares = self._shares(minute, wait=wait, taken_in=taken_in)
        for share in shares:
            self.outcome.fold_counts(share.counts)
        if any(share.lacks for share in shares):
            return None
        whole, *others = shares
        for share in others:
            whole.merge_share(share)
        for cluster, in_progress in whole.clusters.items():
            in_progress.idle.owners.minutes.unseen = whole.unseen.get(cluster, UnseenOwners())
        return whole

    def _shares(self, minute: int, *, wait: bool, taken_in: int | None) -> list[MinuteShare]:
        self.is_missing[0] = 0
        return self.workers.call_each(
            BucketShare.reduce_share, minute, self.clusters, wait=wait, taken_in=taken_in
        )

    def _remember(self, newcomers: Iterable[Newcomer]) -> bool:
        """Remember the first of *newcomers* by bucket. Return True if there was room for all."""
        ordered = sorted(newcomers, key=attrgetter("bucket"))
        self.clusters |= {newcomer.cluster for newcomer in ordered if newcomer.is_published}
        for newcomer in ordered:
            if len(self.clusters) < self.max_clusters:
                self.clusters.add(newcomer.cluster)
        return all(newcomer.cluster in self.clusters for newcomer in ordered)
