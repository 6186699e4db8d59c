"""A minute put together from what each process read of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from mmap import mmap

    from aggregator.close.outcome import CloseOutcome
    from aggregator.close.registry import Newcomer
    from aggregator.close.share import MinuteShare
    from aggregator.reading.processes import Ask
    from aggregator.rollups.rollup import RollupInProgress, SilentInstance


@dataclass(frozen=True, slots=True)
class ReducedMinute:
    """
    All that there is of one minute.

    Attributes:
        clusters: What the records add up to, by cluster.

        silent: The clusters known in it, each with its silent instances.

        incomplete: Clusters of which not all is known, unless the silent tell it.
    """

    clusters: Mapping[str, RollupInProgress]
    silent: Mapping[str, Sequence[SilentInstance]]
    incomplete: set[str]


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

    def reduce(
        self, minute: int, *, wait: bool, taken_in: int | None = None
    ) -> ReducedMinute | None:
        """
        Read *minute*; with *wait*, None if an instance is missing.

        Findings have *taken_in* the minutes up to that one; without it they leave this one alone.
        """
        shares = self._shares(minute, wait=wait, taken_in=taken_in)
        if not self._remember(one for share in shares for one in share.newcomers):
            # Each process took in what it had room for, and together it is too much: once more
            # with those that count. From then on there is no room left, so this happens once.
            shares = self._shares(minute, wait=wait, taken_in=taken_in)
        for share in shares:
            self.outcome.count(share.counts)
        if any(share.lacks for share in shares):
            return None
        clusters: dict[str, RollupInProgress] = {}
        silent: dict[str, list[SilentInstance]] = defaultdict(list)
        for share in shares:
            for cluster, sums in share.clusters.items():
                if cluster in clusters:
                    clusters[cluster].include(sums)
                else:
                    clusters[cluster] = sums
            for cluster, instances in share.silent.items():
                silent[cluster].extend(instances)
        incomplete = set[str]().union(*(share.incomplete for share in shares))
        return ReducedMinute(clusters, silent, incomplete)

    def packed(self, before_minute: int) -> list[tuple[int, bytes]]:
        """Forget what was before *before_minute*; the buckets of the registry that changed."""
        changed = self.ask("pack", before_minute, self.clusters)
        return sorted(one for share in changed for one in share)

    def _shares(self, minute: int, *, wait: bool, taken_in: int | None) -> list[MinuteShare]:
        self.lacking[0] = 0
        return self.ask("reduce", minute, self.clusters, wait=wait, taken_in=taken_in)

    def _remember(self, newcomers: Iterable[Newcomer]) -> bool:
        """Remember the first of *newcomers* by bucket; whether there was room for all."""
        ordered = sorted(newcomers, key=attrgetter("bucket"))
        self.clusters |= {one.cluster for one in ordered if one.is_published}
        for one in ordered:
            if len(self.clusters) < self.max_clusters:
                self.clusters.add(one.cluster)
        return all(one.cluster in self.clusters for one in ordered)
