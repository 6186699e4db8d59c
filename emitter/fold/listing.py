"""
What the runtimes of one report say about each core, merged.

Every runtime lists every core it can see, 0 for those it does not use: the
core's utilization is the maximum over its runtimes, never the mean, and its
FLOP/s are the sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from emitter.fold.amounts import MAX_FLOPS
from emitter.fold.inventory import CORE_INDEX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.reports.groups import Counters


class Listing(msgspec.Struct, frozen=True, gc=False):
    """
    Cores by index, from 0.

    Attributes:
        cores: Cores that are listed.

        percent: Utilization of those above 0, at most 100.

        flops: FLOP/s of those above 0.

        silent: Cores that some runtime lists without a percentage.

        flopless: Cores of which no runtime told FLOP/s.

        malformed_keys: Keys left out because no core can have them.
    """

    cores: set[int]
    percent: dict[int, float]
    flops: dict[int, float]
    silent: set[int]
    flopless: set[int]
    malformed_keys: int


def merged(groups: Iterable[Counters]) -> Listing:
    """
    Merge the counters of one report's runtimes.
    """
    cores: set[int] = set()
    percent: dict[int, float] = {}
    flops: dict[int, float] = {}
    silent: set[int] = set()
    flopless: set[int] = set()
    malformed_keys = 0
    for counters in groups:
        # 32 runtimes list 32 cores each, nearly all as 0: this loop is most of the fold.
        for key, use in (counters.neuroncores_in_use or {}).items():
            core = CORE_INDEX.get(key)
            if core is None:
                malformed_keys += 1
                continue
            cores.add(core)
            share = use.neuroncore_utilization
            if share is None:
                silent.add(core)
            elif share and share > percent.get(core, 0.0):
                percent[core] = min(share, 100.0)
            rate = use.effective_flops
            if rate is None:
                rate = use.flops
            if rate is None or not 0 <= rate <= MAX_FLOPS:
                flopless.add(core)
            elif rate:
                flops[core] = flops.get(core, 0.0) + rate
    if flops:
        flopless.difference_update(flops)
    return Listing(cores, percent, flops, silent, flopless, malformed_keys)
