"""The ledger's bucket in S3."""

from __future__ import annotations

from aggregator import aws
from aggregator.storage.values import LedgerError


class LedgerObjects:
    """The objects of one bucket. Every method either did what it says or raised `LedgerError`."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket
        self._client = aws.client("s3")

    def put(self, key: str, payload: bytes) -> None:
        """Keep *payload* under *key*, whatever was there."""
        try:
            aws.call(
                self._client.put_object,
                Bucket=self._bucket,
                Key=key,
                Body=payload,
                ContentType="application/gzip",
            )
        except aws.AwsError as error:
            msg = f"{self._bucket} {error}"
            raise LedgerError(msg) from error
