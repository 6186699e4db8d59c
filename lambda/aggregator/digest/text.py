"""
What is said of a week: text for people, of at most 20,000 bytes.

What nobody knows is said, and never 0. Names are other people's and on one line.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from aggregator.explain.foreign_text import ascii_only
from aggregator.explain.message import MAX_SUBJECT_CHARS, Publication
from neuron_wire.ledger import HOUR_MINUTES, USD_PLACES
from neuron_wire.names import MINUTE_MS, NOBODY
from neuron_wire.phrases import counted, iso, joined, moment, percent, printable, usd
from neuron_wire.then import OwnerKey, dearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aggregator.digest.week import Week
    from neuron_wire.core_time import CoreTime
    from neuron_wire.then import InstanceKey

LISTED: Final = 5
MAX_NAMED: Final = 5
_NANO: Final = 10**USD_PLACES
_MICRO_HOURS: Final = 10**6 * HOUR_MINUTES
_HOUR_MS: Final = HOUR_MINUTES * MINUTE_MS


def publication_of(week: Week, before: Week, stack_name: str, region: str) -> Publication:
    """The digest of *week*, beside the seven days *before*."""
    return Publication(
        body=text_of(week, before, stack_name, region),
        attributes={"Kind": "digest"},
        subject=ascii_only(f"{stack_name}: {_headline(week)}", MAX_SUBJECT_CHARS),
    )


def text_of(week: Week, before: Week, stack_name: str, region: str) -> str:
    """The whole text."""
    first_ms, end_ms = week.hours.start * _HOUR_MS, week.hours.stop * _HOUR_MS
    where = f"--stack-name {shlex.quote(stack_name)} --region {shlex.quote(region)}"
    parts = [
        f"Idle Neuron cores of stack {stack_name}, {moment(first_ms)} to {moment(end_ms)}.",
        "",
        *(_sums(week, before) if week.settled else ["No hour of these days is in the ledger."]),
        *_gaps(week),
        "",
        "Full report:",
        f"  neuron-emf report --since {iso(first_ms)} --until {iso(end_ms)} {where}",
        "",
    ]
    return "\n".join(parts)


def _headline(week: Week) -> str:
    total = week.total
    if not week.settled:
        return "no idle cost is known of these 7 days"
    if not total.idle:
        return "no core was idle in 7 days"
    if total.idle_cost is None:
        return "idle cores of 7 days have no price"
    return f"idle cores cost {_usd(total.idle_cost)} in 7 days"


def _sums(week: Week, before: Week) -> list[str]:
    total = week.total
    share = percent(100 * total.idle / total.known) if total.known else "an unknown share"
    hours = f"{_core_hours(total.idle)} idle, {share} of the known time"
    if not total.idle:
        said = "No core was idle."
    elif total.idle_cost is None:
        said = f"The price of idle cores is unknown: {hours}."
    else:
        said = (
            f"Idle cores cost {_usd(total.idle_cost)}, of which at most "
            f"{_usd(total.avoidable_cost or 0)} avoidable: {hours}."
        )
    lines = [said, _change(total, week, before)]
    if week.bases:
        lines.append(f"Prices: {'; '.join(sorted(week.bases))}.")
    lines += _dearest("Most expensive owners of idle cores:", week.owners)
    more = "at least " if week.unlisted else ""
    lines += [*_dearest("Most expensive instances:", week.instances, more), ""]
    if week.unpriced:
        named = sorted(week.unpriced, key=lambda name: (-week.unpriced[name], name))
        listed = [
            f"{printable(name)} ({_core_hours(week.unpriced[name])})" for name in named[:MAX_NAMED]
        ]
        lines.append(
            f"Without a price, in no amount: {joined(listed, len(named) - MAX_NAMED)}. "
            "Set the stack's parameter PriceOverrides."
        )
    if total.held:
        lines.append(
            f"Telemetry covers {percent(100 * total.known / total.held)} of the core hours; "
            f"{_core_hours(total.unknown)} are unknown and not counted as idle."
        )
    return lines


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
        return f"As much{per} as in the 7 days before ({_usd(past)})."
    more = "more" if change > 0 else "less"
    return f"{percent(abs(change))} {more}{per} than in the 7 days before ({_usd(past)})."


def _dearest(
    title: str, times: Mapping[OwnerKey, CoreTime] | Mapping[InstanceKey, CoreTime], more: str = ""
) -> list[str]:
    idle = {key: time for key, time in times.items() if time.idle}
    rows = ["", title]
    for key, time in dearest(idle, LISTED):
        cost = "no price" if time.idle_cost is None else _usd(time.idle_cost)
        said = f"{printable(key[0])}, cluster {printable(key.cluster)}"
        works = 0
        if isinstance(key, OwnerKey) and key.owner not in NOBODY:
            said += f", team {printable(key.team)}" if key.team else ""
            works = time.busy
        rows.append(
            f"  {cost:>16}  {said}: {_core_hours(time.idle)}"
            f"{f' idle, {_core_hours(works)} busy' if works else ''}"
        )
    if len(idle) > LISTED:
        rows.append(f"  and {more}{len(idle) - LISTED:,} more")
    return rows if idle else []


def _gaps(week: Week) -> list[str]:
    missing = week.missing
    if not missing:
        return []
    named = [moment(hour * _HOUR_MS) for hour in missing[:MAX_NAMED]]
    gap = f"{counted(len(missing), 'hour')} of {len(week.hours)} without a summary and in no sum"
    return [f"{gap}: {joined(named, len(missing) - MAX_NAMED)}."]


def _usd(nano_usd: int) -> str:
    return usd(nano_usd / _NANO)


def _core_hours(micro_core_minutes: int) -> str:
    return f"{micro_core_minutes / _MICRO_HOURS:,.1f} core hours"
