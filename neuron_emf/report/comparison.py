"""
The lines beside the rollups: where the two say something else, and why.

Rollups are what alarms and the dashboard show; the lines are what happened. A
line that came more than LateMinutes after its minute is in no rollup, a minute
that close never reached has none, and lines that the log group no longer keeps
are in rollups alone.

Of a tally each publication says only what the earlier ones lacked, so the
amounts of a minute add up; of two lines with one RollupId the later counts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from neuron_wire.checked import minute_of
from neuron_wire.names import ROLLUP, VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuron_emf.reading.periods import Period
    from neuron_emf.report.counting import Counting

NEWEST_MS: Final = 5 * 60_000
"""Rollups come two to four minutes after their minute: a younger one may still come."""

MAX_LISTED: Final = 10
_SMALLEST_USD: Final = 1e-4  # rollups have six decimals, each publication its own


@dataclass(frozen=True, slots=True)
class Publication:
    """
    One line of one minute of one cluster.

    Attributes:
        records: Minute records behind it.

        core_minutes: Idle core minutes that earlier ones lacked; None when it has none.

        usd: Their price; None when it has none.
    """

    records: int
    core_minutes: float | None
    usd: float | None


@dataclass(slots=True)
class PublishedMinute:
    """All that was published of one minute of one cluster."""

    _by_number: dict[int, Publication] = field(default_factory=dict)

    @property
    def records(self) -> int:
        """Minute records behind the last publication."""
        return self._by_number[max(self._by_number)].records

    @property
    def core_minutes(self) -> float | None:
        """Idle core minutes; None when none was ever told."""
        return _sum(publication.core_minutes for publication in self._by_number.values())

    @property
    def usd(self) -> float | None:
        """Their price; None when none was ever told."""
        return _sum(publication.usd for publication in self._by_number.values())

    def add(self, number: int, publication: Publication) -> bool:
        """
        Add publication *number*; False if it was there.

        Of two the later counts: a run of close that ended before it noted the first
        prints it again, perhaps with records that came meanwhile. Files may be read
        in any order, so the one with more records is the later.
        """
        known = self._by_number.get(number)
        if known is None or publication.records >= known.records:
            self._by_number[number] = publication
        return known is None


class PublishedRollups:
    """
    What has been read of the rollups so far.

    Attributes:
        minutes: By cluster and start of the minute, milliseconds.

        read: Distinct rollups.

        unreadable: Lines that say they are rollups and cannot be read.
    """

    def __init__(self, period: Period, cluster: str = "") -> None:
        """Nothing yet; only minutes in *period* count, and of *cluster* if one is named."""
        self.minutes: dict[tuple[str, int], PublishedMinute] = {}
        self.read = 0
        self.unreadable = 0
        self._period = period
        self._cluster = cluster

    def add_line(self, line: str) -> None:
        """Add *line* if it is a rollup."""
        try:
            members = json.loads(line)
        except (ValueError, RecursionError):
            return  # the reader of minutes counts it
        if not isinstance(members, dict) or members.get("Kind") != ROLLUP:
            return
        schema = members.get("Schema")
        if type(schema) is not int or not 1 <= schema <= VERSION:
            self.unreadable += 1
            return
        self.add_members(members)

    def add_members(self, members: Mapping[str, Any]) -> None:
        """Add a rollup by the members of its line, or those that a query gives of them."""
        try:
            cluster = members["ClusterName"]
            minute_ms = _moment_ms(members["Minute"])
            number = _whole(members["Publication"])
            publication = Publication(
                records=_whole(members["Records"]),
                core_minutes=_amount(members.get("IdleCoreMinutes")),
                usd=_amount(members.get("IdleCost")),
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            self.unreadable += 1
            return
        if not isinstance(cluster, str) or minute_ms not in self._period:
            return
        if self._cluster not in {"", cluster}:
            return
        minute = self.minutes.setdefault((cluster, minute_ms), PublishedMinute())
        self.read += minute.add(number, publication)


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

    @property
    def usd_missing(self) -> float:
        """USD that the rollup lacks; negative: has too many."""
        return (self.usd[0] or 0.0) - (self.usd[1] or 0.0)


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
    unreadable: int
    equal_minutes: int = 0
    core_minutes: int = 0
    usd: float = 0.0
    causes: dict[Cause, ByCause] = field(default_factory=dict)
    worst: list[Difference] = field(default_factory=list)

    @property
    def differing_minutes(self) -> int:
        """Minutes of clusters in which they do not say the same."""
        return sum(by_cause.minutes for by_cause in self.causes.values())


def compare(counting: Counting, published: PublishedRollups, now_ms: int) -> Comparison:
    """Hold what was counted against what was published."""
    comparison = Comparison(rollups=published.read, unreadable=published.unreadable)
    if not published.read:
        return comparison
    differences: list[Difference] = []
    for cluster, minute_ms in sorted(counting.minutes.keys() | published.minutes.keys()):
        difference = _difference(counting, published, (cluster, minute_ms), now_ms)
        minute = published.minutes.get((cluster, minute_ms))
        if minute is not None:
            comparison.core_minutes += round(minute.core_minutes or 0)
            comparison.usd += minute.usd or 0.0
        if difference is None:
            comparison.equal_minutes += 1
            continue
        differences.append(difference)
        by_cause = comparison.causes.setdefault(difference.cause, ByCause())
        by_cause.minutes += 1
        by_cause.core_minutes += difference.core_minutes[0] - difference.core_minutes[1]
        by_cause.usd += difference.usd_missing
    differences.sort(key=_greatest_first)
    comparison.worst = differences[:MAX_LISTED]
    return comparison


def _difference(
    counting: Counting, published: PublishedRollups, key: tuple[str, int], now_ms: int
) -> Difference | None:
    counted, rollup = counting.minutes.get(key), published.minutes.get(key)
    records = counted.records if counted else 0, rollup.records if rollup else 0
    core_minutes = (
        int(counted.idle.core_minutes) if counted else 0,
        round(rollup.core_minutes or 0) if rollup else 0,
    )
    usd = (counted.idle.usd if counted else 0.0) or 0.0, rollup.usd if rollup else None
    if rollup is None:
        is_new = now_ms - key[1] < NEWEST_MS
        cause = Cause.TOO_NEW if is_new else Cause.WITHOUT_ROLLUP
    elif records[0] > records[1]:
        cause = Cause.TOO_LATE
    elif records[0] < records[1]:
        cause = Cause.WITHOUT_LINES
    elif core_minutes[0] == core_minutes[1] and abs(usd[0] - (usd[1] or 0.0)) < _SMALLEST_USD:
        return None
    else:
        cause = Cause.RULES
    return Difference(*key, cause, records, core_minutes, usd)


def _greatest_first(difference: Difference) -> tuple[object, ...]:
    lines, rollup = difference.core_minutes
    usd = abs(difference.usd_missing)
    return -abs(lines - rollup), -usd, difference.minute_ms, difference.cluster


def _sum(amounts: Iterable[float | None]) -> float | None:
    told = [amount for amount in amounts if amount is not None]
    return sum(told) if told else None


def _moment_ms(text: object) -> int:
    moment_ms = minute_of(text) if isinstance(text, str) else None
    if moment_ms is None:
        raise ValueError(text)
    return moment_ms


def _whole(value: object) -> int:
    found = _amount(value)
    if found is None or found != int(found):
        raise ValueError(value)
    return int(found)


def _amount(value: object) -> float | None:
    """A number, also as the text that a query gives of it."""
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError(value)
    found = float(value)
    if not 0 <= found < float(1 << 63):  # NaN is not
        raise ValueError(value)
    return found
