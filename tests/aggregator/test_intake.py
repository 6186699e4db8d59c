"""
Which log lines become records, and which are dropped and why.
"""

from __future__ import annotations

import json

import pytest

from aggregator.intake import LogLine, take_in
from aggregator.store import TableError
from tests.aggregator.made_records import MINUTE, lines, message, record
from tests.aggregator.memory_table import MemoryTable

END_S = (MINUTE + 1) * 60
LATE_MINUTES = 120


def taken(log_lines, now_s=END_S, table=None):
    """
    What became of the lines, at *now_s*.
    """
    return take_in(log_lines, table or MemoryTable(), LATE_MINUTES, lambda: now_s)


def stored(table) -> int:
    """
    Records in the table.
    """
    return sum(len(bucket) for bucket in table.records.values())


def changed(**members) -> str:
    """
    A good line with some members changed; None takes one away.
    """
    line = {**json.loads(message(record())), **members}
    return json.dumps({name: value for name, value in line.items() if value is not None})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not_json"),
        ('{"_aws":{"Timestamp"', "not_json"),
        ("[" * 100_000, "not_json"),
        ("[]", "not_an_object"),
        ('{"message":"START RequestId"}', "not_ours"),
        (changed(Schema=2), "schema_newer"),
        (changed(InstanceId=None), "missing_member"),
        (changed(InstanceId=""), "bad_member"),
        (changed(CoveredSeconds="60"), "bad_member"),
        (changed(_aws={"Timestamp": (MINUTE + 122) * 60_000}), "ahead_of_time"),
    ],
)
def test_a_bad_line_costs_itself_only(text, reason):
    """
    It is counted with its reason and its event is named; the others are stored.
    """
    table = MemoryTable()
    good = lines(record(), record(seq=2))
    found = taken([good[0], LogLine("bad-event", text), good[1]], table=table)
    assert ({reason: 1}, {reason: ["bad-event"]}) == (found.rejected, found.examples)
    assert 2 == found.stored == stored(table)


def test_few_events_are_named_and_all_are_counted():
    """
    Five examples of a thousand.
    """
    found = taken([LogLine(f"event-{number}", "junk") for number in range(1000)])
    assert {"not_json": 1000} == found.rejected
    assert 5 == len(found.examples["not_json"])


def test_other_kinds_are_left_alone():
    """
    They are good lines, and not for the stack.
    """
    table = MemoryTable()
    found = taken([LogLine("1", changed(Kind="event"))], table=table)
    assert (1, {}, 0, 0) == (found.other, found.rejected, found.stored, stored(table))


@pytest.mark.parametrize(("age_minutes", "stored_records"), [(120, 1), (121, 0)])
def test_older_than_late_minutes_is_too_late(age_minutes, stored_records):
    """
    The limit is inclusive, and what is too late is counted.
    """
    table = MemoryTable()
    found = taken(lines(record()), now_s=(MINUTE + age_minutes) * 60, table=table)
    assert (stored_records, 1 - stored_records) == (stored(table), found.too_late)


def test_copies_in_one_delivery_are_stored_once():
    """
    DynamoDB refuses a batch in which a key stands twice.
    """
    table = MemoryTable()
    found = taken(lines(record(), record(), record(seq=2)), table=table)
    assert 2 == found.stored == stored(table)


@pytest.mark.parametrize(("after_s", "marked"), [(39.9, False), (40.0, True), (3600.0, True)])
def test_a_minute_that_may_be_closed_gets_a_marker(after_s, marked):
    """
    From 40 s after its end, which is 5 s before it may be closed.
    """
    table = MemoryTable()
    taken(lines(record()), now_s=END_S + after_s, table=table)
    assert marked == (MINUTE in table.markers)


def test_the_clock_is_read_after_the_records_are_stored():
    """
    A delivery that starts in time and takes long leaves a marker.
    """
    table = MemoryTable()
    clock = iter([END_S + 1.0, END_S + 60.0])
    take_in(lines(record()), table, LATE_MINUTES, lambda: next(clock))
    assert [MINUTE] == list(table.markers)


def test_each_marker_is_a_new_one():
    """
    So that clearing the old one does not clear the new.
    """
    table = MemoryTable()
    taken(lines(record()), now_s=END_S + 60, table=table)
    first = dict(table.markers)
    taken(lines(record()), now_s=END_S + 60, table=table)
    assert first.keys() == table.markers.keys()
    assert first != table.markers


def test_what_was_stored_before_a_failure_is_marked_too():
    """
    If no retry succeeds, the records that did get in still count.
    """

    class Full(MemoryTable):
        def put_records(self, items):
            super().put_records(items[:1])
            msg = "the table left 1 item unwritten"
            raise TableError(msg)

    table = Full()
    with pytest.raises(TableError):
        taken(lines(record(), record(seq=2)), now_s=END_S + 60, table=table)
    assert [MINUTE] == list(table.markers)


def test_nothing_stored_is_no_call_of_the_table():
    """
    A delivery of bad lines alone writes nothing.
    """
    table = MemoryTable()
    table.put_markers = None  # would not be callable
    assert 0 == taken([LogLine("1", "junk")], now_s=END_S + 60, table=table).stored
