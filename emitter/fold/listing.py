"""
What the runtimes of one report say about each core, merged, and which cores it is about.

Every runtime lists every core it can see, 0 for those it does not use: the
core's utilization is the maximum over its runtimes, never the mean, and its
FLOP/s are the sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from emitter.fold.amounts import MAX_FLOPS
from emitter.fold.inventory import CORE_INDEX

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from collections.abc import Set as AbstractSet

    from emitter.fold.runtime_fold import RuntimeFold
    from emitter.reports.groups import Uses


class Listing(msgspec.Struct, frozen=True, gc=False):
    """
    Cores by index, from 0, but where keys are meant.

    Attributes:
        keys: Keys that are listed, those that no core can have among them.

        percent: Utilization of the cores above 0, at most 100.

        flops: FLOP/s of the cores above 0.

        silent: Cores that some runtime lists without a percentage.

        flopless: Cores of which no runtime told FLOP/s, None when none told of any core.
    """

    keys: set[str]
    percent: dict[int, float]
    flops: dict[int, float]
    silent: set[int]
    flopless: set[int] | None


def merged(  # noqa: C901, PLR0912 - one loop, for its speed
    tables: Iterable[tuple[Uses, RuntimeFold]], weight_s: float
) -> Listing:
    """
    Merge the cores that one report's runtimes list; it counts for *weight_s*.

    What a runtime says of itself goes into its fold on the way.
    """
    keys: set[str] = set()
    percent: dict[int, float] = {}
    flops: dict[int, float] = {}
    silent: set[str] = set()
    flopless: set[str] = set()
    for uses, fold in tables:
        used: list[int] = []
        total_flops = 0.0
        untold = 0
        keys.update(uses)
        # 32 runtimes list 32 cores each, nearly all as 0: this loop is most of
        # the fold, and a core that does nothing passes without its index.
        for key, use in uses.items():
            if use is None:
                silent.add(key)
                flopless.add(key)
                untold += 1
                continue
            share = use.neuroncore_utilization
            if share:
                core = CORE_INDEX.get(key)
                if core is not None and share > 0:
                    used.append(core)
                    if share > percent.get(core, 0.0):
                        percent[core] = min(share, 100.0)
            elif share is None:
                silent.add(key)
            rate = use.effective_flops
            if rate is None:
                rate = use.flops
            if rate:
                core = CORE_INDEX.get(key)
                if not 0 < rate <= MAX_FLOPS:
                    flopless.add(key)
                    untold += 1
                elif core is not None:
                    flops[core] = flops.get(core, 0.0) + rate
                    total_flops += rate
            elif rate is None:
                flopless.add(key)
                untold += 1
        fold.add_cores(used, total_flops if untold < len(uses) else None, weight_s)
    without: set[int] | None = _NO_CORES
    if flopless:
        tells_none = not flops and len(flopless) == len(keys)
        without = None if tells_none else indexes(flopless).difference(flops)
    return Listing(keys, percent, flops, indexes(silent) if silent else _NO_CORES, without)


def indexes(keys: AbstractSet[str]) -> set[int]:
    """The cores that have these keys."""
    return {CORE_INDEX[key] for key in keys if key in CORE_INDEX}


_NO_CORES: Final[set[int]] = set()  # never added to


class Span:
    """
    Which cores a report is about; nearly always the same as the report before.

    Attributes:
        keys: Keys that its runtimes list.

        told: Cores that exist, or None while no report has told.

        listed: Cores that are listed.

        beyond: Cores that exist in this minute because a report of it listed
            them, though nobody told of them.

        cores: All cores it is about: those told and those beyond, not the gaps between.

        width: The greatest index, plus one.

        malformed_keys: Keys that no core can have.
    """

    __slots__ = ("beyond", "cores", "keys", "listed", "malformed_keys", "told", "width")

    def __init__(self, keys: set[str], told: int | None, beyond: frozenset[int]) -> None:
        self.keys = keys
        self.told = told
        self.listed = indexes(keys)
        self.malformed_keys = len(keys) - len(self.listed)
        own = range(told or 0)
        self.beyond = beyond.union(self.listed.difference(own)).difference(own)
        self.cores: Collection[int] = self.beyond.union(own) if self.beyond else own
        self.width = max(len(own), max(self.beyond, default=-1) + 1)


class Sample(NamedTuple):
    """What one report said about the cores *cores*, but for *untold*, over *period_s*."""

    listing: Listing
    span: Span
    cores: Collection[int]
    untold: set[int]
    period_s: float

    def utilization_percent(self, core: int) -> float | None:
        """0 to 100, or None for a core that it says nothing about."""
        return self.listing.percent.get(core, 0.0) if core in self.cores else None

    def tera_flops(self) -> float | None:
        """Achieved 10^12 FLOP/s of all cores together, or None when it told none."""
        if self.listing.flopless is None or not self.span.listed:
            return None
        rates = self.listing.flops.items()
        return sum(rate for core, rate in rates if core not in self.untold) / 1e12
