"""
The lines beside the rollups: where the two say something else, and why.

Rollups are what alarms and the dashboard show; the lines are what happened. A
line that came more than LateMinutes after its minute is in no rollup, a minute
that close never reached has none, and lines that the log group no longer keeps
are in rollups alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from neuron_emf.report.counting import Counting
    from neuron_emf.report.published import Published

NEWEST_MS: Final = 5 * 60_000
"""Rollups come two to four minutes after their minute: a younger one may still come."""

MAX_LISTED: Final = 10
_SMALLEST_USD: Final = 1e-4  # rollups have six decimals, each publication its own


class Cause(Enum):
    """Why a rollup says something else than the lines."""

    TOO_NEW = "the minute is too new for its rollup"
    WITHOUT_ROLLUP = "the minute has no rollup"
    TOO_LATE = "lines came too late for the rollup"
    WITHOUT_LINES = "lines that the rollup counted were not read"
    RULES = "the same lines, counted by other rules"


@dataclass(frozen=True, slots=True)
class Difference:
    """
    One minute of one cluster.

    Attributes:
        cause: Why.

        records: Minute records that were read, and that the rollup counted.

        core_minutes: Idle core minutes of the lines, and of the rollup.

        usd: Their price, the same; None where nobody told one.
    """

    cluster: str
    minute_ms: int
    cause: Cause
    records: tuple[int, int]
    core_minutes: tuple[int, int]
    usd: tuple[float | None, float | None]


@dataclass(slots=True)
class ByCause:
    """
    All minutes that differ for one reason.

    Attributes:
        minutes: How many.

        core_minutes: Idle core minutes that the rollups lack; negative: have too many.

        usd: The same in USD.
    """

    minutes: int = 0
    core_minutes: int = 0
    usd: float = 0.0


@dataclass(slots=True)
class Comparison:
    """
    The whole period.

    Attributes:
        rollups: Distinct rollups that were read; 0 when there was nothing to compare with.

        equal_minutes: Minutes of clusters in which both say the same.

        causes: Those in which they do not, by reason.

        core_minutes: Idle core minutes of the rollups in all.

        usd: USD of the rollups in all.

        worst: The greatest differences, at most 10.

        unreadable: Rollups that cannot be read.
    """

    rollups: int
    unreadable: int = 0
    equal_minutes: int = 0
    core_minutes: int = 0
    usd: float = 0.0
    causes: dict[Cause, ByCause] = field(default_factory=dict)
    worst: list[Difference] = field(default_factory=list)

    @property
    def differing_minutes(self) -> int:
        """Minutes of clusters in which they do not say the same."""
        return sum(one.minutes for one in self.causes.values())


def compare(counting: Counting, published: Published, now_ms: int) -> Comparison:
    """Hold what was counted against what was published."""
    found = Comparison(rollups=published.read, unreadable=published.unreadable)
    if not published.read:
        return found
    differences: list[Difference] = []
    for cluster, minute_ms in sorted(counting.minutes.keys() | published.minutes.keys()):
        difference = _difference(counting, published, (cluster, minute_ms), now_ms)
        told = published.minutes.get((cluster, minute_ms))
        if told is not None:
            found.core_minutes += round(told.core_minutes or 0)
            found.usd += told.usd or 0.0
        if difference is None:
            found.equal_minutes += 1
            continue
        differences.append(difference)
        by_cause = found.causes.setdefault(difference.cause, ByCause())
        by_cause.minutes += 1
        by_cause.core_minutes += difference.core_minutes[0] - difference.core_minutes[1]
        by_cause.usd += (difference.usd[0] or 0.0) - (difference.usd[1] or 0.0)
    differences.sort(key=_place)
    found.worst = differences[:MAX_LISTED]
    return found


def _difference(
    counting: Counting, published: Published, key: tuple[str, int], now_ms: int
) -> Difference | None:
    lines, told = counting.minutes.get(key), published.minutes.get(key)
    counted = (
        lines.records if lines else 0,
        lines.idle.core_minutes if lines else 0,
        (lines.idle.usd if lines else 0.0) or 0.0,
    )
    if told is None:
        is_new = now_ms - key[1] < NEWEST_MS
        cause = Cause.TOO_NEW if is_new else Cause.WITHOUT_ROLLUP
        return _made(key, cause, counted, (0, 0, None))
    said = told.records, round(told.core_minutes or 0), told.usd
    if counted[0] != said[0]:
        cause = Cause.TOO_LATE if counted[0] > said[0] else Cause.WITHOUT_LINES
        return _made(key, cause, counted, said)
    if counted[1] == said[1] and abs(counted[2] - (said[2] or 0.0)) < _SMALLEST_USD:
        return None
    return _made(key, Cause.RULES, counted, said)


def _made(
    key: tuple[str, int],
    cause: Cause,
    lines: tuple[int, int, float | None],
    rollup: tuple[int, int, float | None],
) -> Difference:
    return Difference(
        cluster=key[0],
        minute_ms=key[1],
        cause=cause,
        records=(lines[0], rollup[0]),
        core_minutes=(lines[1], rollup[1]),
        usd=(lines[2], rollup[2]),
    )


def _place(one: Difference) -> tuple[object, ...]:
    usd = abs((one.usd[0] or 0.0) - (one.usd[1] or 0.0))
    return -abs(one.core_minutes[0] - one.core_minutes[1]), -usd, one.minute_ms, one.cluster
