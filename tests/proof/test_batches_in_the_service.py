"""
The service accepts what the emitter sends: the emitter's limits and the double's rules share no
code.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_emitter.delivery.destination import cut
from neuron_emitter.spool.spool_records import SpooledRecord
from neuron_wire.names import DAY_MS, HOUR_MS
from proof.logs.rules import RECORDS_GROUP, LogRules
from tests.neuron_emitter.delivery.fake_destinations import DELIVERED_BOOT
from tests.recorded.service_recording import RECORDED_NOW_MS, RECORDED_NOW_S, RECORDED_STREAM

EDGES_MS = [
    edge_ms + step_ms
    for edge_ms in (-2 * HOUR_MS, 0, DAY_MS, 14 * DAY_MS, 15 * DAY_MS)
    for step_ms in (-1, 0, 1)
]
# Lengths at which one, two or three events fill a call, and characters of two bytes.
LENGTHS = [0, 1, 349_499, 349_500, 524_262, 524_263, 1_048_549, 1_048_550, 1_048_551]
EDGE_LINES = [character * length for length in LENGTHS for character in "xé"]
EDGE_RECORDS = st.tuples(
    st.sampled_from(EDGES_MS) | st.integers(-3 * HOUR_MS, 15 * DAY_MS),
    st.sampled_from(EDGE_LINES) | st.text("xé", max_size=9),
)


def records_of(parts):
    """Return spooled records of (age in ms, line)."""
    return [
        SpooledRecord(place, DELIVERED_BOOT, place, RECORDED_NOW_MS - age_ms, line)
        for place, (age_ms, line) in enumerate(parts, 1)
    ]


def taken_of(batches):
    """Return what the service has after all batches; it must accept each batch."""
    rules = LogRules(lambda: RECORDED_NOW_S, {RECORDS_GROUP: {"i-0"}})
    for batch in batches:
        events = [{"timestamp": event.timestamp_ms, "message": event.line} for event in batch]
        answer = rules.call("PutLogEvents", {**RECORDED_STREAM, "logEvents": events})
        assert "rejectedLogEventsInfo" not in answer
    return [(event.timestamp_ms, event.message) for event in rules.applied]


@given(st.lists(EDGE_RECORDS, max_size=12))
@settings(max_examples=50)
def test_every_batch_is_taken_whole(parts):
    """Each sendable record arrives once; an unsendable record is found before it is sent."""
    records = records_of(parts)
    batches, unsendable = cut(records, now_ms=RECORDED_NOW_MS)
    left_out = [event for those in unsendable.values() for event in those]
    expected = [(record.timestamp_ms, record.line) for record in records if record not in left_out]
    assert sorted(expected) == sorted(taken_of(batches))


@given(EDGE_RECORDS)
@settings(max_examples=50)
def test_nothing_is_held_back_that_would_be_taken(part):
    """A record is unsendable only if the service rejects it alone."""
    (record,) = records_of([part])
    age_ms, line = part
    batches, _ = cut([record], now_ms=RECORDED_NOW_MS)
    would_be_taken = (
        -2 * HOUR_MS <= age_ms <= 14 * DAY_MS and 1 <= len(line.encode()) <= 1_048_576 - 26
    )
    assert would_be_taken == bool(batches)
