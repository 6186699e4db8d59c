"""
The contents of the stack's table about the cluster of an alarm.

Nothing here stops a message: what cannot be read is reported as unreadable, because a short
message that arrives is worth more than a whole one that does not. The rollup was written by a stack
of this release or of another one, so a missing or damaged member is left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from aggregator.explain.event import SILENCE, UNKNOWN_SUBJECT
from aggregator.minutes import minute_at
from aggregator.storage.values import TableError
from neuron_accounts.now import ClusterNow, cluster_now
from neuron_wire.line_members import NOTHING, minute_in, number_in
from neuron_wire.names import DAY_MINUTES, HOUR_MINUTES, MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aggregator.storage.table import Table
    from neuron_wire.catalogue import ClusterAlarm
    from neuron_wire.line_members import JsonObject

OLD_AFTER_S: Final = 10 * 60
"""
Age from which a rollup is called old. It is published 2 to 4 minutes after its
minute, and an alarm acts within minutes of it.
"""

UNREADABLE: Final = "The stack's table could not be read, so details are missing."
DAMAGED: Final = "The last rollup in the table could not be read."


def read_rollup(line: str) -> JsonObject:
    """Read *line*; `NOTHING` where it is no JSON object or does not give its minute."""
    try:
        members = json.loads(line)
    except (ValueError, RecursionError):
        return NOTHING
    rollup = members if isinstance(members, dict) else NOTHING
    return NOTHING if minute_in(rollup, "Minute") is None else rollup


class CostToday(NamedTuple):
    """
    What the idle cores of a cluster have cost since midnight UTC.

    Attributes:
        usd: The sum over what has been published.

        minutes: Minutes of the day that have been published with a cost.
    """

    usd: float
    minutes: int


class RecentErrors(NamedTuple):
    """
    How many errors have been published.

    A rollup that was published again carries only what was new; this is the whole.

    Attributes:
        in_minute: In the minute of the kept rollup.

        in_hour: In the hour up to now.

        minutes: Minutes of that hour with errors.
    """

    in_minute: float
    in_hour: float
    minutes: int = 0


_UNKNOWN_NOW: Final = cluster_now({})


@dataclass(frozen=True, slots=True)
class Evidence:
    """
    What is known of a cluster when a message is written: the source of a summary.

    Attributes:
        subject: What the alarm is about.

        region: For commands; may be empty.

        idle_after_minutes: Minutes after which a core that is not busy is idle.

        rollup: The kept rollup; `NOTHING` when there is none.

        now: What it says of idle cores.

        age_s: Seconds since its minute was over; None when unknown.

        cost_today: What its idle cores have cost today; None when nothing was
            published with a price, or it is of no interest.

        published: How many errors were published; None unless it is about them.

        silent: The last rollup with silent instances; `NOTHING` unless the alarm is about them.

        trouble: What could not be read, as a sentence; empty when all was.
    """

    subject: ClusterAlarm
    region: str
    idle_after_minutes: int
    rollup: JsonObject = field(default_factory=dict)
    now: ClusterNow = _UNKNOWN_NOW
    age_s: float | None = None
    cost_today: CostToday | None = None
    published: RecentErrors | None = None
    silent: JsonObject = field(default_factory=dict)
    trouble: str = ""

    @property
    def is_old(self) -> bool:
        """Whether the rollup cannot be what CloudWatch judged last."""
        return self.age_s is not None and self.age_s > OLD_AFTER_S


def gather_evidence(
    evidence: Evidence, cluster: str | None, table: Table, now_s: float
) -> Evidence:
    """*evidence* with what *table* knows about its subject in *cluster*."""
    subject = evidence.subject
    if subject == UNKNOWN_SUBJECT or not cluster:
        return evidence
    try:
        line = table.read_last_rollup(subject.about, cluster)
        silent = table.read_last_rollup("silent", cluster) if subject == SILENCE else None
        cost = _cost_today(cluster, table, now_s) if subject.is_idle else None
        rollup = NOTHING if line is None else read_rollup(line)
        published = _published(subject, cluster, rollup, table, now_s)
    except TableError:
        return replace(evidence, trouble=UNREADABLE)
    minute = minute_in(rollup, "Minute")
    return replace(
        evidence,
        rollup=rollup,
        now=cluster_now(rollup),
        age_s=None if minute is None else max(0.0, now_s - MINUTE_S * (minute + 1)),
        cost_today=cost,
        published=published,
        silent=NOTHING if silent is None else read_rollup(silent),
        trouble=DAMAGED if line is not None and minute is None else "",
    )


def _cost_today(cluster: str, table: Table, now_s: float) -> CostToday | None:
    this_minute = minute_at(now_s)
    midnight = this_minute - this_minute % DAY_MINUTES
    costs = _tallies("IdleCost", cluster, table, range(midnight, this_minute + 1))
    return CostToday(sum(costs.values()), len(costs)) if costs else None


def _published(
    subject: ClusterAlarm, cluster: str, rollup: JsonObject, table: Table, now_s: float
) -> RecentErrors | None:
    metric = subject.metric
    this_minute = minute_at(now_s)
    rollup_minute = minute_in(rollup, "Minute")
    if subject.about == "minute" or rollup_minute is None:
        return None
    hour = range(this_minute - HOUR_MINUTES, this_minute + 1)
    tallies = _tallies(metric, cluster, table, {*hour, rollup_minute})
    in_line = number_in(rollup, metric) or 0.0  # the line may be out before it is remembered
    by_minute = [tallies.get(minute, 0.0) for minute in hour]
    return RecentErrors(
        in_minute=max(in_line, tallies.get(rollup_minute, 0.0)),
        in_hour=max(in_line, sum(by_minute)),
        minutes=sum(errors > 0 for errors in by_minute),
    )


def _tallies(metric: str, cluster: str, table: Table, minutes: Iterable[int]) -> dict[int, float]:
    """What was published of a tally, by minute."""
    return {
        minute: publication.tallies[metric]
        for minute, publication in table.read_published(cluster, minutes)
        if metric in publication.tallies
    }
