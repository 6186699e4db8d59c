"""
The table in DynamoDB. The only module that knows boto3.

Where things stand in it is `layout`'s business. Limits are DynamoDB's own, read
2026-11-21:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
"""

from __future__ import annotations

import random
import time
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from aggregator import layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from aggregator.layout import Attributes
    from aggregator.table import Progress, Publication, RecordItem

MAX_WRITES: Final = 25  # in one BatchWriteItem
MAX_KEYS: Final = 100  # in one BatchGetItem
MAX_ATTEMPTS: Final = 8  # for what a batch left over; with the pauses about 6 s
FIRST_PAUSE_S: Final = 0.05
LONGEST_PAUSE_S: Final = 2.0

_One = TypeVar("_One")


class TableError(Exception):
    """
    The table did not take or give something; the invocation must be repeated.
    """


class _Client(Protocol):
    """
    What is used of boto3's DynamoDB client, which publishes no types.
    """

    def batch_write_item(self, **request: object) -> dict[str, Any]: ...
    def batch_get_item(self, **request: object) -> dict[str, Any]: ...
    def query(self, **request: object) -> dict[str, Any]: ...
    def get_item(self, **request: object) -> dict[str, Any]: ...
    def put_item(self, **request: object) -> dict[str, Any]: ...
    def delete_item(self, **request: object) -> dict[str, Any]: ...


def connect(table_name: str) -> DynamoTable:
    """
    Open *table_name* with the credentials and the region of the environment.
    """
    client: _Client = boto3.client(
        "dynamodb",
        config=Config(
            connect_timeout=3,
            read_timeout=10,
            retries={"mode": "standard", "total_max_attempts": 5},
        ),
    )
    return DynamoTable(client, table_name)


