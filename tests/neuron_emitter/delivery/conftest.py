"""
What the tests of delivery share: a spool to send from, an AWS that is not there, and the loopback
CloudWatch Logs of the proofs.
"""

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
    """A clock for spool and delivery."""
    return SpoolClock(DELIVERY_NOW_S)


@pytest.fixture
def spool(clock):
    """A spool in memory."""
    with Spool(None, clock=clock) as opened:
        yield opened


@pytest.fixture
def deliver_to(spool, clock):
    """A delivery from the spool to a destination, on the fixtures' clock."""

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
    """No credentials, region or profile of this machine, and no instance metadata."""
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
    """Credentials that no account knows, only the loopback service."""
    ((key, secret),) = ACCESS_KEYS.items()
    no_aws.setenv("AWS_ACCESS_KEY_ID", key)
    no_aws.setenv("AWS_SECRET_ACCESS_KEY", secret)
    return no_aws


@pytest.fixture
def service(aws):
    """A CloudWatch Logs that keeps all the rules, where boto3 finds it."""
    with LogsService() as made:
        made.keys = dict(ACCESS_KEYS)
        aws.setenv("AWS_ENDPOINT_URL", made.url)
        yield made


@pytest.fixture
def log_stream(aws):  # noqa: ARG001 its environment
    """The destination under test, on whatever endpoint is set."""
    opened = LogStream(RECORDS_GROUP, DELIVERED_STREAM, region=DELIVERY_REGION)
    yield opened
    opened.close()
