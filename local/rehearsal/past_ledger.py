"""
The ledger of the replayed hour: lines, report, digest and page must give the same amounts.

It uses settle's own calculation, without its table: the embedded table needs half a minute for its
thousands of queries. The bucket is in memory.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from aggregator.digest.function import Week, digest_text
from aggregator.settle.ledger_hour import BucketHour
from aggregator.settle.purchases import part_of
from aggregator.storage.record_items import bucket_of
from local.embedded_aws.clients import EMBEDDED_REGION
from local.rehearsal.past import minute_lines
from local.rehearsal.rehearsal_stack import STACK_NAME
from neuron_accounts.core_time import CostRules
from neuron_accounts.instance_hours import OwnerWork
from neuron_accounts.ledger import (
    PARTS_OF_HOUR,
    USD_PLACES,
    decimal_text,
    pack_rows,
    parse_part_key,
    part_key,
    settled_hours,
)
from neuron_accounts.prices import Prices
from neuron_accounts.teams import TeamRules
from neuron_accounts.then import Then, summary_key, then_of
from neuron_emf.reading.ledger_bucket import rows
from neuron_emf.reading.minute_lines import MinuteLines
from neuron_emf.reading.periods import WHOLE_TIME
from neuron_emf.report.collection import then_by_days
from neuron_wire.names import HOUR_MINUTES, MINUTE_MS, WEEK_HOURS
from neuron_words.quantity_words import counted, usd
from neuron_words.then_words import idle_usd

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neuron_accounts.ledger import LedgerRow
    from neuron_wire import MinuteRecord


@dataclass(frozen=True, slots=True)
class SettledPast:
    """
    The replayed hour in the ledger; it may touch two hours of the clock.

    Attributes:
        lines: Its minute lines.

        records: The records of the lines.

        objects: Objects of the ledger, by key.

        hours: The hours of the clock in it.
    """

    lines: Sequence[str]
    records: Sequence[MinuteRecord]
    objects: dict[str, bytes]
    hours: range

    def idle_usd(self) -> dict[str, str]:
        """Return the cost of idle cores by the lines, the report from the ledger and the digest."""
        by_lines = MinuteLines(WHOLE_TIME, "", _LEDGER_RULES).fold_lines(self.lines)
        thens = {
            "the lines": then_by_days(by_lines, TeamRules())[0],
            "the report": report_of(self.objects),
            "the digest": digest_week(self.objects, self.hours.stop),
        }
        return {
            face: decimal_text(then.total.idle_cost or 0, USD_PLACES)
            for face, then in thens.items()
        }


def differences(what: str, amounts: Mapping[str, str]) -> list[str]:
    """Return a sentence if the *amounts* of *what*, by face, are not all equal."""
    if len(set(amounts.values())) == 1:
        return []
    listed = ", ".join(f"{face} {amount}" for face, amount in amounts.items())
    return [f"{what} cost different amounts: {listed}"]


def agreement(what: str, amounts: Mapping[str, str]) -> str:
    """Return the sentence that *what* costs the same on all faces of *amounts*."""
    *faces, last = amounts
    amount = usd(float(amounts[faces[0]]))
    return f"{what} cost {amount} by {', '.join(faces)} and {last}, to the last digit."


def digest_week(objects: Mapping[str, bytes], stop_hour: int) -> Week:
    """Add up what a ledger of *objects* has of the seven days before *stop_hour*."""
    week = Week(hours=range(stop_hour - WEEK_HOURS, stop_hour))
    keys = ((hour, summary_key(hour)) for hour in week.hours)
    week.fold_hours((hour, objects[key]) for hour, key in keys if key in objects)
    return week


def digest_of(week: Week) -> str:
    """Return the digest of *week*, without an earlier week."""
    before = range(week.hours.start - WEEK_HOURS, week.hours.start)
    return digest_text(week, Week(hours=before), STACK_NAME, EMBEDDED_REGION)


def report_of(objects: Mapping[str, bytes]) -> Then:
    """Add up the rows of *objects* as `report` does."""
    places = ((parse_part_key(key), payload) for key, payload in objects.items())
    settled = rows((place[0], payload) for place, payload in places if place is not None)
    return then_by_days(settled, TeamRules())[0]


def problems_of_week(
    objects: Mapping[str, bytes], week: Week, page_week: Mapping[str, Any]
) -> list[str]:
    """Return a sentence if digest, report and page show different amounts of the same hours."""
    range_ms = page_week["end_ms"] - page_week["start_ms"]
    missing_ms = sum(end_ms - start_ms for start_ms, end_ms in page_week["missing"])
    page_hours = (range_ms - missing_ms) // page_week["step_ms"]
    page_usd = sum(row[-2] or 0 for row in page_week["amounts"]["owners"])
    hours_and_words = {
        "the digest": (len(week.settled), idle_usd(week.total)),
        "the report": (
            len(settled_hours(objects, week.hours)),
            idle_usd(report_of(objects).total),
        ),
        "the page": (page_hours, usd(page_usd)),
    }
    amounts = {
        face: f"{words} in {counted(hours, 'hour')}"
        for face, (hours, words) in hours_and_words.items()
    }
    return differences("Idle cores of the ledger", amounts)


def settle_lines(lines: Iterable[str], end_minute: int) -> SettledPast:
    """Settle the minute records among *lines* before *end_minute*."""
    minutes = minute_lines(lines, range(end_minute * MINUTE_MS))
    records = [record for record, _ in minutes]
    first = min(record.minute_ms for record in records) // MINUTE_MS
    hours = range(first // HOUR_MINUTES, (end_minute - 1) // HOUR_MINUTES + 1)
    objects: dict[str, bytes] = {}
    for hour in hours:
        objects |= _objects(hour, _rows_of(hour, records, end_minute))
    return SettledPast([line for _, line in minutes], records, objects, hours)


def days_before(past: SettledPast, days: int) -> dict[str, bytes]:
    """
    Return the objects of *days* before *past*; each hour in them repeats the replayed hour.

    A core that is idle at the end of one hour and at the start of the next is idle all along.
    """
    hour = past.hours.start
    late_ms = min(record.minute_ms for record in past.records) - hour * HOUR_MINUTES * MINUTE_MS
    whole = [replace(record, minute_ms=record.minute_ms - late_ms) for record in past.records]
    first = _rows_of(hour, whole, (hour + 1) * HOUR_MINUTES)
    later = _rows_of(hour, _continued(whole), (hour + 1) * HOUR_MINUTES)
    objects: dict[str, bytes] = {}
    hours = range(hour - 24 * days, hour)
    for earlier in hours:
        found = first if earlier == hours.start else later
        objects |= _objects(earlier, [row._replace(hour=earlier) for row in found])
    return objects


def _continued(records: Sequence[MinuteRecord]) -> list[MinuteRecord]:
    """Return the *records* of an hour as they are after an equal hour."""
    by_time = sorted(records, key=lambda record: record.minute_ms)
    last = {record.instance_id: record.idle_minutes for record in by_time}
    continued = []
    for record in by_time:
        idle_since_start = record.epoch_minute % HOUR_MINUTES + 1
        idle_minutes = tuple(
            minutes + before if minutes == idle_since_start else minutes
            for minutes, before in zip(record.idle_minutes, last[record.instance_id], strict=True)
        )
        continued.append(replace(record, idle_minutes=idle_minutes))
    return continued


def _rows_of(hour: int, records: Sequence[MinuteRecord], end_minute: int) -> list[LedgerRow]:
    """Return settle's rows for the *records* of an hour before *end_minute*."""
    minutes: dict[int, dict[tuple[str, str], list[MinuteRecord]]] = defaultdict(dict)
    for record in records:
        of_minute = minutes[record.epoch_minute]
        of_minute.setdefault((record.cluster, record.instance_id), []).append(record)
    bucket_hour = BucketHour(hour, _LEDGER_RULES, {}, {})
    read = ((at, minutes.get(at, {})) for at in bucket_hour.minutes() if at < end_minute)
    works: dict[str, OwnerWork] = {}
    return [
        row
        for cluster, instance_hour in bucket_hour.instance_hours(read, works)
        for row in instance_hour.rows(works.get(cluster, OwnerWork()))
    ]


def _objects(hour: int, found: Sequence[LedgerRow]) -> dict[str, bytes]:
    """Return settle's objects for the rows of an hour, by key."""
    objects = {}
    for part in range(PARTS_OF_HOUR):
        theirs = [row for row in found if part_of(bucket_of(row.instance_id)) == part]
        objects[part_key(hour, part)] = pack_rows(theirs)
    return {**objects, summary_key(hour): then_of(found).summary()}


_LEDGER_RULES: Final = CostRules(Prices(region=EMBEDDED_REGION))