class DynamoTable:
    """
    A `table.Table` in DynamoDB. Every method raises `TableError` when it fails.
    """

    def __init__(
        self, client: _Client, table_name: str, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._client = client
        self._name = table_name
        self._sleep = sleep

    def put_records(self, items: Sequence[RecordItem]) -> None:
        """
        Keep *items*, at most one of each key.

        Raises:
            TableError: If any is left after the last attempt; the others are
                kept.
        """
        self._write(layout.record_item(item) for item in items)

    def put_markers(self, minutes: Iterable[int], token: str, expires_s: int) -> None:
        """
        Say that records came for *minutes* that may have been closed.
        """
        self._write(layout.marker_item(minute, token, expires_s) for minute in minutes)

    def read_markers(self, minutes: Iterable[int]) -> dict[int, str]:
        """
        The tokens of those *minutes* that carry a marker.

        Not a consistent read, for half the price: a marker set a moment ago is
        found by the next run, and an old token clears nothing.
        """
        found: dict[int, str] = {}
        for batch in _batches(minutes, MAX_KEYS):
            left: dict[str, Any] = {self._name: {"Keys": [layout.marker_key(one) for one in batch]}}
            for pause_s in _pauses_s():
                answer = self._call(self._client.batch_get_item, RequestItems=left)
                for item in answer["Responses"].get(self._name, []):
                    found[layout.marked_minute(item)] = item["token"]["S"]
                left = answer.get("UnprocessedKeys") or {}
                if not left:
                    break
                self._sleep(pause_s)
            else:
                msg = f"{self._name} left markers unread after {MAX_ATTEMPTS} attempts"
                raise TableError(msg)
        return found

    def clear_marker(self, minute: int, token: str) -> None:
        """
        Take the marker away, unless it has got another token since.
        """
        self._if(
            self._client.delete_item,
            Key=layout.marker_key(minute),
            ConditionExpression="#token = :token",
            ExpressionAttributeNames={"#token": "token"},
            ExpressionAttributeValues={":token": {"S": token}},
        )

    def read_bucket(self, minute: int, bucket: int) -> Iterator[bytes]:
        """
        The payloads of one bucket in key order.

        Every put that has returned is among them.
        """
        for item in self._query(layout.minute_pk(minute, bucket), "r"):
            yield item["r"]["B"]

    def take_lease(self, owner: str, now_s: float, expires_s: float) -> bool:
        """
        True when *owner* may close minutes until *expires_s*, and nobody else.
        """
        return self._if(
            self._client.put_item,
            Item=layout.lease_item(owner, expires_s),
            ConditionExpression="attribute_not_exists(pk) OR #expires < :now",
            ExpressionAttributeNames={"#expires": "expires"},
            ExpressionAttributeValues={":now": {"N": f"{now_s:.3f}"}},
        )

    def release_lease(self, owner: str) -> None:
        """
        Give the lease back, if *owner* still has it.
        """
        self._if(
            self._client.delete_item,
            Key=layout.LEASE,
            ConditionExpression="#owner = :owner",
            ExpressionAttributeNames={"#owner": "owner"},
            ExpressionAttributeValues={":owner": {"S": owner}},
        )

    def read_progress(self) -> Progress | None:
        """
        How far closing has come; None before the first run.
        """
        answer = self._call(
            self._client.get_item, TableName=self._name, Key=layout.PROGRESS, ConsistentRead=True
        )
        item = answer.get("Item")
        return None if item is None else layout.progress_of(item)

    def write_progress(self, progress: Progress) -> None:
        """
        Replace what `read_progress` returns.
        """
        self._put(layout.progress_item(progress))

    def read_publications(self, minute: int) -> dict[str, Publication]:
        """
        What has been published of *minute*, by cluster.
        """
        items = self._query(layout.publications_pk(minute))
        return {item["sk"]["S"]: layout.publication_of(item) for item in items}

    def write_publication(
        self, minute: int, cluster: str, publication: Publication, expires_s: int
    ) -> bool:
        """
        Remember *publication*, unless somebody remembered one with its number.

        False when somebody did.
        """
        return self._if(
            self._client.put_item,
            Item=layout.publication_item(minute, cluster, publication, expires_s),
            ConditionExpression="attribute_not_exists(pk) OR n = :before",
            ExpressionAttributeValues={":before": {"N": str(publication.number - 1)}},
        )

    def read_registry(self) -> dict[int, bytes]:
        """
        The packed registry by bucket.
        """
        return {int(item["sk"]["S"]): item["r"]["B"] for item in self._query(layout.REGISTRY)}

    def write_registry(self, bucket: int, payload: bytes) -> None:
        """
        Replace one bucket of the registry.
        """
        self._put(layout.registry_item(bucket, payload))

    def write_last_rollup(self, cluster: str, minute: int, line: str) -> None:
        """
        Keep *line* as the cluster's last rollup, unless a later minute is kept.
        """
        self._if(
            self._client.put_item,
            Item=layout.last_rollup_item(cluster, minute, line),
            ConditionExpression="attribute_not_exists(pk) OR #minute <= :minute",
            ExpressionAttributeNames={"#minute": "minute"},
            ExpressionAttributeValues={":minute": {"N": str(minute)}},
        )

    def _write(self, items: Iterable[Attributes]) -> None:
        unwritten = 0
        for batch in _batches(items, MAX_WRITES):
            left: list[Any] = [{"PutRequest": {"Item": item}} for item in batch]
            for pause_s in _pauses_s():
                answer = self._call(self._client.batch_write_item, RequestItems={self._name: left})
                left = answer.get("UnprocessedItems", {}).get(self._name, [])
                if not left:
                    break
                self._sleep(pause_s)
            unwritten += len(left)
        if unwritten:
            msg = f"{self._name} left {unwritten} items unwritten after {MAX_ATTEMPTS} attempts"
            raise TableError(msg)

    def _query(self, pk: str, attribute: str | None = None) -> Iterator[dict[str, Any]]:
        request: dict[str, object] = {
            "TableName": self._name,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": pk}},
            "ConsistentRead": True,
        }
        if attribute is not None:
            request["ProjectionExpression"] = attribute
        while True:
            answer = self._call(self._client.query, **request)
            yield from answer["Items"]
            after = answer.get("LastEvaluatedKey")
            if not after:
                return
            request["ExclusiveStartKey"] = after

    def _put(self, item: Attributes) -> None:
        self._call(self._client.put_item, TableName=self._name, Item=item)

    def _if(self, operation: Callable[..., dict[str, Any]], **request: object) -> bool:
        """
        True when the condition of *request* held.
        """
        try:
            self._call(operation, TableName=self._name, **request)
        except _ConditionError:
            return False
        return True

    def _call(self, operation: Callable[..., dict[str, Any]], **request: object) -> dict[str, Any]:
        try:
            return operation(**request)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code == "ConditionalCheckFailedException":
                raise _ConditionError from error
            msg = f"{self._name} refused a call with {code or 'an unnamed error'}"
            raise TableError(msg) from error
        except BotoCoreError as error:
            msg = f"{self._name} did not answer: {type(error).__name__}"
            raise TableError(msg) from error


class _ConditionError(Exception):
    pass


def _batches(values: Iterable[_One], size: int) -> Iterator[list[_One]]:
    remaining = iter(values)
    while batch := list(islice(remaining, size)):
        yield batch


def _pauses_s() -> Iterator[float]:
    """
    How long to wait after each attempt.

    At random, so that what was throttled together does not come back together.
    """
    for attempt in range(MAX_ATTEMPTS):
        yield random.uniform(0, min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2**attempt))
