"""
What the functions ask instead of DynamoDB, and what DynamoDB would bill for it.

Either the client that `DynamoTable` is given, or the other end of a real
client's connection: then all that boto3 does is done, and only the network is
not there. Every condition holds, because nobody else writes. Units are counted
as https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
has them, read 2026-11-21.
"""

from __future__ import annotations

import base64
import json
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.awsrequest import AWSResponse

from benchmarks.stack.table_files import page_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from botocore.awsrequest import AWSPreparedRequest

WRITE_UNIT_BYTES: Final = 1_024
READ_UNIT_BYTES: Final = 4_096
_PROJECTED_BYTES: Final = 60  # of an item of records beside key and payload: names, pk, ttl
_RECORDS_PK: Final = "m#"


@dataclass(slots=True)
class Use:
    """
    What has been asked so far.

    Attributes:
        calls: Requests.

        read_units: As on-demand bills them; half of one for what is not consistent.

        write_units: One for each 1,024 bytes of an item, begun ones too.

        largest_item_bytes: Of the items that were put.
    """

    calls: int = 0
    read_units: float = 0.0
    write_units: int = 0
    largest_item_bytes: int = 0


@dataclass(slots=True)
class StandIn:
    """
    The table `records` for one process, the records of every minute those in a folder.

    Attributes:
        records: The folder that `prepare` wrote, or None when there are none.

        use: What has been asked.

        own_s: Processor time of answering, which nobody pays for.

        notes: The file that the same is written to after each answer, for whoever forked us.
    """

    records: Path | None = None
    use: Use = field(default_factory=Use)
    own_s: float = 0.0
    notes: Path | None = None
    _items: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def query(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401  # as boto3's client
        """A page of one partition."""
        self.use.calls += 1
        pk = request["ExpressionAttributeValues"][":pk"]["S"]
        if pk.startswith(_RECORDS_PK):
            return self._records(pk, request.get("ExclusiveStartKey"))
        found = [item for key, item in sorted(self._items.items()) if key[0] == pk]
        self._read(sum(map(_size, found)))
        return {"Items": found}

    def get_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401
        """One item, or none."""
        self.use.calls += 1
        found = self._items.get(_key(request["Key"]))
        self._read(0 if found is None else _size(found), consistent="ConsistentRead" in request)
        return {} if found is None else {"Item": found}

    def batch_get_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401
        """Several items of one table."""
        self.use.calls += 1
        ((table, wanted),) = request["RequestItems"].items()
        found = [self._items.get(_key(key)) for key in wanted["Keys"]]
        for item in found:
            self._read(_size(item or {}), consistent="ConsistentRead" in wanted)
        return {"Responses": {table: [item for item in found if item]}, "UnprocessedKeys": {}}

    def put_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401
        """Keep one item."""
        self.use.calls += 1
        self._put(request["Item"])
        return {}

    def delete_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401
        """Forget one item."""
        self.use.calls += 1
        self._items.pop(_key(request["Key"]), None)
        self.use.write_units += 1
        return {}

    def batch_write_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401
        """Keep several items of one table; records are only counted."""
        self.use.calls += 1
        for puts in request["RequestItems"].values():
            for put in puts:
                self._put(put["PutRequest"]["Item"])
        return {"UnprocessedItems": {}}

    def answer(self, request: AWSPreparedRequest, **_event: object) -> AWSResponse:
        """What a connection of boto3 brings back for *request*."""
        begun = time.process_time()
        name = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
        method = getattr(self, re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower())
        body = json.dumps(method(**_decoded(json.loads(request.body))), default=_text).encode()
        response = AWSResponse(request.url, 200, {}, _Body(body))
        self.own_s += time.process_time() - begun
        if self.notes is not None:
            self.notes.write_text(json.dumps([self.own_s, self.use.calls, self.use.read_units]))
        return response

    def behind_boto3(self) -> None:
        """Answer every client of DynamoDB that this process makes from now on."""
        boto3.setup_default_session(
            aws_access_key_id="testing",
            aws_secret_access_key="testing",  # noqa: S106  # signs what nobody receives
            region_name="us-east-1",
        )
        boto3.DEFAULT_SESSION.events.register("before-send.dynamodb", self.answer)

    def _records(self, pk: str, after: Mapping[str, Any] | None) -> dict[str, Any]:
        if self.records is None:
            return {"Items": []}
        offset = int(after["sk"]["S"]) if after else 0
        found, following = page_of(self.records, int(pk.rpartition("#")[2]), offset)
        self._read(sum(len(key) + len(payload) + _PROJECTED_BYTES for key, payload in found))
        answer: dict[str, Any] = {"Items": [{"r": {"B": payload}} for _, payload in found]}
        if following:
            answer["LastEvaluatedKey"] = {"pk": {"S": pk}, "sk": {"S": str(following)}}
        return answer

    def _put(self, item: dict[str, Any]) -> None:
        size = _size(item)
        self.use.write_units += max(1, -(-size // WRITE_UNIT_BYTES))
        self.use.largest_item_bytes = max(self.use.largest_item_bytes, size)
        if not item["pk"]["S"].startswith(_RECORDS_PK):
            self._items[_key(item)] = item

    def _read(self, size: int, *, consistent: bool = True) -> None:
        units = max(1, -(-size // READ_UNIT_BYTES))
        self.use.read_units += units if consistent else units / 2


class _Body:
    """What botocore reads an answer from."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, **_how: object) -> list[bytes]:
        """The whole answer at once."""
        return [self._content]


def _key(item: Mapping[str, Any]) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]


def _size(item: Mapping[str, Any]) -> int:
    """Bytes of names and values; a number counts as its digits, at most 21."""
    return sum(
        len(name) + min(len(value), 21 if kind == "N" else len(value))
        for name, typed in item.items()
        for kind, value in typed.items()
    )


def _decoded(value: Any) -> Any:  # noqa: ANN401  # JSON
    if isinstance(value, dict):
        if value.keys() == {"B"}:
            return {"B": base64.b64decode(value["B"])}
        return {name: _decoded(one) for name, one in value.items()}
    return [_decoded(one) for one in value] if isinstance(value, list) else value


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
