"""The ledger's bucket in S3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aggregator import aws
from aggregator.storage.values import LedgerError
from neuron_wire.ledger import PARTS, day_prefixes, key_of, rows_of, settled_hours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_wire.ledger import LedgerRow


class LedgerObjects:
    """The objects of one bucket. Every method either did what it says or raised `LedgerError`."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket
        self._client = aws.client("s3")

    def put(self, key: str, payload: bytes) -> None:
        """Keep *payload* under *key*, whatever was there."""
        self._call("put_object", Key=key, Body=payload, ContentType="application/gzip")

    def settled_hours(self, hours: range) -> list[int]:
        """Those of *hours* that have all eight objects, ascending."""
        return settled_hours(
            (key for prefix in day_prefixes(hours) for key in self._keys(prefix)), hours
        )

    def rows(self, hour: int) -> Iterator[LedgerRow]:
        """
        The rows of a settled hour.

        Raises:
            WireFormatError: If an object of it is damaged.
        """
        for part in range(PARTS):
            yield from rows_of(self._call("get_object", Key=key_of(hour, part))["Body"].read())

    def _keys(self, prefix: str) -> Iterator[str]:
        token: dict[str, str] = {}
        while True:
            answer = self._call("list_objects_v2", Prefix=prefix, **token)
            yield from (str(one["Key"]) for one in answer.get("Contents", []))
            if not answer.get("IsTruncated"):
                return
            token = {"ContinuationToken": str(answer["NextContinuationToken"])}

    def _call(self, operation: str, **request: object) -> dict[str, Any]:
        try:
            return aws.call(getattr(self._client, operation), Bucket=self._bucket, **request)
        except aws.AwsError as error:
            msg = f"{self._bucket} {error}"
            raise LedgerError(msg) from error
