"""
Instances that do less than others of their type in their cluster.

A straggler holds up everybody who waits for it: on its busy cores it reaches
less than half of what an instance of its type usually does. All of it is in
whole numbers, so that an instance at exactly the half is none on every
machine and in every order.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from aggregator.rollups.ranking import Ranking

MIN_BUSY_INSTANCES: Final = 4
"""Busy instances of a type from which there is something usual to fall behind."""

MAX_STRAGGLERS: Final = 20  # named; the number beside them is whole


@dataclass(frozen=True, slots=True)
class Straggler:
    """
    One of them.

    Attributes:
        instance_id: Its name.

        instance_type: Its type.

        busy_percent: Mean utilization of its busy cores.

        median_percent: Median of those means over the busy instances of its type.
    """

    instance_id: str
    instance_type: str
    busy_percent: float
    median_percent: float


class _Busy(NamedTuple):
    # The quotient of two such numbers is rounded rightly, and two quotients
    # that differ do so by far more: ordering the floats orders the fractions.
    mean: float
    hundredths: int
    cores: int
    instance_id: str


@dataclass(slots=True)
class Stragglers:
    """The busy instances of a cluster by type."""

    _by_type: dict[str, list[_Busy]] = field(default_factory=lambda: defaultdict(list))

    def add(self, instance_id: str, instance_type: str, hundredths: int, cores: int) -> None:
        """Add an instance whose *cores* busy cores, at least one, sum up to *hundredths* of 1 %."""
        self._by_type[instance_type].append(
            _Busy(hundredths / cores, hundredths, cores, instance_id)
        )

    def include(self, other: Stragglers) -> None:
        """Add the instances of *other*."""
        for instance_type, busy in other._by_type.items():
            self._by_type[instance_type].extend(busy)

    def ranking(self) -> Ranking[Straggler] | None:
        """The stragglers, farthest behind first; None where no type has enough busy instances."""
        judged = [
            (name, busy) for name, busy in self._by_type.items() if len(busy) >= MIN_BUSY_INSTANCES
        ]
        if not judged:
            return None
        ranking: Ranking[Straggler] = Ranking(MAX_STRAGGLERS)
        for instance_type, busy in judged:
            busy.sort()
            # The median is the mean of these two, which are one where the number is odd.
            low, high = busy[(len(busy) - 1) // 2], busy[len(busy) // 2]
            twice_median = low.hundredths * high.cores + high.hundredths * low.cores
            cores = low.cores * high.cores
            for instance in busy:
                if 4 * instance.hundredths * cores >= instance.cores * twice_median:
                    break
                median = twice_median / (2 * cores)
                ranking.add(
                    (instance.mean / median, instance.instance_id),
                    Straggler(
                        instance.instance_id,
                        instance_type,
                        round(instance.mean / 100, 2),
                        round(median / 100, 2),
                    ),
                )
        return ranking
