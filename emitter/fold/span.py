"""Which cores a report is about, and what it said about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from emitter.fold.listing import Listing, indexes

if TYPE_CHECKING:
    from collections.abc import Collection


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
