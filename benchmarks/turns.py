"""
Two pieces of work in turns, and what one costs of the other.

A machine that others use is slow for a while and fast for a while. In turns
both pieces meet the same weather: the quotient of a pair is the figure, its
median over many pairs is robust, and the quotient of the two minima is what a
machine of one's own would say.
"""

from __future__ import annotations

import gc
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Turns:
    """
    Seconds of processor time by round.

    Attributes:
        ours_s: Of the work that is measured, one execution.

        theirs_s: Of what it is measured against.
    """

    ours_s: tuple[float, ...]
    theirs_s: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The median quotient of a pair."""
        pairs = zip(self.ours_s, self.theirs_s, strict=True)
        return statistics.median(ours / theirs for ours, theirs in pairs)

    @property
    def least_ratio(self) -> float:
        """The quotient of the two fastest rounds."""
        return min(self.ours_s) / min(self.theirs_s)


def in_turns(
    ours: Callable[[], object], theirs: Callable[[], object], *, rounds: int, times: int
) -> Turns:
    """Do each piece *times* times a round; the one that begins changes with the round."""
    measured: tuple[list[float], list[float]] = ([], [])
    for round_number in range(rounds):
        order = (0, 1) if round_number % 2 else (1, 0)
        for place in order:
            measured[place].append(processor_s((ours, theirs)[place], times))
    return Turns(tuple(measured[0]), tuple(measured[1]))


def processor_s(work: Callable[[], object], times: int = 1) -> float:
    """Processor time of one execution, in seconds; the collector runs as in any process."""
    gc.collect()
    begun = time.process_time_ns()
    for _ in range(times):
        work()
    return (time.process_time_ns() - begun) / times / 1e9
