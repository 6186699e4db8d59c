"""
Handler: each week, the cost of idle cores, to the topic of the digest.

It adds up summaries of the ledger's hours. An hour without a summary is missing, never an hour
without idle cores: unknown amounts are reported as unknown, never as 0. The text has at most 20,000
bytes; names come from other people, so each is cut to one line.

The invocation is asynchronous, as for explain: an exception makes Lambda try again and in the end
send the event to the failure destination. For another week, invoke it with the hour after that
week, `{"Until": "2026-11-23T00:00Z"}`.
"""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from aggregator import runtime
from aggregator.explain.topic import (
    MAX_SUBJECT_CHARS,
    TopicMessage,
    ascii_only,
    publish_message,
    teams_attribute,
)
from aggregator.minutes import MARKER_SLACK_MINUTES, hour_of
from aggregator.runtime import LambdaContext, Logger
from aggregator.storage.ledger_objects import LedgerObjects
from neuron_accounts.savings import savings_of
from neuron_accounts.then import InstanceKey, OwnerKey, Then, dearest
from neuron_wire.names import DAY_HOURS, HOUR_MINUTES, HOUR_MS, WEEK_HOURS
from neuron_words.quantity_words import iso, moment, percent, printed_number
from neuron_words.then_words import (
    core_hours,
    gap_sentences,
    headline,
    idle_cents,
    idle_usd,
    name_of,
    price_sentences,
    savings_sentences,
    usd_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuron_accounts.core_time import CoreTime
    from neuron_wire.line_members import Members

_Key = TypeVar("_Key", OwnerKey, InstanceKey)

logger = Logger()

MAX_ROWS_IN_DIGEST: Final = 5

_DAY_S: Final = 86_400
_SETTLES_WITHIN_MINUTES: Final = 2 * HOUR_MINUTES  # settle runs hourly, and one run may be slow


@dataclass(slots=True)
class Week(Then):
    """
    Seven days added up.

    Attributes:
        hours: All hours, as whole hours since the epoch.

        settled: The hours in the sums.
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
        """The settled hours in words: `166 of 168 hours`."""
        return f"{len(self.settled)} of {len(self.hours)} hours"


@logger.inject_lambda_context
def handler(event: Members, context: LambdaContext) -> dict[str, str]:  # noqa: ARG001
    """Publish the digest of the seven days that are settled, or of those before an hour."""
    stack, _ = runtime.stack()
    end_hour = hour_of(event, "Until")
    if end_hour is None:
        end_hour = last_midnight(time.time(), stack.rules.late_minutes)
    message = write_digest(
        LedgerObjects(stack.ledger_bucket), end_hour, stack.stack_name, stack.region
    )
    publish_message(stack.alarm_topic_arn, message)
    logger.info("digest sent", extra={"subject": message.subject})
    return {"Subject": message.subject, "Text": message.body}


def write_digest(
    objects: LedgerObjects, end_hour: int, stack_name: str, region: str
) -> TopicMessage:
    """
    Return the digest of the seven days before *end_hour*.

    Raises:
        LedgerError: If the bucket did not answer.
        WireFormatError: If an object of the ledger is damaged.
    """
    week, before = (
        Week(hours=range(end - WEEK_HOURS, end)) for end in (end_hour, end_hour - WEEK_HOURS)
    )
    for each in (week, before):
        each.fold_hours(objects.read_summaries(each.hours))
    return digest_message(week, before, stack_name, region)


def last_midnight(now_s: float, late_minutes: int) -> int:
    """Return the last midnight UTC before which every hour should be settled, in hours."""
    settled_s = now_s - 60 * (late_minutes + MARKER_SLACK_MINUTES + _SETTLES_WITHIN_MINUTES)
    return int(settled_s) // _DAY_S * DAY_HOURS


def digest_message(week: Week, before: Week, stack_name: str, region: str) -> TopicMessage:
    """Return the digest of *week*, compared with the seven days *before*."""
    named = dearest(week.owners)[:MAX_ROWS_IN_DIGEST]
    teams = teams_attribute(key.team for key, _ in named)
    subject = _subject(week)
    with_stack = f"{stack_name}: {subject}"
    return TopicMessage(
        body=digest_text(week, before, stack_name, region),
        attributes={"Kind": "digest", **({"Team": teams} if teams else {})},
        subject=ascii_only(
            with_stack if len(with_stack) <= MAX_SUBJECT_CHARS else subject, MAX_SUBJECT_CHARS
        ),
    )


def digest_text(week: Week, before: Week, stack_name: str, region: str) -> str:
    """Return the text of *week*, compared with the seven days *before*."""
    first_ms = week.hours.start * HOUR_MS
    end_ms = week.hours.stop * HOUR_MS
    where = f"--stack-name {shlex.quote(stack_name)} --region {shlex.quote(region)}"
    hours = f"{week.covered_words} from {moment(first_ms)} to {moment(end_ms)}"
    parts = [
        f"Idle Neuron cores of stack {stack_name}: {hours}.",
        "",
        *(_sums(week, before) if week.settled else ["No hour of these days is in the ledger."]),
        "",
        "Full report:",
        f"  neuron-emf report --since {iso(first_ms)} --until {iso(end_ms)} {where}",
        "",
    ]
    return "\n".join(parts)


def _subject(week: Week) -> str:
    total = week.total
    if not total.known:
        amount = "nothing known"
    elif not total.idle:
        amount = "no idle core"
    elif not total.has_idle_price:
        amount = "idle cores without a price"
    else:
        amount = f"{idle_usd(total)} idle"
    return f"{amount} in 7 days; {week.covered_words} settled"


def _sums(week: Week, before: Week) -> list[str]:
    total = week.total
    more = "at least " if week.unlisted else ""
    hours = len(week.hours)
    savings = savings_sentences(savings_of(week.cluster_hours, hours), hours)
    return [
        headline(total),
        _change(total, week, before),
        *_dearest("Most expensive owners of idle cores:", week.owners, total),
        *_dearest("Most expensive instances:", week.instances, total, more),
        "",
        *price_sentences(week),
        *gap_sentences(week, "PriceOverrides="),
        *(["", "Savings:", *savings] if savings else []),
    ]


def _change(total: CoreTime, week: Week, before: Week) -> str:
    """Return the change per hour in the ledger, so that a gap does not look like a saving."""
    if not before.settled:
        return "The 7 days before are not in the ledger."
    was = (before.total.idle_cost or 0) / len(before.settled)
    now = (total.idle_cost or 0) / len(week.settled)
    is_whole = len(week.settled) == len(before.settled) == WEEK_HOURS
    per = "" if is_whole else " per settled hour"
    if not was:
        return f"In the 7 days before idle cores had no cost{per}." if now else ""
    change = 100 * (now - was) / was
    past_usd = idle_usd(before.total)
    if round(change, 1) == 0:
        return f"As much{per} as in the 7 days before ({past_usd})."
    more = "more" if change > 0 else "less"
    return f"{percent(abs(change))} {more}{per} than in the 7 days before ({past_usd})."


def _dearest(
    title: str, times: Mapping[_Key, CoreTime], total: CoreTime, more: str = ""
) -> list[str]:
    idle = dearest(times)
    cents = idle_cents(times, total)
    rows = ["", title]
    for key, core_time in idle[:MAX_ROWS_IN_DIGEST]:
        # Summaries list an instance only in hours in which it was idle.
        is_owner = isinstance(key, OwnerKey)
        busy = f" idle, {core_hours(core_time.busy)} busy" if is_owner and core_time.busy else ""
        cost = core_time.idle_cost
        amount = usd_of(None) if cost is None else f"{printed_number(cents[key], 2, cost)} USD"
        rows.append(f"  {amount:>16}  {name_of(key)}: {core_hours(core_time.idle)}{busy}")
    if others := len(idle[MAX_ROWS_IN_DIGEST:]):
        rows.append(f"  and {more}{others:,} more")
    return rows if idle else []
