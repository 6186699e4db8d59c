"""
How long a sample is, and how long it may be believed.

A group's `period` is what the monitor measured, in seconds. The first sample
of the monitor and of every new runtime covers milliseconds, and its
percentages are noise.
"""

from __future__ import annotations

from collections import deque
from statistics import median
from typing import TYPE_CHECKING, Final, TypeGuard

if TYPE_CHECKING:
    from emitter.reports.system_groups import System

SHORTEST_PERIOD_S: Final = 0.5  # 1 s is the shortest that can be asked for
LONGEST_PERIOD_S: Final = 86_400.0  # the longest is 15 s, but a machine may be suspended
LONGEST_NOMINAL_S: Final = 15.0  # that can be asked for: assumed while nothing tells
BELIEVED_PERIODS: Final = 2  # a sample never counts for more than this many nominal periods
_REMEMBERED: Final = 5


class Periods:
    """
    The nominal period of the core counters: configured, else the median of the last five accepted.

    Lines may come every 5 s and counters every 15 s, so no other period stands
    for theirs once a runtime was listed.

    Attributes:
        has_runtime: Whether a runtime was ever listed.
    """

    def __init__(self, configured_s: float | None) -> None:
        self.has_runtime = False
        self._configured_s = configured_s
        self._accepted_s: deque[float] = deque(maxlen=_REMEMBERED)
        self._system_s: deque[float] = deque(maxlen=_REMEMBERED)

    def configure(self, period_s: float | None) -> None:
        """Expect another period from now on, or leave it to the reports."""
        self._configured_s = period_s

    def accept(self, period_s: float) -> float:
        """Remember the period of a report's core counters; say how long it is believed."""
        if self._configured_s is None:
            self._accepted_s.append(period_s)
        return self.believed_s(period_s)

    def accept_system(self, period_s: float) -> None:
        """Remember the period of system groups: all there is on a host without runtimes."""
        self._system_s.append(period_s)

    def nominal_s(self) -> float:
        """The nominal period in seconds; while none is known, the longest there is."""
        if self._configured_s is not None:
            return self._configured_s
        if self._accepted_s:
            return median(self._accepted_s)
        if self._system_s and not self.has_runtime:
            return median(self._system_s)
        return LONGEST_NOMINAL_S

    def believed_s(self, seconds: float) -> float:
        """*seconds*, but at most two nominal periods."""
        return min(seconds, BELIEVED_PERIODS * self.nominal_s())


def is_long_enough(period_s: float | None) -> TypeGuard[float]:
    """Whether a group's percentages mean anything."""
    return period_s is not None and SHORTEST_PERIOD_S <= period_s <= LONGEST_PERIOD_S


def longest_system_period_s(system: System | None) -> float | None:
    """The largest period among the system groups of a report, or None without any."""
    if system is None:
        return None
    groups = (system.memory_info, system.vcpu_usage, system.neuron_hw_counters)
    periods = [one.period for one in groups if one is not None and one.period is not None]
    return max(periods, default=None)
