"""
The ledger of the replayed hour: lines, rows, report and digest must give the same amounts.

Settle's own reckoning, without its table: the embedded one needs half a minute for its
thousands of queries. The bucket is in memory.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from aggregator.digest.week import WEEK_HOURS, Week, digest_text
from aggregator.environment import Rules
from aggregator.settle.ledger_hour import BucketHour
from aggregator.settle.purchases import part_of
from aggregator.storage.records import bucket_of
from local.embedded_aws.clients import REGION
from local.rehearsal.stack import STACK_NAME
from neuron_emf.ledger import rows
from neuron_emf.reading.minute_lines import MinuteLines
from neuron_emf.reading.periods import ALWAYS
from neuron_emf.report.collection import then_by_days
from neuron_wire import MinuteRecord, parse
from neuron_wire.instance_hours import LedgerRules, OwnerWork
from neuron_wire.ledger import PARTS, USD_PLACES, pack_rows, part_key
from neuron_wire.names import HOUR_MINUTES, MINUTE_MS
from neuron_wire.phrases import usd
from neuron_wire.prices import Prices
from neuron_wire.teams import TeamRules
from neuron_wire.then import summary_key, then_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from neuron_wire.ledger import LedgerRow

_NANO: Final = 10**USD_PLACES


@dataclass(frozen=True, slots=True)
class SettledPast:
    """
    The replayed hour as the ledger has it; it may touch two hours of the clock.

    Attributes:
        lines: Its minute lines.

        objects: Of the ledger, by key.

        hours: Hours of the clock that are in it.
    """

    lines: Sequence[str]
    objects: dict[str, bytes]
    hours: range

    def objects_of(self, hours: range) -> dict[str, bytes]:
        """The objects of those of *hours* that are in it."""
        keys = [part_key(hour, part) for hour in hours for part in range(PARTS)]
        found = (*keys, *map(summary_key, hours))
        return {key: self.objects[key] for key in found if key in self.objects}

    def digest(self) -> tuple[Week, str]:
        """The sums of the digest that ends with it, and its text."""
        end = self.hours.stop
        week = Week(hours=range(end - WEEK_HOURS, end))
        week.fold_hours((hour, self.objects[summary_key(hour)]) for hour in self.hours)
        before = Week(hours=range(end - 2 * WEEK_HOURS, end - WEEK_HOURS))
        return week, digest_text(week, before, STACK_NAME, REGION)

    def idle_usd(self) -> dict[str, Fraction]:
        """What idle cores cost by the lines, the ledger, the report from it and the digest."""
        by_lines = MinuteLines(ALWAYS, "", _LEDGER_RULES).fold_lines(self.lines)
        thens = {
            "the lines": then_by_days(by_lines, TeamRules())[0],
            "the report": then_by_days(self._rows(), TeamRules())[0],
            "the digest": self.digest()[0],
        }
        nanos = {"the ledger": sum(row.idle_cost or 0 for row in self._rows())}
        nanos |= {who: then.total.idle_cost or 0 for who, then in thens.items()}
        return {who: Fraction(nano, _NANO) for who, nano in nanos.items()}

    def problems(self) -> list[str]:
        """One sentence where two of them differ."""
        amounts = self.idle_usd()
        if len(set(amounts.values())) == 1:
            return []
        said = ", ".join(f"{who} {float(amount):.9f}" for who, amount in amounts.items())
        return [f"idle cores of the replayed hour cost different amounts, in USD: {said}"]

    def sentence(self) -> str:
        """The amount on which all of them agree, as a sentence."""
        amounts = self.idle_usd()
        *some, last = amounts
        return (
            f"Its idle cores cost {usd(float(amounts[last]))} by {', '.join(some)} and {last}, "
            "to the last digit."
        )

    def _rows(self) -> Iterator[LedgerRow]:
        places = ((hour, part_key(hour, part)) for hour in self.hours for part in range(PARTS))
        return rows((hour, self.objects[key]) for hour, key in places)


def settle_lines(lines: Iterable[str], end_minute: int) -> SettledPast:
    """The minute records among *lines* before *end_minute*, settled."""
    records, texts = [], []
    for line in lines:
        record = parse(line)
        if isinstance(record, MinuteRecord) and record.minute_ms // MINUTE_MS < end_minute:
            records.append(record)
            texts.append(line)
    first = min(record.minute_ms for record in records) // MINUTE_MS
    hours = range(first // HOUR_MINUTES, (end_minute - 1) // HOUR_MINUTES + 1)
    objects: dict[str, bytes] = {}
    for hour in hours:
        objects |= _objects(hour, _rows_of(hour, records, end_minute))
    return SettledPast(texts, objects, hours)


def days_before(past: SettledPast, days: int) -> dict[str, bytes]:
    """The objects of *days* before *past*, in each of whose hours the replayed one is repeated."""
    hour = past.hours.start
    records = [record for record in map(parse, past.lines) if isinstance(record, MinuteRecord)]
    late_ms = min(record.minute_ms for record in records) - hour * HOUR_MINUTES * MINUTE_MS
    whole = [replace(record, minute_ms=record.minute_ms - late_ms) for record in records]
    found = _rows_of(hour, whole, (hour + 1) * HOUR_MINUTES)
    objects: dict[str, bytes] = {}
    for earlier in range(hour - 24 * days, hour):
        objects |= _objects(earlier, [row._replace(hour=earlier) for row in found])
    return objects


def _rows_of(hour: int, records: Sequence[MinuteRecord], end_minute: int) -> list[LedgerRow]:
    """What settle makes of the *records* of an hour before *end_minute*."""
    minutes: dict[int, dict[tuple[str, str], list[MinuteRecord]]] = defaultdict(dict)
    for record in records:
        of_minute = minutes[record.minute_ms // MINUTE_MS]
        of_minute.setdefault((record.cluster, record.instance_id), []).append(record)
    reckoning = BucketHour(hour, _LEDGER_RULES, {}, {})
    read = ((at, minutes.get(at, {})) for at in reckoning.minutes() if at < end_minute)
    works: dict[str, OwnerWork] = {}
    return [
        row
        for cluster, instance_hour in reckoning.instance_hours(read, works)
        for row in instance_hour.rows(works.get(cluster, OwnerWork()))
    ]


def _objects(hour: int, found: Sequence[LedgerRow]) -> dict[str, bytes]:
    """What settle puts of the rows of an hour, by key."""
    objects = {}
    for part in range(PARTS):
        theirs = [row for row in found if part_of(bucket_of(row.instance_id)) == part]
        objects[part_key(hour, part)] = pack_rows(theirs)
    return {**objects, summary_key(hour): then_of(found).summary()}


_LEDGER_RULES: Final = LedgerRules(Prices(region=REGION), Rules().idle_after_minutes)
