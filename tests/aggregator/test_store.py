"""
The table in DynamoDB, and that the table in memory keeps the same promises.
"""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from aggregator.store import MAX_ATTEMPTS, DynamoTable, TableError, connect
from aggregator.table import Progress, Publication, RecordItem
from tests.aggregator.made_records import MINUTE
from tests.aggregator.memory_table import MemoryTable

LIFE_S = MINUTE * 60 + 86_400


@pytest.fixture(params=["memory", "dynamodb"])
def table(request):
    """
    Each of the two tables in turn.
    """
    if request.param == "memory":
        return MemoryTable()
    request.getfixturevalue("dynamodb")
    return connect("records")


def item(key, payload=b"payload", minute=MINUTE, bucket=0):
    """
    A record's item; the payload is opaque to the table.
    """
    return RecordItem(minute, bucket, key, payload, LIFE_S)


# --- the contract, of both ---


def test_a_bucket_gives_its_own_records_in_key_order(table):
    """
    Whatever the order and the number of the puts; more than one batch.
    """
    keys = [f"{number:03}" for number in range(60)]
    table.put_records([item(key, key.encode()) for key in reversed(keys)])
    table.put_records([item("999", bucket=1), item("999", minute=MINUTE + 1)])
    assert [key.encode() for key in keys] == list(table.read_bucket(MINUTE, 0))
    assert [] == list(table.read_bucket(MINUTE, 2))


def test_putting_a_record_again_keeps_one(table):
    """
    The key is the identity.
    """
    for _ in range(2):
        table.put_records([item("a")])
    assert [b"payload"] == list(table.read_bucket(MINUTE, 0))


def test_more_than_a_page_is_read(table):
    """
    A query answers at most one megabyte at a time.
    """
    payload = bytes(100_000)
    table.put_records([item(f"{number:02}", payload) for number in range(25)])
    assert [payload] * 25 == list(table.read_bucket(MINUTE, 0))


def test_a_marker_is_cleared_only_with_its_token(table):
    """
    One that was set again since stays.
    """
    table.put_markers([MINUTE, MINUTE + 1], "one", LIFE_S)
    table.put_markers([MINUTE + 1], "two", LIFE_S)
    table.clear_marker(MINUTE, "one")
    table.clear_marker(MINUTE + 1, "one")
    table.clear_marker(MINUTE + 2, "one")
    assert {MINUTE + 1: "two"} == table.read_markers(range(MINUTE - 200, MINUTE + 5))


def test_only_the_markers_asked_for_are_read(table):
    """
    More than DynamoDB takes in one request, and none at all.
    """
    minutes = range(MINUTE, MINUTE + 150)
    table.put_markers(minutes, "one", LIFE_S)
    assert dict.fromkeys(minutes[10:], "one") == table.read_markers(minutes[10:])
    assert {} == table.read_markers([])


def test_the_lease_has_one_owner_until_it_expires(table):
    """
    Also not the same owner twice: a redelivered tick may overlap the first.
    """
    assert table.take_lease("one", 100.0, 150.0)
    assert [False, False] == [table.take_lease(owner, 150.0, 190.0) for owner in ("two", "one")]
    assert table.take_lease("two", 150.001, 190.0)


def test_only_the_owner_gives_the_lease_back(table):
    """
    A run that comes late to its own end cannot end another.
    """
    table.take_lease("one", 100.0, 150.0)
    table.release_lease("two")
    assert not table.take_lease("two", 120.0, 190.0)
    table.release_lease("one")
    assert table.take_lease("two", 120.0, 190.0)


def test_progress_is_none_and_then_what_was_written(table):
    """
    Each time the last one.
    """
    assert table.read_progress() is None
    for progress in (Progress(7, (), 1), Progress(8, (5, 6), 2)):
        table.write_progress(progress)
        assert progress == table.read_progress()


def test_a_publication_is_remembered_once(table):
    """
    Of two runs with the same number one hears that it was too late.
    """
    first = Publication(1, {"Executions": 5, "IdleCost": 0.125}, "digest", 3)
    second = Publication(2, {}, "other", 3)
    assert table.write_publication(MINUTE, "training", first, LIFE_S)
    assert not table.write_publication(MINUTE, "training", first, LIFE_S)
    assert {"training": first} == table.read_publications(MINUTE)
    assert table.write_publication(MINUTE, "training", second, LIFE_S)
    assert not table.write_publication(MINUTE, "training", second, LIFE_S)
    assert {"training": second} == table.read_publications(MINUTE)
    assert {} == table.read_publications(MINUTE + 1)


def test_the_registry_is_kept_by_bucket(table):
    """
    Writing one bucket leaves the others.
    """
    assert {} == table.read_registry()
    table.write_registry(31, b"old")
    table.write_registry(0, b"first")
    table.write_registry(31, b"new")
    assert {0: b"first", 31: b"new"} == table.read_registry()


# --- DynamoDB alone ---


