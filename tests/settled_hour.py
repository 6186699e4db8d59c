"""The ledger of the rehearsal's hour: its rows as `settle` reckons them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from aggregator.settle.hour import BucketHour
from neuron_wire import MinuteRecord, parse
from neuron_wire.instance_hours import LedgerRules
from neuron_wire.prices import Prices
from tests.hour import START_S

if TYPE_CHECKING:
    from neuron_wire.ledger import LedgerRow
    from tests.hour import Hour

HOUR = START_S // 3_600


def settled_rows(hour: Hour) -> list[LedgerRow]:
    """Of all instances: as if one bucket had them."""
    records = [record for record in map(parse, hour.lines) if isinstance(record, MinuteRecord)]
    by_minute: dict = defaultdict(lambda: defaultdict(list))
    for record in records:
        by_minute[record.minute_ms // 60_000][record.cluster, record.instance_id].append(record)
    bucket = BucketHour(HOUR, LedgerRules(Prices()), 60, {}, {})
    return bucket.rows((minute, by_minute[minute]) for minute in bucket.minutes())
