"""What is read of a minute: copies count once, damage costs itself only."""

from __future__ import annotations

from dataclasses import replace

from aggregator.close.reduction import CloseOutcome
from aggregator.close.registry import Registry
from aggregator.reading.bucket_reader import BucketReader
from aggregator.storage.records import item_of, packs_of, records_of
from proof.factories.records import MINUTE, full_record, some_holders
from tests.aggregator.made_stack import Stack


def test_of_two_copies_that_with_more_holders_counts():
    """Alone a record has room for few of them, in a pack for all."""
    made = replace(
        full_record(64, seed=1), bye=False, holders=some_holders(64, seed=1), holders_more=1
    )
    (item,), (pack,) = [item_of(made, 0)], packs_of([made], 120)
    closings = []
    for order in ((item, pack), (pack, item)):
        stack = Stack()
        stack.table.put_records(order)
        stack.table.records[MINUTE, item.bucket] = {
            f"{place}": one.payload for place, one in enumerate(order)
        }
        reading = BucketReader(stack.table, Registry(5), CloseOutcome(), lambda: None, MINUTE)
        ((_, (read,)),) = reading.read_bucket(item.bucket).items()
        closings.append(read)
    assert 1 < records_of(item.payload, MINUTE)[0][0].holders_more
    assert [made, made] == closings
