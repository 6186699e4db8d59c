"""
The contents of the stack's table about the cluster of an alarm.

No failure here stops a message: data that cannot be read is reported as unreadable, because a short
message that arrives is worth more than a complete one that does not. A stack of this release or of
another one wrote the rollup, so a missing or damaged member is omitted.
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
Age from which a rollup is called old. It is published 2 to 4 minutes after its minute, and an alarm
fires a few minutes later.
"""

UNREADABLE: Final = "The stack's table could not be read, so details are missing."
DAMAGED: Final = "The last rollup in the table could not be read."


def read_rollup(line: str) -> JsonObject:
    """Parse *line*; return `NOTHING` if it is not a JSON object or has no minute."""
    try:
        members = json.loads(line)
    except (ValueError, RecursionError):
        return NOTHING
    rollup = members if isinstance(members, dict) else NOTHING
    return NOTHING if minute_in(rollup, "Minute") is None else rollup


class CostToday(NamedTuple):
    """
    The cost of a cluster's idle cores since midnight UTC.

    Attributes:
        usd: The sum of all published amounts.

        minutes: Minutes of the day that have been published with a cost.
    """

    usd: float
    minutes: int


class RecentErrors(NamedTuple):
    """
    The number of published errors.

    A rollup that was published again has only the new errors; this is the total.

    Attributes:
        in_minute: Errors in the minute of the stored rollup.

        in_hour: Errors in the last hour.

        minutes: Minutes of that hour with errors.
    """

    in_minute: float = 0.0
    in_hour: float = 0.0
    minutes: int = 0


_UNKNOWN_NOW: Final = cluster_now({})
_NO_ERRORS: Final = RecentErrors()


@dataclass(frozen=True, slots=True)
class Evidence:
    """
    The known facts about a cluster when a message is written: the source of a summary.

    Attributes:
        subject: The subject of the alarm.

        region: The Region for commands; may be empty.

        idle_after_minutes: Minutes after which a core that is not busy is idle.

        rollup: The stored rollup; `NOTHING` if there is none.

        now: The rollup's values of idle cores.

        age_s: Seconds since the end of its minute; None if unknown.

        cost_today: The cost of its idle cores today; None if no amount was published, or the alarm
            is not about cost.

        published: Published errors; 0 unless the alarm is about them.

        silent: The last rollup with silent instances; `NOTHING` unless the alarm is about them.

        trouble: A sentence about data that could not be read; empty if all was read.
    """

    subject: ClusterAlarm
    region: str
    idle_after_minutes: int
    rollup: JsonObject = field(default_factory=dict)
    now: ClusterNow = _UNKNOWN_NOW
    age_s: float | None = None
    cost_today: CostToday | None = None
    published: RecentErrors = _NO_ERRORS
    silent: JsonObject = field(default_factory=dict)
    trouble: str = ""

    @property
    def is_old(self) -> bool:
        """True if the rollup is older than the one that changed the alarm."""
        return self.age_s is not None and self.age_s > OLD_AFTER_S


def gather_evidence(
    evidence: Evidence, cluster: str | None, table: Table, now_s: float
) -> Evidence:
    """Return *evidence* with the contents of *table* about its subject in *cluster*."""
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
) -> RecentErrors:
    metric = subject.metric
    this_minute = minute_at(now_s)
    rollup_minute = minute_in(rollup, "Minute")
    if subject.about == "minute" or rollup_minute is None:
        return _NO_ERRORS
    hour = range(this_minute - HOUR_MINUTES, this_minute + 1)
    tallies = _tallies(metric, cluster, table, {*hour, rollup_minute})
    in_line = number_in(rollup, metric) or 0.0  # the line may be printed before it is stored
    by_minute = [tallies.get(minute, 0.0) for minute in hour]
    return RecentErrors(
        in_minute=max(in_line, tallies.get(rollup_minute, 0.0)),
        in_hour=max(in_line, sum(by_minute)),
        minutes=sum(errors > 0 for errors in by_minute),
    )


def _tallies(metric: str, cluster: str, table: Table, minutes: Iterable[int]) -> dict[int, float]:
    """Return the published amounts of a tally, by minute."""
    return {
        minute: publication.tallies[metric]
        for minute, publication in table.read_published(cluster, minutes)
        if metric in publication.tallies
    }
