"""
Requests of one DynamoDB table, which repeat the rest of an incomplete batch.

It does not know the content of the table. Limits are DynamoDB's own, read 2026-11-21:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
"""

from __future__ import annotations

import random
import re
import time
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from aggregator import aws
from aggregator.storage.values import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from aggregator.aws import Operation, Response

Attributes: TypeAlias = "Mapping[str, Mapping[str, Any]]"
"""An item, or the key of an item."""

MAX_WRITES: Final = 25  # in one BatchWriteItem
MAX_KEYS: Final = 100  # in one BatchGetItem
MAX_BATCH_ATTEMPTS: Final = 8  # for the rest of a batch; with the pauses about 6 s
FIRST_PAUSE_S: Final = 0.05
MAX_BATCH_PAUSE_S: Final = 2.0

_ATTRIBUTE_PLACEHOLDER: Final = re.compile(r"#(\w+)")  # some names are words that DynamoDB reserves
_One = TypeVar("_One")


@dataclass(frozen=True, slots=True)
class Requests:
    """
    The requests of one table. Every method raises `TableError` if it fails.

    Attributes:
        client: The DynamoDB client.

        name: The table's name.

        sleep: Waits for a number of seconds.

        consistent: True if queries are consistent; otherwise they cost half.
    """

    client: Any
    name: str
    sleep: Callable[[float], None] = time.sleep
    consistent: bool = field(default=True, kw_only=True)

    def get(self, key: Attributes) -> Attributes | None:
        """Return the item at *key*, read consistently; None if there is none."""
        answer = self._call(self.client.get_item, TableName=self.name, Key=key, ConsistentRead=True)
        item: Attributes | None = answer.get("Item")
        return item

    def get_each(self, keys: Iterable[Attributes]) -> Iterator[Attributes]:
        """Return the existing items at *keys*, in no order."""
        for batch in _batches(keys, MAX_KEYS):
            left: dict[str, Any] = {self.name: {"Keys": batch}}
            for pause_s in _pauses_s():
                answer = self._call(self.client.batch_get_item, RequestItems=left)
                yield from answer["Responses"].get(self.name, [])
                left = answer.get("UnprocessedKeys") or {}
                if not left:
                    break
                self.sleep(pause_s)
            else:
                msg = f"{self.name} did not return every item in {MAX_BATCH_ATTEMPTS} attempts"
                raise TableError(msg)

    def write(self, items: Iterable[Attributes]) -> None:
        """
        Put *items*, at most one of each key.

        Raises:
            TableError: If any is left after the last attempt; the others are
                kept.
        """
        unwritten = 0
        for batch in _batches(items, MAX_WRITES):
            left: list[Any] = [{"PutRequest": {"Item": item}} for item in batch]
            for pause_s in _pauses_s():
                answer = self._call(self.client.batch_write_item, RequestItems={self.name: left})
                left = answer.get("UnprocessedItems", {}).get(self.name, [])
                if not left:
                    break
                self.sleep(pause_s)
            unwritten += len(left)
        if unwritten:
            msg = (
                f"{self.name} left {unwritten} items unwritten after {MAX_BATCH_ATTEMPTS} attempts"
            )
            raise TableError(msg)

    def query(self, pk: str, attribute: str | None = None) -> Iterator[Attributes]:
        """Yield the items of one partition in key order: whole, or only *attribute* of each."""
        request: dict[str, object] = {
            "TableName": self.name,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": pk}},
            "ConsistentRead": self.consistent,
        }
        if attribute is not None:
            request["ProjectionExpression"] = attribute
        while True:
            answer = self._call(self.client.query, **request)
            yield from answer["Items"]
            after = answer.get("LastEvaluatedKey")
            if not after:
                return
            request["ExclusiveStartKey"] = after

    def put(self, item: Attributes) -> None:
        """Put one item, and replace any item at its key."""
        self._call(self.client.put_item, TableName=self.name, Item=item)

    def put_if(self, item: Attributes, condition: str, **values: Mapping[str, str]) -> bool:
        """Put one item if *condition* (with `#name`s and `:values`) holds. Return True if so."""
        return self._if(condition, values, self.client.put_item, Item=item)

    def delete_if(self, key: Attributes, condition: str, **values: Mapping[str, str]) -> bool:
        """Delete one item under a condition, as `put_if` puts one."""
        return self._if(condition, values, self.client.delete_item, Key=key)

    def _if(
        self, condition: str, values: Mapping[str, object], operation: Operation, **request: object
    ) -> bool:
        request["ConditionExpression"] = condition
        if names := {f"#{name}": name for name in _ATTRIBUTE_PLACEHOLDER.findall(condition)}:
            request["ExpressionAttributeNames"] = names
        if values:
            request["ExpressionAttributeValues"] = {f":{name}": values[name] for name in values}
        try:
            self._call(operation, TableName=self.name, **request)
        except _ConditionError:
            return False
        return True

    def _call(self, operation: Operation, **request: object) -> Response:
        try:
            return aws.call(operation, **request)
        except aws.AwsError as error:
            if error.code == "ConditionalCheckFailedException":
                raise _ConditionError from error
            msg = f"{self.name} {error}"
            raise TableError(msg) from error


class _ConditionError(Exception):
    pass


def _batches(values: Iterable[_One], size: int) -> Iterator[list[_One]]:
    remaining = iter(values)
    while batch := list(islice(remaining, size)):
        yield batch


def _pauses_s() -> Iterator[float]:
    """
    Yield the seconds to wait after each attempt.

    They are random, so that requests that were throttled together do not return together.
    """
    for attempt in range(MAX_BATCH_ATTEMPTS):
        yield random.uniform(0, min(MAX_BATCH_PAUSE_S, FIRST_PAUSE_S * 2**attempt))
