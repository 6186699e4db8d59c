"""
A pytest plugin that replaces moto with a server: `pytest -p proof.real.dynalite_store`.

AWS_ENDPOINT_URL_DYNAMODB has the server's address, which boto3 reads.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import boto3
import moto

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def emptied_afterwards() -> Iterator[None]:
    """Delete every table after the test."""
    try:
        yield
    finally:
        client = boto3.client("dynamodb")
        for name in client.list_tables()["TableNames"]:
            client.delete_table(TableName=name)
            client.get_waiter("table_not_exists").wait(TableName=name, WaiterConfig={"Delay": 0.05})


setattr(moto, "mock_aws", emptied_afterwards)  # noqa: B010 - of another type
