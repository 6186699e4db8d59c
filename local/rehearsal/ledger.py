"""
The ledger of the replayed hour: lines, rows, report and digest must give the same amounts.

Settle's own reckoning, without its table: the embedded one needs half a minute for its
thousands of queries. The bucket is in memory.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
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
            f"The replayed hour has {usd(float(amounts[last]))} of idle cores by "
            f"{', '.join(some)} and {last}, to the last digit."
        )

    def _rows(self) -> Iterator[LedgerRow]:
        places = ((hour, part_key(hour, part)) for hour in self.hours for part in range(PARTS))
        return rows((hour, self.objects[key]) for hour, key in places)


def settle_lines(lines: Iterable[str], end_minute: int) -> SettledPast:
    """The minute records among *lines* before *end_minute*, settled."""
    minutes: dict[int, dict[tuple[str, str], list[MinuteRecord]]] = defaultdict(dict)
    texts = []
    for line in lines:
        record = parse(line)
        minute = record.minute_ms // MINUTE_MS if isinstance(record, MinuteRecord) else end_minute
        if isinstance(record, MinuteRecord) and minute < end_minute:
            of_minute = minutes[minute]
            of_minute.setdefault((record.cluster, record.instance_id), []).append(record)
            texts.append(line)
    hours = range(min(minutes) // HOUR_MINUTES, (end_minute - 1) // HOUR_MINUTES + 1)
    objects = {}
    for hour in hours:
        reckoning = BucketHour(hour, _LEDGER_RULES, {}, {})
        read = ((at, minutes.get(at, {})) for at in reckoning.minutes() if at < end_minute)
        works: dict[str, OwnerWork] = {}
        found = [
            row
            for cluster, instance_hour in reckoning.instance_hours(read, works)
            for row in instance_hour.rows(works.get(cluster, OwnerWork()))
        ]
        for part in range(PARTS):
            theirs = [row for row in found if part_of(bucket_of(row.instance_id)) == part]
            objects[part_key(hour, part)] = pack_rows(theirs)
        objects[summary_key(hour)] = then_of(found).summary()
    return SettledPast(texts, objects, hours)


_LEDGER_RULES: Final = LedgerRules(Prices(region=REGION), Rules().idle_after_minutes)
