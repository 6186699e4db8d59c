"""
The last records of instances that a minute has no telemetry of.

The table still has their minutes, so nothing but the minute of each is remembered. A bucket of an
earlier minute is read whole, once for all instances that were last seen in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aggregator.minutes import SILENT_FORGET_MINUTES, TimeCheck
from aggregator.reading.bucket_reader import BucketReader, ReadingCounts
from aggregator.reading.capacity import HourAdmission
from neuron_wire.merging import merge_records
from neuron_wire.names import UNKNOWN_STATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aggregator.storage.table import Table
    from neuron_wire import MinuteRecord
    from neuron_wire.merging import Key

MAX_MINUTES: Final = 8
"""
Earlier minutes of one bucket that are read for one minute. 10,000 instances of which 1 in 40 is
silent, each since another minute, need them all; a record beyond them counts as not read.
"""


@dataclass(frozen=True, slots=True)
class LastRecords:
    """
    Reads the last records before one minute.

    Attributes:
        table: The table with the records.

        minute: The minute that lacks records.

        check_time: Raises when the run must stop.
    """

    table: Table
    minute: int
    check_time: TimeCheck

    def read_last(
        self, bucket: int, last_seen: Mapping[Key, int]
    ) -> Iterator[tuple[Key, MinuteRecord | None]]:
        """
        Return the last merged record that knows a core of each instance of *bucket*.

        *last_seen* has the latest minute that may have it; None is a record that was not read. An
        instance without one since it would be forgotten is left out.
        """
        left = dict(last_seen)
        for _ in range(MAX_MINUTES):
            if not left:
                return
            self.check_time()
            minute = max(left.values())
            wanted = {key for key, at in left.items() if at == minute}
            counts = ReadingCounts()
            reader = BucketReader(
                table=self.table,
                registry=HourAdmission(wanted),
                outcome=counts,
                check_time=self.check_time,
                minute=minute,
                published=frozenset(),
                instances={instance_id for _, instance_id in wanted},
            )
            records_of = reader.read_bucket(bucket)
            for key in wanted:
                record = merge_records(records_of[key]).record if key in records_of else None
                if record is not None and knows_a_core(record):
                    del left[key]
                    yield key, record
                elif counts.records_unreadable:
                    del left[key]
                    yield key, None
                elif self.minute - minute < SILENT_FORGET_MINUTES:
                    left[key] = minute - 1
                else:
                    del left[key]
        yield from ((key, None) for key in left)


def knows_a_core(record: MinuteRecord) -> bool:
    """Return True if *record* has telemetry of a core."""
    return len(record.core_state) > record.core_state.count(UNKNOWN_STATE)
