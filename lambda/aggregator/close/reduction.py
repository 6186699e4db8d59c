"""A minute put together from what each process read of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from aggregator.findings.cluster_findings import OwnersSeen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from mmap import mmap

    from aggregator.close.outcome import CloseOutcome
    from aggregator.close.registry import Newcomer
    from aggregator.close.share import MinuteShare
    from aggregator.reading.processes import Ask
    from aggregator.rollups.rollup import RollupInProgress, SilentInstance

    Watched = Mapping[str, frozenset[str]] | None


@dataclass(frozen=True, slots=True)
class ReducedMinute:
    """
    All that there is of one minute.

    Attributes:
        clusters: What the records add up to, by cluster.

        silent: The clusters known in it, each with its silent instances.

        owners: Of the owners with a finding, those that hold cores, by cluster.
    """

    clusters: Mapping[str, RollupInProgress]
    silent: Mapping[str, Sequence[SilentInstance]]
    owners: Mapping[str, OwnersSeen]


@dataclass(slots=True)
class Reduction:
    """
    The processes of one run.

    Attributes:
        ask: Asks each of them.

        max_clusters: Clusters that are remembered at a time.

        outcome: Where it is counted what was read and what was left out.

        lacking: The byte that all of them see.

        clusters: Those that are remembered.
    """

    ask: Ask
    max_clusters: int
    outcome: CloseOutcome
    lacking: mmap
    clusters: set[str]

    def reduce(self, minute: int, *, wait: bool, watched: Watched = None) -> ReducedMinute | None:
        """
        Read *minute*; with *wait*, None if an instance is missing.

        With *watched*, the owners with a finding, findings take the minute in.
        """
        shares = self._shares(minute, wait=wait, watched=watched)
        if not self._remember(one for share in shares for one in share.newcomers):
            # Each process took in what it had room for, and together it is too much: once more
            # with those that count. From then on there is no room left, so this happens once.
            shares = self._shares(minute, wait=wait, watched=watched)
        for share in shares:
            self.outcome.count(share.counts)
        if any(share.lacks for share in shares):
            return None
        clusters: dict[str, RollupInProgress] = {}
        silent: dict[str, list[SilentInstance]] = defaultdict(list)
        owners: dict[str, OwnersSeen] = defaultdict(OwnersSeen)
        for share in shares:
            for cluster, sums in share.clusters.items():
                if cluster in clusters:
                    clusters[cluster].include(sums)
                else:
                    clusters[cluster] = sums
            for cluster, instances in share.silent.items():
                silent[cluster].extend(instances)
            for cluster, seen in share.owners.items():
                owners[cluster].include(seen)
        return ReducedMinute(clusters, silent, owners)

    def packed(self, before_minute: int) -> list[tuple[int, bytes]]:
        """Forget what was before *before_minute*; the buckets of the registry that changed."""
        changed = self.ask("pack", before_minute, self.clusters)
        return sorted(one for share in changed for one in share)

    def _shares(self, minute: int, *, wait: bool, watched: Watched) -> list[MinuteShare]:
        self.lacking[0] = 0
        return self.ask("reduce", minute, self.clusters, wait=wait, watched=watched)

    def _remember(self, newcomers: Iterable[Newcomer]) -> bool:
        """Remember the first of *newcomers* by bucket; whether there was room for all."""
        ordered = sorted(newcomers, key=attrgetter("bucket"))
        self.clusters |= {one.cluster for one in ordered if one.is_published}
        for one in ordered:
            if len(self.clusters) < self.max_clusters:
                self.clusters.add(one.cluster)
        return all(one.cluster in self.clusters for one in ordered)
