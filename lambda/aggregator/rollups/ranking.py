"""The first few of any number of things."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar

_Thing = TypeVar("_Thing")

_SLACK: Final = 10  # times the limit that may wait before the rest is let go


@dataclass(slots=True)
class Ranking(Generic[_Thing]):
    """
    The first *limit* things by key, and how many there were.

    Memory stays that of a few times *limit*, however many are added.

    Attributes:
        limit: How many are kept, at least 1.

        count: How many were added.
    """

    limit: int
    count: int = 0
    _kept: list[tuple[tuple[Any, ...], _Thing]] = field(default_factory=list)

    def add(self, key: tuple[Any, ...], thing: _Thing) -> None:
        """Add *thing*; a smaller *key* comes first, and no two are equal."""
        self.count += 1
        self._kept.append((key, thing))
        if len(self._kept) >= _SLACK * self.limit:
            self._kept = self._first()

    def include(self, other: Ranking[_Thing]) -> None:
        """Add all that was added to *other*."""
        self.count += other.count
        self._kept = [*self._first(), *other._first()]

    def __reduce__(self) -> tuple[object, ...]:
        """To another process goes what may still be among the first."""
        return type(self), (self.limit, self.count, self._first())

    def first(self) -> list[_Thing]:
        """At most *limit* of what was added, the smallest key first."""
        return [thing for _, thing in self._first()]

    def _first(self) -> list[tuple[tuple[Any, ...], _Thing]]:
        return sorted(self._kept, key=itemgetter(0))[: self.limit]
