"""
One minute of all clusters: each worker reads some buckets, and their shares are merged.

A bucket has all records of its instances and all that is remembered of them,
so no worker needs to know what another one reads. What does cross buckets is
which clusters there are: each worker admits new ones as if it were alone, and
learns with the next minute which of them count.
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
    from neuron_accounts.prices import Prices
    from neuron_wire.merging import Key, RecordsOf

# A minute of a large fleet is millions of objects and hardly a circle among them: to look for
# circles after each 700, as Python does by itself, takes a tenth of the time.
gc.set_threshold(50_000, 20, 100)


@dataclass(slots=True)
class CloseOutcome(ReadingCounts):
    """
    What one run did, beside what it read.

    Attributes:
        left: Another run has the lease; nothing was done.

        superseded: Another run published at the same time; this one stopped.

        out_of_time: Minutes are left for the next run.

        minutes_closed: Minutes closed for the first time.

        minutes_restated: Minutes reduced again for late records.

        minutes_waiting: Minutes left to the next run although they are due.

        minutes_dropped: Minutes never closed, because closing paused too long
            or no run could read them whole.

        lines_printed: Rollups printed.

        lines_refused: Rollups dropped because CloudWatch would not extract them.

        seconds_behind: Seconds since the end of the latest minute up to which
            every minute is closed.

        findings_failed: Events that the bus has not taken, and that the next run sends again.

        findings_waiting: Steps that were not taken, because too many events wait.
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
    What some buckets, or all, have of one minute.

    Attributes:
        counts: What was read and what was left out.

        newcomers: Clusters that were not remembered, in the order of their buckets.

        lacks: An instance that ought to has not reported; then the rest is not whole.

        clusters: What their records add up to, by cluster.

        silent: The clusters that their instances are known in, each with those
            that are silent.

        unseen: Owners that may work on instances without telemetry, by cluster.
    """

    counts: ReadingCounts
    newcomers: Sequence[Newcomer] = ()
    lacks: bool = False
    clusters: dict[str, RollupInProgress] = field(default_factory=dict)
    silent: SilentOf = field(default_factory=dict)
    unseen: dict[str, UnseenOwners] = field(default_factory=dict)

    def merge_share(self, other: MinuteShare) -> None:
        """Add what other buckets have."""
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
    Some of the buckets.

    Attributes:
        buckets: Their numbers.

        connect: Opens the table in the process that asks for it.

        rules: When an instance is silent, when a core is idle.

        prices: What a core costs.

        check_time: Raises when the run must stop.

        registered: The registry as it was read, by bucket.

        departures: The minutes in which EC2 said that each instance stopped.

        is_missing: One byte that all processes see: not 0 once one of them misses an instance.

        findings: What is open of its buckets; None where nobody wants to know.
    """

    buckets: Sequence[int]
    connect: Callable[[], Table]
    rules: Rules
    prices: Prices
    check_time: TimeCheck
    registered: Mapping[int, bytes]
    departures: Departures
    is_missing: mmap
    findings: InstanceFindings | None = None
    _table: Table = field(init=False)
    _registry: Registry = field(init=False)

    def load_registry(self) -> set[str]:
        """Load what is remembered; the clusters in it."""
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
        Read *minute*; with *wait*, until an instance is found to be missing.

        *clusters* are those that are remembered, in whichever process. Findings have
        *taken_in* the minutes up to that one; without it they leave this one alone.
        """
        self._registry.agree(clusters)
        share = MinuteShare(ReadingCounts())
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
            return MinuteShare(share.counts, self._registry.newcomers, lacks=True)
        share.newcomers = self._registry.newcomers
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
        """Fold the records of one bucket into *share*; return the instances that are seen."""
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
            share.clusters[cluster] = RollupInProgress(
                cluster, self.rules.idle_after_minutes, self.prices, self.rules.paid_by_type
            )
        return share.clusters[cluster]

    def pack_registry(self, before_minute: int, clusters: set[str]) -> list[tuple[int, bytes]]:
        """Forget what was before *before_minute*; the buckets of the registry that changed."""
        self._registry.agree(clusters)
        self._registry.forget(before_minute)
        return list(self._registry.packed())

    def keep_findings(self, facts: FactsOf) -> int:
        """Keep the findings of the minute that was published; how many steps found no room."""
        return self.findings.keep_drafts(facts) if self.findings else 0

    def pack_findings(self) -> list[tuple[int, int, bytes]]:
        """The buckets in which something is open, where that changed."""
        return list(self.findings.packed_buckets()) if self.findings else []


@dataclass(slots=True)
class Reduction:
    """
    The processes of one run.

    Attributes:
        ask: Asks each of them.

        max_clusters: Clusters that are remembered at a time.

        outcome: Where it is counted what was read and what was left out.

        is_missing: The byte that all of them see.

        clusters: Those that are remembered.
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
        Read *minute*; with *wait*, None if an instance is missing.

        Findings have *taken_in* the minutes up to that one; without it they leave this one alone.
        """
        shares = self._shares(minute, wait=wait, taken_in=taken_in)
        if not self._remember(newcomer for share in shares for newcomer in share.newcomers):
            # Each process took in what it had room for, and together it is too much: once more
            # with those that count. From then on there is no room left, so this happens once.
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
        """Remember the first of *newcomers* by bucket; whether there was room for all."""
        ordered = sorted(newcomers, key=attrgetter("bucket"))
        self.clusters |= {newcomer.cluster for newcomer in ordered if newcomer.is_published}
        for newcomer in ordered:
            if len(self.clusters) < self.max_clusters:
                self.clusters.add(newcomer.cluster)
        return all(newcomer.cluster in self.clusters for newcomer in ordered)
