"""Fixtures for delivery: a spool, an account without AWS, and a local CloudWatch Logs."""

from __future__ import annotations

import random

import pytest

from neuron_emitter.delivery.cloudwatch_logs import LogStream
from neuron_emitter.delivery.delivery import Delivery
from neuron_emitter.spool import Spool
from proof.factories.records import RECORDS_GROUP
from proof.logs.logs_service import LogsService
from tests.neuron_emitter.delivery.fake_destinations import (
    DELIVERED_STREAM,
    DELIVERY_NOW_S,
    DELIVERY_REGION,
)
from tests.neuron_emitter.spool_parts import SpoolClock

ACCESS_KEYS = {"AKIDEXAMPLE": "not-a-secret"}


@pytest.fixture
def clock():
    """Return a clock for spool and delivery."""
    return SpoolClock(DELIVERY_NOW_S)


@pytest.fixture
def spool(clock):
    """Yield a spool in memory."""
    with Spool(None, clock=clock) as opened:
        yield opened


@pytest.fixture
def deliver_to(spool, clock):
    """Return a function that makes a delivery from the spool, on the fixtures' clock."""

    def make(destination):
        return Delivery(
            spool,
            destination,
            clock=clock,
            monotonic=clock,
            sleep=clock.sleep,
            rng=random.Random(1),
        )

    return make


@pytest.fixture
def no_aws(monkeypatch, tmp_path):
    """Remove this machine's credentials, region, profile and instance metadata."""
    for name in ("PROFILE", "REGION", "DEFAULT_REGION", "SESSION_TOKEN", "ENDPOINT_URL"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return monkeypatch


@pytest.fixture
def aws(no_aws):
    """Set credentials that only the local service accepts."""
    ((key, secret),) = ACCESS_KEYS.items()
    no_aws.setenv("AWS_ACCESS_KEY_ID", key)
    no_aws.setenv("AWS_SECRET_ACCESS_KEY", secret)
    return no_aws


@pytest.fixture
def service(aws):
    """Yield a local CloudWatch Logs with the service's rules, as boto3's endpoint."""
    with LogsService() as logs:
        logs.keys = dict(ACCESS_KEYS)
        aws.setenv("AWS_ENDPOINT_URL", logs.url)
        yield logs


@pytest.fixture
def log_stream(aws):  # noqa: ARG001 its environment
    """Yield the destination under test, on the endpoint that is set."""
    opened = LogStream(RECORDS_GROUP, DELIVERED_STREAM, region=DELIVERY_REGION)
    yield opened
    opened.close()
