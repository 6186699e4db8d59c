"""The table in DynamoDB, and the table in memory with the same contract."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.storage.dynamodb import Requests
from aggregator.storage.table import Table
from aggregator.storage.values import (
    CloseProgress,
    FindingsItem,
    Publication,
    RecordItem,
    TableError,
)
from proof.factories.records import MINUTE
from proof.memory_table import MemoryTable

LIFE_S = MINUTE * 60 + 86_400


@pytest.fixture(params=["memory", "dynamodb"])
def table(request):
    """Return each of the two tables in turn."""
    if request.param == "memory":
        return MemoryTable()
    request.getfixturevalue("dynamodb")
    return Table.connect("records")


def item(key, payload=b"payload", minute=MINUTE, bucket=0):
    """Return a record's item; the payload is opaque to the table."""
    return RecordItem(minute, bucket, key, payload, LIFE_S)


# --- the contract of both tables ---


def test_a_bucket_gives_its_own_records_in_key_order(table):
    """
    A bucket returns its own records in key order, whatever the order and number of the writes.
    """
    keys = [f"{number:03}" for number in range(60)]
    table.put_records([item(key, key.encode()) for key in reversed(keys)])
    table.put_records([item("999", bucket=1), item("999", minute=MINUTE + 1)])
    assert [key.encode() for key in keys] == list(table.read_bucket(MINUTE, 0))
    assert [] == list(table.read_bucket(MINUTE, 2))


def test_more_than_a_page_is_read(table):
    """A bucket of more than one page, at most 1 MB, is read in full."""
    payload = bytes(100_000)
    table.put_records([item(f"{number:02}", payload) for number in range(25)])
    assert [payload] * 25 == list(table.read_bucket(MINUTE, 0))


def test_a_marker_is_cleared_only_with_its_token(table):
    """A marker that was set again is not cleared with its old token."""
    table.put_markers([MINUTE, MINUTE + 1], "one", LIFE_S)
    table.put_markers([MINUTE + 1], "two", LIFE_S)
    table.clear_marker(MINUTE, "one")
    table.clear_marker(MINUTE + 1, "one")
    table.clear_marker(MINUTE + 2, "one")
    assert {MINUTE + 1: "two"} == table.read_markers(range(MINUTE - 200, MINUTE + 5))


def test_only_the_markers_asked_for_are_read(table):
    """Requested markers are read, none or more than fit one request of DynamoDB, and no others."""
    minutes = range(MINUTE, MINUTE + 150)
    table.put_markers(minutes, "one", LIFE_S)
    assert dict.fromkeys(minutes[10:], "one") == table.read_markers(minutes[10:])
    assert {} == table.read_markers([])


def test_what_is_open_is_written_over_what_was_read_alone(table):
    """A second writer of a version of open findings is refused, and the first write stays."""
    first = FindingsItem(1, 0, b"first")
    second = FindingsItem(2, 3, b"second")
    assert [True, False] == [table.write_findings("cluster#a", first, LIFE_S) for _ in range(2)]
    assert table.write_findings("cluster#a", second, LIFE_S)
    assert table.write_findings("07", first, LIFE_S)
    assert {"cluster#a": second, "07": first} == table.read_findings()


def test_the_lease_has_one_owner_until_it_expires(table):
    """
    A lease has one owner until it expires; the owner cannot take it twice, because a redelivered
    tick may overlap.
    """
    assert table.take_lease("one", 100.0, 150.0)
    assert [False, False] == [table.take_lease(owner, 150.0, 190.0) for owner in ("two", "one")]
    assert table.take_lease("two", 150.001, 190.0)


def test_a_publication_is_remembered_once(table):
    """A publication number is stored once, and the second of two runs learns that it was late."""
    tallies = {"Executions": 5, "IdleCost": 0.125}
    first = Publication(1, tallies, "digest", 3)
    second = Publication(2, {}, "other", 3)
    assert table.write_publication(MINUTE, "training", first, LIFE_S)
    assert not table.write_publication(MINUTE, "training", first, LIFE_S)
    assert {"training": first} == table.read_publications(MINUTE)
    assert table.write_publication(MINUTE, "training", second, LIFE_S)
    assert not table.write_publication(MINUTE, "training", second, LIFE_S)
    assert {"training": second} == table.read_publications(MINUTE)
    assert {} == table.read_publications(MINUTE + 1)


def test_the_last_rollup_is_that_of_the_latest_minute(table):
    """The last rollup is replaced by a rollup of its minute or a later one."""
    assert table.read_last_rollup("minute", "training") is None
    for minute, line in ((MINUTE, "a"), (MINUTE + 1, "b"), (MINUTE + 1, "c"), (MINUTE, "d")):
        table.write_last_rollup("minute", "training", minute, line)
    assert "c" == table.read_last_rollup("minute", "training")
    table.write_last_rollup("minute", "training", MINUTE + 2, "é" * 30_000)
    assert "é" * 30_000 == table.read_last_rollup("minute", "training")


