"""Log lines that become records, and the reasons why others are dropped."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.arrivals import LogLine
from aggregator.ingest.intake import take_in
from aggregator.storage.record_items import identity_of, records_of
from aggregator.storage.values import TableError
from proof.factories.records import MINUTE, lines, message, record, some_holders
from proof.memory_table import MemoryTable
from tests.aggregator.memory_stack import MINUTE_END_S

LATE_MINUTES = 120


BOTH_MODES = pytest.mark.parametrize("in_packs", [False, True], ids=["alone", "in_packs"])


def taken(log_lines, now_s=MINUTE_END_S, table=None, *, in_packs=False):
    """Deliver the lines at *now_s*; return the outcome of ingest."""
    return take_in(
        log_lines, table or MemoryTable(), LATE_MINUTES, lambda: now_s, in_packs=in_packs
    )


def identities(table):
    """Return the identities of the records in the table, with duplicates."""
    return sorted(
        (minute, *identity_of(record))
        for (minute, _), bucket in table.records.items()
        for payload in bucket.values()
        for record in records_of(payload, minute)[0]
    )


def stored(table) -> int:
    """Return the number of records in the table."""
    return len(identities(table))


def changed(**members) -> str:
    """Return a valid line with changed members; None removes a member."""
    changed_record = replace(record(), holders=some_holders(8, 1))
    line = {**json.loads(message(changed_record)), **members}
    return json.dumps({name: value for name, value in line.items() if value is not None})


@given(
    st.lists(st.integers(0, 9), max_size=30),
    st.lists(st.integers(0, 30), max_size=4),
    st.lists(st.booleans(), min_size=5, max_size=5),
)
def test_any_split_of_any_copies_stores_each_record(picks, cuts, packed):
    """Each record is stored once, whatever the order, the copies and the split into invocations."""
    records = [
        record(instance_id=f"i-{n % 3}", seq=n + 1, minute=MINUTE - n % 2) for n in range(10)
    ]
    table = MemoryTable()
    edges = [0, *sorted(cuts), len(picks)]
    for first, last, in_packs in zip(edges, edges[1:], packed, strict=False):
        taken(lines(*(records[n] for n in picks[first:last])), table=table, in_packs=in_packs)
    expected = {(records[n].minute_ms // 60_000, *identity_of(records[n])) for n in picks}
    assert expected == set(identities(table))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not_json"), ('{"_aws":{"Timestamp"', "not_json"), ("[" * 100_000, "not_json"),
        ("[]", "not_an_object"), ('{"message":"START RequestId"}', "not_ours"),
        (changed(Schema=2), "schema_newer"), (changed(InstanceId=None), "missing_member"),
        (changed(InstanceId=""), "bad_member"), (changed(CoveredSeconds="60"), "bad_member"),
    ],
)  # fmt: skip
@BOTH_MODES
def test_a_bad_line_costs_itself_only(text, reason, in_packs):
    """A bad line is counted with its reason, event and stream. All other lines are stored."""
    table = MemoryTable()
    good = lines(record(), record(seq=2))
    bad = LogLine("bad-event", text, "i-stream")
    outcome = taken([good[0], bad, good[1]], table=table, in_packs=in_packs)
    assert {reason: 1} == {name: drop.count for name, drop in outcome.dropped.items()}
    assert ["bad-event"] == outcome.dropped[reason].event_ids
    assert ["i-stream"] == outcome.dropped[reason].log_streams
    assert 2 == outcome.stored
    assert 1 == outcome.rejected
    assert 0 == outcome.too_late
    assert 2 == stored(table)


def test_packs_are_one_item_for_a_minute_and_bucket():
    """Records of one minute and bucket become one item: 1,000 instances are 32 writes a minute."""
    table = MemoryTable()
    records = [record(instance_id=f"i-{number}") for number in range(1000)]
    assert 1000 == taken(lines(*records), table=table, in_packs=True).stored == stored(table)
    assert [1] * 32 == [len(bucket) for bucket in table.records.values()]


@pytest.mark.parametrize(("after_s", "marked"), [(39.9, False), (40.0, True), (3600.0, True)])
def test_a_minute_that_may_be_closed_gets_a_marker(after_s, marked):
    """
    A record that arrives 40 s after its minute or later leaves a marker, 5 s before close can run.
    """
    table = MemoryTable()
    taken(lines(record()), now_s=MINUTE_END_S + after_s, table=table)
    assert marked == (MINUTE in table.markers)


def test_the_clock_is_read_after_the_records_are_stored():
    """A delivery that starts in time but stores its records late leaves a marker."""
    table = MemoryTable()
    clock = iter([MINUTE_END_S + 1.0, MINUTE_END_S + 60.0])
    take_in(lines(record()), table, LATE_MINUTES, lambda: next(clock))
    assert [MINUTE] == list(table.markers)


def test_each_marker_is_a_new_one():
    """Each marker has a token of its own, so that clearing the old marker keeps the new one."""
    table = MemoryTable()
    taken(lines(record()), now_s=MINUTE_END_S + 60, table=table)
    first = dict(table.markers)
    taken(lines(record()), now_s=MINUTE_END_S + 60, table=table)
    assert first.keys() == table.markers.keys()
    assert first != table.markers


def test_what_was_stored_before_a_failure_is_marked_too():
    """
    Records that were stored before a failure have a marker, so that they count without a retry.
    """

    class Full(MemoryTable):
        def put_records(self, items):
            super().put_records(items[:1])
            msg = "the table left 1 item unwritten"
            raise TableError(msg)

    table = Full()
    with pytest.raises(TableError):
        taken(lines(record(), record(seq=2)), now_s=MINUTE_END_S + 60, table=table)
    assert [MINUTE] == list(table.markers)


@BOTH_MODES
def test_a_raw_report_is_nothing_to_the_stack(in_packs):
    """
    Ingest drops no raw report, even if it contains the word of the filter or a whole minute line.
    """
    inner = json.loads(message(record()))
    raw = {**inner, "Kind": "raw", "CoveredSeconds": None, "Report": inner}
    table = MemoryTable()
    line = LogLine("event-0", json.dumps(raw))
    outcome = taken([line, *lines(record())], table=table, in_packs=in_packs)
    assert 1 == outcome.stored
    assert {} == dict(outcome.dropped)
    assert 1 == stored(table)
