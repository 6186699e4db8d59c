"""
What a number of a report can be at all.

A count below 0 or a petabyte of memory is a fault of the monitor. A fault is
missing: it must neither spoil a sum nor make a line that cannot be sent.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final, TypeGuard

from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from emitter.reports.groups import System


@dataclass(frozen=True, slots=True)
class FoldSettings:
    """
    What a person may choose about the meaning of a minute.

    Attributes:
        idle_below_percent: Utilization from which a core is busy, 0 to 100.

        period_s: Period of the core counters where we ask for them, else None.

        only_matched: Whether a tag filter hides some runtimes from the reports.

        runtime_lines: Which runtimes a line is due for: `changes`, `all` or `none`.

        executions_asked: Whether the reports were asked for executions.

        every_report: Whether each report is wanted as a sample, and not only
            the minute.

        chosen: Members that somebody chose as metrics: a failure that was not
            there is told as 0.
    """

    idle_below_percent: float = 1.0
    period_s: float | None = None
    only_matched: bool = False
    runtime_lines: str = "changes"
    executions_asked: bool = False
    every_report: bool = False
    chosen: frozenset[str] = frozenset()


MAX_AMOUNT: Final = 1 << 50  # far above any memory or count, and exact as a float
MAX_FLOPS: Final = 1e18  # FLOP/s of one core; the fastest of today does some 1e15
MAX_LATENCY_S: Final = 86_400.0
MAX_VCPU_PERCENT: Final = 1e6  # of one runtime: 10,000 vCPUs at work

PERCENT_DECIMALS: Final = 2


def amount(value: float | None) -> int | None:
    """A count or a size in bytes."""
    return int(value) if value is not None and 0 <= value <= MAX_AMOUNT else None


def as_percent(value: float | None) -> float | None:
    """A percentage, rounded as in a line."""
    return None if value is None else round(value, PERCENT_DECIMALS)


def in_unit(value: float, unit: str) -> int | float:
    """*value* in CloudWatch's *unit*: whole counts and bytes, two decimals of a percentage."""
    if unit in {"Count", "Bytes"}:
        return int(value)
    return round(value, PERCENT_DECIMALS) if unit == "Percent" else value


SHORTEST_PERIOD_S: Final = 0.5  # 1 s is the shortest that can be asked for
LONGEST_PERIOD_S: Final = 86_400.0  # the longest is 15 s, but a machine may be suspended
LONGEST_NOMINAL_S: Final = 15.0  # the longest that can be asked for: assumed while none is known
BELIEVED_PERIODS: Final = 2  # a sample never counts for more than this many nominal periods
_REMEMBERED: Final = 5


class Periods:
    """
    The nominal period of the core counters: configured, else the median of the last five accepted.

    Lines may come every 5 s and counters every 15 s, so no other period stands
    for theirs once a runtime was listed.

    Attributes:
        configured_s: The period that is asked for; None leaves it to the reports.

        has_runtime: Whether a runtime was ever listed.
    """

    def __init__(self, configured_s: float | None) -> None:
        self.has_runtime = False
        self.configured_s = configured_s
        self._accepted_s: deque[float] = deque(maxlen=_REMEMBERED)
        self._system_s: deque[float] = deque(maxlen=_REMEMBERED)

    def accept_period(self, period_s: float) -> float:
        """Remember the period of a report's core counters; return how much of it counts."""
        if self.configured_s is None:
            self._accepted_s.append(period_s)
        elif period_s <= BELIEVED_PERIODS * self.configured_s:  # nearly always: nothing to cut
            return period_s
        return self.believed_s(period_s)

    def accept_system_period(self, period_s: float) -> None:
        """Remember the period of system groups: all there is on a host without runtimes."""
        self._system_s.append(period_s)

    def nominal_s(self) -> float:
        """The nominal period in seconds; while none is known, the longest there is."""
        if self.configured_s is not None:
            return self.configured_s
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
    periods = [group.period for group in groups if group is not None and group.period is not None]
    return max(periods, default=None)


MAX_FUTURE_MINUTES: Final = 120
"""CloudWatch refuses what is further ahead, so after a larger error the clock is followed back."""


class MinuteClock:
    """
    The open minute, if one is, and the one before.

    Attributes:
        now: The epoch minute that is open, or None.
    """

    def __init__(self) -> None:
        self.now: int | None = None
        self._closed: int | None = None  # epoch minute closed last

    def open_minute(self, at_s: float) -> None:
        """Open the minute of *at_s*, seconds since the epoch, unless one is open."""
        if self.now is None:
            label = int(at_s // MINUTE_S)
            if self._closed is not None and label <= self._closed < label + MAX_FUTURE_MINUTES:
                label = self._closed + 1
            self.now = label

    def is_due(self, at_s: float) -> bool:
        """Whether the clock has left the open minute for good."""
        if self.now is None:
            return False
        label = int(at_s // MINUTE_S)
        return label > self.now or self.now - label > MAX_FUTURE_MINUTES

    def ends_at_s(self) -> float | None:
        """End of the open minute, seconds since the epoch."""
        return None if self.now is None else float((self.now + 1) * MINUTE_S)

    def close_minute(self) -> None:
        """Close the open minute."""
        self._closed, self.now = self.now, None
