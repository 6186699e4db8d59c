"""Requests of the table: unprocessed parts of a batch are retried, all failures are one error."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from aggregator.storage.dynamodb import MAX_BATCH_ATTEMPTS, Requests
from aggregator.storage.values import TableError

WRITTEN_ITEMS = [{"pk": {"S": f"{number}"}, "sk": {"S": "a"}} for number in range(60)]


class Busy:
    """A client that leaves some of each batch unprocessed and keeps its requests."""

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
        self.largest = max(self.largest, len(wanted["Keys"]))
        items = [{**key, "n": {"N": "1"}} for key in wanted["Keys"][: self.capacity]]
        left = wanted["Keys"][self.capacity :]
        return {
            "Responses": {name: items},
            "UnprocessedKeys": {name: {"Keys": left}} if left else {},
        }


def test_what_a_batch_leaves_over_is_written_again():
    """Unprocessed items are written again after a pause, at most 25 items a request."""
    client = Busy(capacity=10)
    pauses = []
    Requests(client, "records", pauses.append).write(WRITTEN_ITEMS)
    assert 60 == len(client.kept)
    assert 25 == client.largest
    assert 2 + 2 == len(pauses)
    assert all(0 <= pause_s <= 2 for pause_s in pauses)


def test_what_is_left_in_the_end_is_an_error_and_the_rest_is_kept():
    """
    If items stay unprocessed, the request fails and the rest is stored; Lambda's retry is harmless.
    """
    client = Busy(capacity=0)
    pauses = []
    with pytest.raises(TableError, match="left 60 items unwritten after 8 attempts"):
        Requests(client, "records", pauses.append).write(WRITTEN_ITEMS)
    assert 3 * MAX_BATCH_ATTEMPTS == len(pauses)


def test_keys_that_a_batch_did_not_read_are_requested_again():
    """
    Unprocessed keys are requested again, at most 100 a request, and fail if they never arrive.
    """
    keys = [{"pk": {"S": f"{number}"}} for number in range(120)]
    client = Busy(capacity=30)
    items = Requests(client, "records", lambda _: None).get_each(keys)
    assert keys == [{"pk": item["pk"]} for item in items]
    assert 100 == client.largest
    client = Busy(capacity=0)
    with pytest.raises(TableError, match="did not return every item in 8 attempts"):
        list(Requests(client, "records", lambda _: None).get_each(keys))


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            ClientError({"Error": {"Code": "AccessDeniedException"}}, "Query"),
            "records rejected a call with AccessDeniedException",
        ),
        (
            EndpointConnectionError(endpoint_url="http://127.0.0.1:9"),
            "records did not respond: EndpointConnectionError",
        ),
    ],
)
def test_every_failure_of_the_table_is_one_kind_of_error(error, message):
    """
    Each failure of the table is a TableError with the table's name and the cause, without a
    payload.
    """

    class Failing:
        def query(self, **_):
            raise error

    with pytest.raises(TableError, match=message):
        list(Requests(Failing(), "records").query("registry"))
