"""The ledger's bucket in S3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aggregator import aws
from aggregator.storage.values import LedgerError
from neuron_wire.ledger_summary import summary_key

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_OBJECT: Final = "NoSuchKey"  # AccessDenied where the role may not list the bucket


class LedgerObjects:
    """The objects of one bucket. Every method either did what it says or raised `LedgerError`."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket
        self._client = aws.client("s3")

    def put(self, key: str, payload: bytes) -> None:
        """Keep *payload* under *key*, whatever was there."""
        self._call(self._client.put_object, key, Body=payload, ContentType="application/gzip")

    def read_summary(self, hour: int) -> bytes | None:
        """The summary of a settled hour; None where there is none."""
        answer = self._call(self._client.get_object, summary_key(hour))
        payload: bytes | None = None if answer is None else answer["Body"].read()
        return payload

    def _call(
        self, operation: Callable[..., dict[str, Any]], key: str, **request: object
    ) -> dict[str, Any] | None:
        try:
            return aws.call(operation, Bucket=self._bucket, Key=key, **request)
        except aws.AwsError as error:
            if error.code == _NO_OBJECT:
                return None
            msg = f"{self._bucket} {error}"
            raise LedgerError(msg) from error
