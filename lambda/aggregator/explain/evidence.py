"""
What the stack's table knows of the cluster that an alarm is about.

Nothing here stops a message: what cannot be read is reported as unreadable, because a
short message now is worth more than a whole one never. The rollup was written by a stack
of this release or of another one, so a missing or damaged member is left out. Names in it
are other people's: `safe_name` makes them harmless in a mail, a shell, a chat or a sheet.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from aggregator.minutes import minute_at
from aggregator.storage.values import TableError
from neuron_wire.line_members import minute_of, number_in, rows_in
from neuron_wire.names import MINUTE_MS, MINUTE_S
from neuron_wire.phrases import LONGEST_NAME, cell, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aggregator.explain.event import AlarmSubject
    from aggregator.storage.table import Table

OLD_AFTER_S: Final = 10 * 60
"""
Age from which a rollup is called old. It is published 2 to 4 minutes after its
minute, and an alarm acts within minutes of it.
"""

UNREADABLE: Final = "The stack's table could not be read, so details are missing."
DAMAGED: Final = "The last rollup in the table could not be read."
_MINUTES_IN_HOUR: Final = 60
_MINUTES_IN_DAY: Final = 24 * _MINUTES_IN_HOUR
_LARGEST: Final = 1e18  # a larger number would fill a message
_MARKUP: Final = str.maketrans(dict.fromkeys('`$\\|<>[]{}";&', "?"))


def safe_name(text: str, longest: int = LONGEST_NAME) -> str:
    """
    *text*, a name that somebody else gave, for people.

    What a shell, a page or a chat would take for more than a letter becomes a
    question mark, an address cannot be clicked, and a spreadsheet sees no
    formula. Log lines keep names as they are.
    """
    return printable(cell(text.translate(_MARKUP).replace("://", ":??")), longest)


@dataclass(frozen=True, slots=True)
class StoredMembers:
    """
    A stored rollup, or one entry of its lists. What is missing or damaged is None or empty.

    Attributes:
        given: As it stood in the line.
    """

    given: Mapping[str, Any] = field(default_factory=dict)

    def number(self, name: str) -> float | None:
        """An amount from 0."""
        value = number_in(self.given, name)
        return None if value is None or value >= _LARGEST else value

    def raw(self, name: str) -> str:
        """A text as it was written, never for a message; empty where it is none."""
        value = self.given.get(name)
        return value if isinstance(value, str) else ""

    def text(self, name: str) -> str | None:
        """A name for a message; None when it is empty."""
        value = self.raw(name)
        return safe_name(value) if value else None

    def entries(self, name: str) -> list[StoredMembers]:
        """The objects of a list."""
        return [StoredMembers(row) for row in rows_in(self.given, name) or ()]

    def minute(self, name: str) -> int | None:
        """The minute of a member, since the epoch."""
        start_ms = minute_of(self.raw(name))
        return None if start_ms is None else start_ms // MINUTE_MS


def read_rollup(line: str) -> StoredMembers | None:
    """Read *line*; None where it is no JSON object or does not give its minute."""
    try:
        members = json.loads(line)
    except (ValueError, RecursionError):
        return None
    rollup = StoredMembers(members if isinstance(members, dict) else {})
    return None if rollup.minute("Minute") is None else rollup


@dataclass(frozen=True, slots=True)
class CostToday:
    """
    What the idle cores of a cluster have cost since midnight UTC.

    Attributes:
        usd: The sum over what has been published.

        minutes: Minutes of the day that have been published with a cost.
    """

    usd: float
    minutes: int


@dataclass(frozen=True, slots=True)
class RecentErrors:
    """
    How many errors have been published.

    A rollup that was published again carries only what was new; this is the whole.

    Attributes:
        in_minute: In the minute of the kept rollup.

        in_hour: In the hour up to now.
    """

    in_minute: float
    in_hour: float


@dataclass(frozen=True, slots=True)
class ClusterEvidence:
    """
    What is known when a message is written.

    Attributes:
        rollup: The kept rollup; None when there is none.

        rollup_age_s: Seconds since its minute was over; None when unknown.

        cost_today: What its idle cores have cost today; None when nothing was
            published with a price, or it is of no interest.

        published: How many errors were published; None unless it is about them.

        trouble: What could not be read, as a sentence; empty when all was.
    """

    rollup: StoredMembers | None = None
    rollup_age_s: float | None = None
    cost_today: CostToday | None = None
    published: RecentErrors | None = None
    trouble: str = ""

    @property
    def is_old(self) -> bool:
        """Whether the rollup cannot be what CloudWatch judged last."""
        return self.rollup_age_s is not None and self.rollup_age_s > OLD_AFTER_S


def gather_evidence(
    subject: AlarmSubject, cluster: str, table: Table, now_s: float
) -> ClusterEvidence:
    """What *table* knows about *subject* in *cluster*."""
    trouble = ""
    rollup = published = None
    try:
        line = table.read_last_rollup(subject.about, cluster)
        cost = _cost_today(cluster, table, now_s) if subject.is_idle else None
        if line is not None:
            rollup = read_rollup(line)
            trouble = "" if rollup else DAMAGED
        if rollup is not None and subject.about != "minute":
            published = _published(subject.metric, cluster, rollup, table, now_s)
    except TableError:
        return ClusterEvidence(trouble=UNREADABLE)
    if rollup is None:
        return ClusterEvidence(cost_today=cost, trouble=trouble)
    minute = rollup.minute("Minute")
    age_s = None if minute is None else max(0.0, now_s - MINUTE_S * (minute + 1))
    return ClusterEvidence(rollup, age_s, cost, published)


def _cost_today(cluster: str, table: Table, now_s: float) -> CostToday | None:
    this_minute = minute_at(now_s)
    midnight = this_minute - this_minute % _MINUTES_IN_DAY
    costs = _tallies("IdleCost", cluster, table, range(midnight, this_minute + 1))
    return CostToday(sum(costs.values()), len(costs)) if costs else None


def _published(
    metric: str, cluster: str, rollup: StoredMembers, table: Table, now_s: float
) -> RecentErrors:
    this_minute = minute_at(now_s)
    of_rollup = rollup.minute("Minute") or this_minute
    hour = range(this_minute - _MINUTES_IN_HOUR, this_minute + 1)
    tallies = _tallies(metric, cluster, table, {*hour, of_rollup})
    in_line = rollup.number(metric) or 0.0  # the line may be out before it is remembered
    return RecentErrors(
        in_minute=max(in_line, tallies.get(of_rollup, 0.0)),
        in_hour=max(in_line, sum(tallies.get(minute, 0.0) for minute in hour)),
    )


def _tallies(metric: str, cluster: str, table: Table, minutes: Iterable[int]) -> dict[int, float]:
    """What was published of a tally, by minute."""
    return {
        minute: publication.tallies[metric]
        for minute, publication in table.read_published(cluster, minutes)
        if metric in publication.tallies
    }