def stored(dynamodb, pk, sk):
    """
    One item as it is in the table.
    """
    return dynamodb.get_item(TableName="records", Key={"pk": {"S": pk}, "sk": {"S": sk}})["Item"]


def test_items_expire(dynamodb):
    """
    Whatever belongs to a minute has a ttl in seconds; state and registry have none.
    """
    table = connect("records")
    table.put_records([item("a")])
    table.put_markers([MINUTE], "one", LIFE_S)
    table.write_publication(MINUTE, "training", Publication(1, {}, "", 0), LIFE_S)
    table.write_registry(0, b"")
    table.write_progress(Progress(1, (), 1))
    found = dynamodb.scan(TableName="records")["Items"]
    assert {
        f"m#{MINUTE}#00": str(LIFE_S),
        f"dirty#{MINUTE}": str(LIFE_S),
        f"p#{MINUTE}": str(LIFE_S),
        "registry": None,
        "close": None,
    } == {one["pk"]["S"]: one.get("ttl", {}).get("N") for one in found}


def test_the_last_rollup_is_that_of_the_latest_minute(dynamodb):
    """
    The same minute again replaces it, an earlier one does not.
    """
    table = connect("records")
    for minute, line in ((MINUTE, "a"), (MINUTE + 1, "b"), (MINUTE + 1, "c"), (MINUTE, "d")):
        table.write_last_rollup("training", minute, line)
    item = stored(dynamodb, "cluster", "training")
    assert str(MINUTE + 1) == item["minute"]["N"]
    fresh = connect("records")
    fresh.write_last_rollup("training", MINUTE + 2, "e")
    assert str(MINUTE + 2) == stored(dynamodb, "cluster", "training")["minute"]["N"]


def test_what_closing_relies_on_is_read_consistently():
    """
    A put that has returned is seen; only markers may be seen a run later.
    """
    requests = []

    class Spy:
        def query(self, **request):
            requests.append(request)
            return {"Items": []}

        def get_item(self, **request):
            requests.append(request)
            return {}

    table = DynamoTable(Spy(), "records")
    list(table.read_bucket(MINUTE, 0))
    table.read_publications(MINUTE)
    table.read_registry()
    table.read_progress()
    assert [True] * 4 == [request["ConsistentRead"] for request in requests]


class Busy:
    """
    A client that leaves some of each batch over, and remembers what it was asked.
    """

    def __init__(self, capacity):
        self.capacity = capacity
        self.kept = []
        self.largest = 0

    def batch_write_item(self, **request):
        (wanted,) = request["RequestItems"].values()
        self.largest = max(self.largest, len(wanted))
        self.kept += wanted[: self.capacity]
        left = wanted[self.capacity :]
        return {"UnprocessedItems": {"records": left} if left else {}}

    def batch_get_item(self, **request):
        ((name, wanted),) = request["RequestItems"].items()
        found = [{**key, "token": {"S": "one"}} for key in wanted["Keys"][: self.capacity]]
        left = wanted["Keys"][self.capacity :]
        return {
            "Responses": {name: found},
            "UnprocessedKeys": {name: {"Keys": left}} if left else {},
        }


def test_what_a_batch_leaves_over_is_written_again():
    """
    At most 25 items a request, and a pause after each that was not enough.
    """
    client, pauses = Busy(capacity=10), []
    DynamoTable(client, "records", pauses.append).put_records(
        [item(f"{number}") for number in range(60)]
    )
    assert (60, 25) == (len(client.kept), client.largest)
    assert 2 + 2 == len(pauses)
    assert all(0 <= pause_s <= 2 for pause_s in pauses)


def test_what_is_left_in_the_end_is_an_error_and_the_rest_is_kept():
    """
    Lambda then delivers all of it again, which is harmless.
    """
    client, pauses = Busy(capacity=0), []
    with pytest.raises(TableError, match="left 60 items unwritten after 8 attempts"):
        DynamoTable(client, "records", pauses.append).put_records(
            [item(f"{number}") for number in range(60)]
        )
    assert 3 * MAX_ATTEMPTS == len(pauses)


def test_markers_that_are_left_over_are_read_again():
    """
    And an error if they never come.
    """
    minutes = range(MINUTE, MINUTE + 120)
    table = DynamoTable(Busy(capacity=30), "records", lambda _: None)
    assert set(minutes) == table.read_markers(minutes).keys()
    table = DynamoTable(Busy(capacity=0), "records", lambda _: None)
    with pytest.raises(TableError, match="left markers unread"):
        table.read_markers(minutes)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            ClientError({"Error": {"Code": "AccessDeniedException"}}, "Query"),
            "records refused a call with AccessDeniedException",
        ),
        (
            EndpointConnectionError(endpoint_url="http://127.0.0.1:9"),
            "records did not answer: EndpointConnectionError",
        ),
    ],
)
def test_every_failure_of_the_table_is_one_kind_of_error(error, message):
    """
    With the name of the table and what happened, without a payload.
    """

    class Failing:
        def query(self, **_):
            raise error

    with pytest.raises(TableError, match=message):
        DynamoTable(Failing(), "records").read_registry()
