"""Batches hold what PutLogEvents accepts, and lose no record."""

from __future__ import annotations

import dataclasses
import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.delivery.destination import (
    EVENT_OVERHEAD_BYTES,
    MAX_BATCH_BYTES,
    BatchLimits,
    cut,
    rejected_places,
)
from neuron_emitter.spool.spool_records import SpooledRecord
from tests.neuron_emitter.delivery.fake_destinations import DELIVERED_BOOT
from tests.neuron_emitter.spool_parts import SPOOL_NOW_MS

# PutLogEvents' rules with small limits, so that random records meet each rule.
SMALL_LIMITS = BatchLimits(
    max_events=4,
    max_bytes=90,
    max_event_bytes=40,
    event_overhead_bytes=10,
    max_span_ms=60,
    max_age_ms=100,
    max_future_ms=30,
    by_time=True,
)


def spooled(*lines: tuple[int, str]) -> list[SpooledRecord]:
    """Return records as the spool returns them, from (timestamp_ms, line)."""
    return [SpooledRecord(i, DELIVERED_BOOT, i, ms, line) for i, (ms, line) in enumerate(lines, 1)]


def at_now(*lines: str) -> list[SpooledRecord]:
    """Return records of one moment."""
    return spooled(*((SPOOL_NOW_MS, line) for line in lines))


ANY_WAITING_RECORDS = st.lists(
    st.tuples(
        st.integers(SPOOL_NOW_MS - 110, SPOOL_NOW_MS + 40),
        st.text(alphabet="aé€😀", max_size=14),  # 1 to 4 bytes per character
    ),
    max_size=30,
).map(lambda lines: spooled(*lines))


@given(ANY_WAITING_RECORDS)
def test_without_time_order_records_stay_as_they_came(records):
    """Without time order, records keep their order of arrival, and every batch fits its span."""
    limits = dataclasses.replace(
        SMALL_LIMITS, by_time=False, max_age_ms=math.inf, max_future_ms=math.inf
    )
    batches, _ = cut(records, now_ms=SPOOL_NOW_MS, limits=limits)
    placed = [record.id for batch in batches for record in batch]
    assert sorted(placed) == placed
    for batch in batches:
        times = [record.timestamp_ms for record in batch]
        assert max(times) - min(times) <= SMALL_LIMITS.max_span_ms


@given(ANY_WAITING_RECORDS)
def test_a_new_batch_begins_only_when_it_must(records):
    """No batch had room for the first record of the next batch."""
    batches, _ = cut(records, now_ms=SPOOL_NOW_MS, limits=SMALL_LIMITS)
    for batch, following in itertools.pairwise(batches):
        longer = (*batch, following[0])
        assert (
            len(longer) > SMALL_LIMITS.max_events
            or sum(len(record.line.encode()) + 10 for record in longer) > SMALL_LIMITS.max_bytes
            or longer[-1].timestamp_ms - longer[0].timestamp_ms > SMALL_LIMITS.max_span_ms
        )


@pytest.mark.parametrize(("more", "sizes"), [(0, [2]), (1, [1, 1])])
def test_a_batch_at_exactly_the_limit_is_one_call(more, sizes):
    """The limit is inclusive: 1,048,576 bytes with 26 per event are one batch, one more is two."""
    line = "x" * (MAX_BATCH_BYTES // 2 - EVENT_OVERHEAD_BYTES)
    batches, _ = cut(at_now(line, line + "x" * more), now_ms=SPOOL_NOW_MS)
    assert sizes == [len(batch) for batch in batches]


@pytest.mark.parametrize(
    ("indexes", "expected"),
    [
        ({"tooOldLogEventEndIndex": 2}, {"too_old": (0, 1)}),
        ({"tooOldLogEventEndIndex": 0}, {}),
        ({"expiredLogEventEndIndex": 2}, {"expired": (0, 1)}),
        (
            {"tooOldLogEventEndIndex": 1, "expiredLogEventEndIndex": 3},
            {"too_old": (0,), "expired": (1, 2)},
        ),
        ({"tooNewLogEventStartIndex": 3}, {"too_new": (3,)}),
        ({"tooNewLogEventStartIndex": 0}, {"too_new": (0, 1, 2, 3)}),
        (
            {"tooOldLogEventEndIndex": 2, "tooNewLogEventStartIndex": 2},
            {"too_old": (0, 1), "too_new": (2, 3)},
        ),
        ({"tooOldLogEventEndIndex": 9, "tooNewLogEventStartIndex": 0}, {"too_old": (0, 1, 2, 3)}),
    ],
)
def test_rejected_events_are_in_one_class_each(indexes, expected):
    """A rejected event has one reason; ends are exclusive, and indexes are cut to the batch."""
    assert expected == rejected_places({"rejectedLogEventsInfo": indexes}, 4)
