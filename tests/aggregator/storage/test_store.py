"""The table in DynamoDB, and that the table in memory keeps the same promises."""

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
    """Each of the two tables in turn."""
    if request.param == "memory":
        return MemoryTable()
    request.getfixturevalue("dynamodb")
    return Table.connect("records")


def item(key, payload=b"payload", minute=MINUTE, bucket=0):
    """A record's item; the payload is opaque to the table."""
    return RecordItem(minute, bucket, key, payload, LIFE_S)


# --- the contract, of both ---


def test_a_bucket_gives_its_own_records_in_key_order(table):
    """Whatever the order and the number of the puts; more than one batch."""
    keys = [f"{number:03}" for number in range(60)]
    table.put_records([item(key, key.encode()) for key in reversed(keys)])
    table.put_records([item("999", bucket=1), item("999", minute=MINUTE + 1)])
    assert [key.encode() for key in keys] == list(table.read_bucket(MINUTE, 0))
    assert [] == list(table.read_bucket(MINUTE, 2))


def test_more_than_a_page_is_read(table):
    """A query answers at most one megabyte at a time."""
    payload = bytes(100_000)
    table.put_records([item(f"{number:02}", payload) for number in range(25)])
    assert [payload] * 25 == list(table.read_bucket(MINUTE, 0))


def test_a_marker_is_cleared_only_with_its_token(table):
    """One that was set again since stays."""
    table.put_markers([MINUTE, MINUTE + 1], "one", LIFE_S)
    table.put_markers([MINUTE + 1], "two", LIFE_S)
    table.clear_marker(MINUTE, "one")
    table.clear_marker(MINUTE + 1, "one")
    table.clear_marker(MINUTE + 2, "one")
    assert {MINUTE + 1: "two"} == table.read_markers(range(MINUTE - 200, MINUTE + 5))


def test_only_the_markers_asked_for_are_read(table):
    """More than DynamoDB takes in one request, and none at all."""
    minutes = range(MINUTE, MINUTE + 150)
    table.put_markers(minutes, "one", LIFE_S)
    assert dict.fromkeys(minutes[10:], "one") == table.read_markers(minutes[10:])
    assert {} == table.read_markers([])


def test_what_is_open_is_written_over_what_was_read_alone(table):
    """A second writer of one version is refused, and what the first wrote stays."""
    first = FindingsItem(1, 0, b"first")
    second = FindingsItem(2, 3, b"second")
    assert [True, False] == [table.write_findings("cluster#a", first, LIFE_S) for _ in range(2)]
    assert table.write_findings("cluster#a", second, LIFE_S)
    assert table.write_findings("07", first, LIFE_S)
    assert {"cluster#a": second, "07": first} == table.read_findings()


def test_the_lease_has_one_owner_until_it_expires(table):
    """Also not the same owner twice: a redelivered tick may overlap the first."""
    assert table.take_lease("one", 100.0, 150.0)
    assert [False, False] == [table.take_lease(owner, 150.0, 190.0) for owner in ("two", "one")]
    assert table.take_lease("two", 150.001, 190.0)


def test_a_publication_is_remembered_once(table):
    """Of two runs with the same number one hears that it was too late."""
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
    """The same minute again replaces it, an earlier one does not."""
    assert table.read_last_rollup("minute", "training") is None
    for minute, line in ((MINUTE, "a"), (MINUTE + 1, "b"), (MINUTE + 1, "c"), (MINUTE, "d")):
        table.write_last_rollup("minute", "training", minute, line)
    assert "c" == table.read_last_rollup("minute", "training")
    table.write_last_rollup("minute", "training", MINUTE + 2, "é" * 30_000)
    assert "é" * 30_000 == table.read_last_rollup("minute", "training")


def test_what_was_published_of_one_cluster_is_read_for_many_minutes(table):
    """More than one request may ask for; minutes and clusters beside them are left out."""
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
    """Whatever hours they lie in."""
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
    """Its name may be longer than any key."""
    one = "alarm#" + "n" * 5000 + "#1"
    other = "alarm#" + "n" * 5000 + "#2"
    table.put_notified(one, LIFE_S)
    table.put_notified(one, LIFE_S)
    assert [True, False] == [table.was_notified(one), table.was_notified(other)]


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


# --- DynamoDB alone ---


def test_items_expire(dynamodb):
    """Whatever belongs to a moment has a ttl in seconds, a last rollup 30 days; state has none."""
    table = Table.connect("records")
    table.put_records([item("a")])
    table.put_markers([MINUTE], "one", LIFE_S)
    table.write_publication(MINUTE, "training", Publication(1, {}, "", 0), LIFE_S)
    table.put_departure("i-1", MINUTE, LIFE_S)
    table.put_notified("one", LIFE_S)
    table.write_last_rollup("minute", "training", MINUTE, "line")
    table.write_registry(0, b"")
    table.write_progress(CloseProgress(1, (), 1))
    found = dynamodb.scan(TableName="records")["Items"]

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
    } == {kind(one["pk"]["S"]): one.get("ttl", {}).get("N") for one in found}


def test_what_closing_relies_on_is_read_consistently():
    """A put that has returned is seen; only markers may be seen a run later."""
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
