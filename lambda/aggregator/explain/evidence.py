"""
What the table knows of the cluster that an alarm is about.

Nothing here stops a message: what cannot be read is said to be unreadable,
because a short message now is worth more than a whole one never.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aggregator.explain.members import Members, read_rollup
from aggregator.minutes import minute_at
from aggregator.storage.values import TableError
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aggregator.explain.subject import AlarmSubject
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
    How much has been published of what an alarm is about.

    A rollup that was published again carries only what was lacking; this is
    the whole.

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

    rollup: Members | None = None
    rollup_age_s: float | None = None
    cost_today: CostToday | None = None
    published: RecentErrors | None = None
    trouble: str = ""

    @property
    def is_old(self) -> bool:
        """Whether the rollup cannot be what CloudWatch judged last."""
        return self.rollup_age_s is not None and self.rollup_age_s > OLD_AFTER_S


def gather(subject: AlarmSubject, cluster: str, table: Table, now_s: float) -> ClusterEvidence:
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
    metric: str, cluster: str, rollup: Members, table: Table, now_s: float
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
