"""
Seven days of the ledger, and the text that says what their idle cores cost.

An hour without a summary is missing, never one in which nothing was idle: what is unknown is
reported as unknown, never as 0. The text has at most 20,000 bytes; names are other people's
and on one line.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from aggregator.explain.topic import MAX_SUBJECT_CHARS, TopicMessage, ascii_only, teams_attribute
from neuron_accounts.savings import savings_of
from neuron_accounts.then import OwnerKey, Then, dearest
from neuron_wire.names import HOUR_MS, PLACEHOLDER_OWNERS
from neuron_words.quantity_words import counted, iso, joined, moment, percent
from neuron_words.then_words import (
    MAX_NAMED,
    basis_sentences,
    core_hours,
    headline,
    name_of,
    savings_sentences,
    usd_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuron_accounts.core_time import CoreTime
    from neuron_accounts.then import InstanceKey

MAX_ROWS_IN_DIGEST: Final = 5


@dataclass(slots=True)
class Week(Then):
    """
    Seven days, added up.

    Attributes:
        hours: All of them, whole ones since the epoch.

        settled: Those that are in the sums.
    """

    hours: range = field(kw_only=True)
    settled: list[int] = field(default_factory=list)

    def fold_hours(self, summaries: Iterable[tuple[int, bytes]]) -> None:
        """
        Add hours by their *summaries*, in the order of time.

        Raises:
            WireFormatError: If a summary is damaged.
        """
        for hour, payload in summaries:
            self.fold_summary(hour, payload)
            self.settled.append(hour)

    @property
    def covered_words(self) -> str:
        """`7 days` if every hour is in the sums, otherwise `2 of 168 hours`."""
        if self.missing:
            return f"{len(self.settled)} of {len(self.hours)} hours"
        return "7 days"

    @property
    def missing(self) -> list[int]:
        """Hours that are in no sum."""
        return sorted(set(self.hours) - set(self.settled))


def digest_message(week: Week, before: Week, stack_name: str, region: str) -> TopicMessage:
    """The digest of *week*, beside the seven days *before*."""
    named = dearest(week.owners, MAX_ROWS_IN_DIGEST)
    teams = teams_attribute(key.team for key, time in named if time.idle)
    return TopicMessage(
        body=digest_text(week, before, stack_name, region),
        attributes={"Kind": "digest", **({"Team": teams} if teams else {})},
        subject=ascii_only(f"{stack_name}: {_subject(week)}", MAX_SUBJECT_CHARS),
    )


def digest_text(week: Week, before: Week, stack_name: str, region: str) -> str:
    """The text of *week*, compared with the seven days *before*."""
    first_ms, end_ms = week.hours.start * HOUR_MS, week.hours.stop * HOUR_MS
    where = f"--stack-name {shlex.quote(stack_name)} --region {shlex.quote(region)}"
    hours = f"{week.covered_words} from {moment(first_ms)} to {moment(end_ms)}"
    parts = [
        f"Idle Neuron cores of stack {stack_name}: {hours}.",
        "",
        *(_sums(week, before) if week.settled else ["No hour of these days is in the ledger."]),
        *_gaps(week),
        *savings_sentences(savings_of(week.cluster_hours, len(week.hours)), len(week.hours)),
        "",
        "Full report:",
        f"  neuron-emf report --since {iso(first_ms)} --until {iso(end_ms)} {where}",
        "",
    ]
    return "\n".join(parts)


def _subject(week: Week) -> str:
    total = week.total
    if not total.known:
        return f"no idle cost is known of {week.covered_words}"
    if not total.idle:
        return f"no core was idle in {week.covered_words}"
    if total.idle_cost is None:
        return f"idle cores of {week.covered_words} have no price"
    return f"idle cores cost {usd_of(total.idle_cost)} in {week.covered_words}"


def _sums(week: Week, before: Week) -> list[str]:
    total = week.total
    more = "at least " if week.unlisted else ""
    return [
        headline(total),
        _change(total, week, before),
        *_dearest("Most expensive owners of idle cores:", week.owners),
        *_dearest("Most expensive instances:", week.instances, more),
        "",
        *basis_sentences(week),
    ]


def _change(total: CoreTime, week: Week, before: Week) -> str:
    """By hours of the ledger, so that a gap is no saving."""
    if not before.settled:
        return "The 7 days before are not in the ledger."
    past = before.total.idle_cost or 0
    was, now = past / len(before.settled), (total.idle_cost or 0) / len(week.settled)
    whole = not week.missing and not before.missing
    per = "" if whole else " per hour in the ledger"
    if not was:
        return f"In the 7 days before idle cores had no cost{per}." if now else ""
    change = 100 * (now - was) / was
    if round(change, 1) == 0:
        return f"As much{per} as in the 7 days before ({usd_of(past)})."
    more = "more" if change > 0 else "less"
    return f"{percent(abs(change))} {more}{per} than in the 7 days before ({usd_of(past)})."


def _dearest(
    title: str, times: Mapping[OwnerKey, CoreTime] | Mapping[InstanceKey, CoreTime], more: str = ""
) -> list[str]:
    idle = {key: time for key, time in times.items() if time.idle}
    rows = ["", title]
    for key, time in dearest(idle, MAX_ROWS_IN_DIGEST):
        works = (
            time.busy if isinstance(key, OwnerKey) and key.owner not in PLACEHOLDER_OWNERS else 0
        )
        rows.append(
            f"  {usd_of(time.idle_cost):>16}  {name_of(key)}: {core_hours(time.idle)}"
            f"{f' idle, {core_hours(works)} busy' if works else ''}"
        )
    if len(idle) > MAX_ROWS_IN_DIGEST:
        rows.append(f"  and {more}{len(idle) - MAX_ROWS_IN_DIGEST:,} more")
    return rows if idle else []


def _gaps(week: Week) -> list[str]:
    missing = week.missing
    if not missing:
        return []
    named = [moment(hour * HOUR_MS) for hour in missing[:MAX_NAMED]]
    gap = f"{counted(len(missing), 'hour')} of {len(week.hours)} without a summary and in no sum"
    return [f"{gap}: {joined(named, len(missing) - MAX_NAMED)}."]
