"""The ledger's bucket in S3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aggregator import aws
from aggregator.storage.values import LedgerError
from neuron_accounts.then import SUMMARIES, summary_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aggregator.aws import Operation, Response


class LedgerObjects:
    """The objects of one bucket. Every method either succeeds or raises `LedgerError`."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket
        self._client = aws.client("s3")

    def put(self, key: str, payload: bytes) -> None:
        """Put *payload* under *key*, in place of any object that is there."""
        self._call(self._client.put_object, Key=key, Body=payload, ContentType="application/gzip")

    def read_summaries(self, hours: range) -> Iterator[tuple[int, bytes]]:
        """Yield the existing summaries of *hours*, at most 1,000, in order."""
        keys = {summary_key(hour): hour for hour in hours}
        # Keys sort like hours, so the first page after this key has all of them.
        listed = self._call(
            self._client.list_objects_v2, Prefix=SUMMARIES, StartAfter=summary_key(hours.start - 1)
        )
        for key in (str(item["Key"]) for item in listed.get("Contents", [])):
            if key in keys:
                yield keys[key], self._call(self._client.get_object, Key=key)["Body"].read()

    def _call(self, operation: Operation, **request: object) -> Response:
        try:
            return aws.call(operation, Bucket=self._bucket, **request)
        except aws.AwsError as error:
            msg = f"{self._bucket} {error}"
            raise LedgerError(msg) from error
