"""What the tests of the loopback CloudWatch Logs share: one at a moment, and a client of it."""

from __future__ import annotations

import boto3
import pytest
from botocore.config import Config

from proof.logs.calls import NOW_S, PLACE
from proof.logs.service import LogsService


@pytest.fixture
def service():
    """A service at one moment, with the stream already made."""
    with LogsService(lambda: NOW_S) as made:
        made.rules.groups[PLACE["logGroupName"]].add(PLACE["logStreamName"])
        yield made


@pytest.fixture(scope="session")
def sdk():
    """The SDK's own data, read once."""
    return boto3.session.Session(
        aws_access_key_id="testing", aws_secret_access_key="testing", region_name="us-west-2"
    )


@pytest.fixture
def connect(sdk):
    """
    Make a real client of a service: it never tries twice, and leaves it to the service to check.
    """
    made = []

    def connected(service, **options):
        retries = {"mode": "standard", "total_max_attempts": 1}
        config = Config(retries=retries, parameter_validation=False, **options)
        made.append(sdk.client("logs", endpoint_url=service.url, config=config))
        return made[-1]

    yield connected
    for one in made:
        one.close()


@pytest.fixture
def client(service, connect):
    """A client of the service."""
    return connect(service)