def test_what_was_published_of_one_cluster_is_read_for_many_minutes(table):
    """
    Publications of one cluster are read for more minutes than fit one request, without others.
    """
    published = {}
    for minute in range(MINUTE, MINUTE + 130):
        published[minute] = Publication(1, {"IdleCost": minute - MINUTE}, "digest", 3)
        table.write_publication(minute, "training", published[minute], LIFE_S)
        table.write_publication(minute, "serving", Publication(1, {}, "", 0), LIFE_S)
    del published[MINUTE + 129]
    assert published == dict(table.read_published("training", range(MINUTE - 50, MINUTE + 129)))
    assert [] == list(table.read_published("training", []))
    assert [] == list(table.read_published("other", range(MINUTE, MINUTE + 3)))


@given(st.lists(st.integers(0, 400), max_size=8), st.integers(0, 400), st.integers(0, 400))
def test_no_departure_of_the_asked_minutes_is_missed(offsets, first, last):
    """All departures of the requested minutes are read, whatever hours they are in."""
    items = []

    class Client:
        def put_item(self, **request):
            items.append(request["Item"])

        def query(self, **request):
            pk = request["ExpressionAttributeValues"][":pk"]
            return {"Items": [item for item in items if item["pk"] == pk]}

    table = Table(Requests(Client(), "records"))
    held = {(f"i-{offset}", MINUTE + offset) for offset in offsets}
    for instance_id, minute in held:
        table.put_departure(instance_id, minute, LIFE_S)
    departures = table.read_departures(MINUTE + first, MINUTE + last)
    read = [(name, minute) for name, minutes in departures.items() for minute in minutes]
    asked = {departure for departure in held if first <= departure[1] - MINUTE <= last}
    assert len(read) == len(set(read))
    assert asked <= set(read) <= held
    assert all(first - 60 < minute - MINUTE < last + 60 for _, minute in read)


def test_a_transition_is_remembered_as_sent(table):
    """A sent transition is remembered, even if its name is longer than a key can be."""
    first = "alarm#" + "n" * 5000 + "#1"
    other = "alarm#" + "n" * 5000 + "#2"
    table.put_notified(first, LIFE_S)
    table.put_notified(first, LIFE_S)
    assert [True, False] == [table.was_notified(first), table.was_notified(other)]


@pytest.mark.parametrize(
    "use",
    [
        lambda table: table.put_records([item("a"), item("a")]),
        lambda table: table.put_records([item("")]),
        lambda table: table.put_records([item("a" * 1025)]),
        lambda table: table.put_records([item("a", bytes(400 << 10))]),
        lambda table: table.put_markers([MINUTE, MINUTE], "one", LIFE_S),
        lambda table: table.write_findings("", FindingsItem(1, 0, b""), LIFE_S),
        lambda table: table.write_last_rollup("minute", "", MINUTE, "line"),
    ],
)
def test_what_dynamodb_rejects_is_an_error(table, use):
    """An empty or long key, a key twice in one request, and an item of 400 KB are rejected."""
    with pytest.raises(TableError):
        use(table)


# --- the table in DynamoDB ---


def test_items_expire(dynamodb):
    """
    Items about a moment expire in seconds or, for a last rollup, after 30 days; state never
    expires.
    """
    table = Table.connect("records")
    table.put_records([item("a")])
    table.put_markers([MINUTE], "one", LIFE_S)
    table.write_publication(MINUTE, "training", Publication(1, {}, "", 0), LIFE_S)
    table.put_departure("i-1", MINUTE, LIFE_S)
    table.put_notified("one", LIFE_S)
    table.write_last_rollup("minute", "training", MINUTE, "line")
    table.write_registry(0, b"")
    table.write_progress(CloseProgress(1, (), 1))
    items = dynamodb.scan(TableName="records")["Items"]

    def kind(pk):
        return "notified" if pk.startswith("notified#") else pk

    assert {
        f"m#{MINUTE}#00": str(LIFE_S),
        f"dirty#{MINUTE}": str(LIFE_S),
        f"p#{MINUTE}": str(LIFE_S),
        f"gone#{MINUTE // 60}": str(LIFE_S),
        "notified": str(LIFE_S),
        "cluster#minute": str((MINUTE + 1) * 60 + 30 * 24 * 3600),
        "registry": None,
        "close": None,
    } == {kind(stored["pk"]["S"]): stored.get("ttl", {}).get("N") for stored in items}


def test_what_closing_relies_on_is_read_consistently():
    """
    Reads of close are consistent, so that it sees each completed write; only markers may be late by
    a run.
    """
    client = Mock()
    client.query.return_value = {"Items": []}
    client.get_item.return_value = {}
    table = Table(Requests(client, "records"))
    list(table.read_bucket(MINUTE, 0))
    table.read_publications(MINUTE)
    table.read_registry()
    table.read_progress()
    table.read_departures(MINUTE, MINUTE)
    table.read_last_rollup("minute", "training")
    table.was_notified("one")
    assert [True] * 7 == [call.kwargs["ConsistentRead"] for call in client.method_calls]
