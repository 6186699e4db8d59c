"""The whole emitter, killed twice, against a CloudWatch Logs that nobody of this project wrote."""

from __future__ import annotations

import contextlib
import sqlite3
import time

import boto3
import pytest

from proof.arrivals import Arrivals
from proof.emitter_process import wait_until
from proof.kills.life import PATIENCE_S
from proof.kills.lives import Lives
from proof.logs.moto_service import events_in, moto_url

GROUP = "/neuron-emf/of-moto"
REGION = "us-west-2"
SPEED = 60.0


@pytest.fixture
def moto():
    """Its address and a client."""
    with moto_url() as url:
        client = boto3.client(
            "logs",
            endpoint_url=url,
            region_name=REGION,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )
        yield url, client
        with contextlib.suppress(client.exceptions.ResourceNotFoundException):
            client.delete_log_group(logGroupName=GROUP)
        client.close()


def arrived(client):
    """What can be read back of all streams."""
    streams = client.describe_log_streams(logGroupName=GROUP)["logStreams"]
    return Arrivals.of(
        event for one in streams for event in events_in(client, GROUP, one["logStreamName"])
    )


def waiting_in(lives):
    """What the spool of a life that has ended holds: timestamp and line by boot and number."""
    with contextlib.closing(sqlite3.connect(lives.spool / "spool.sqlite")) as database:
        rows = database.execute(
            "SELECT boot, seq, timestamp_ms, line FROM records JOIN boots ON boots.id = boot_id"
        )
        return {(boot, seq): (timestamp_ms, line) for boot, seq, timestamp_ms, line in rows}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_the_emitter_produced_is_read_back(moto, tmp_path, clock):
    """
    One life before there is a log group, one killed while it delivers, one that ends in order.

    Every line that was spooled is read back as it was, at its time; nothing else was made
    of any number, and none is missing. Then the spool is empty.
    """
    url, client = moto
    clock.set(time.time() - 3600, SPEED)
    variables = {
        "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS": url,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
    }
    options = ("--log-group", GROUP, "--region", REGION, "--runtime-lines", "all")
    produced, closed = {}, set()
    with Lives(tmp_path, clock, variables, options) as lives:
        first = lives.begin()
        wait_until(lambda: len(first.minutes_surely_closed()) >= 2, PATIENCE_S)
        first.kill()
        spooled = waiting_in(lives)
        produced |= lives.kept().produced

        client.create_log_group(logGroupName=GROUP)
        second = lives.begin()
        wait_until(
            lambda: client.describe_log_streams(logGroupName=GROUP)["logStreams"], PATIENCE_S
        )
        second.kill()
        produced |= lives.kept().produced

        last = lives.begin()
        wait_until(last.minutes_surely_closed, PATIENCE_S)
        wait_until(lambda: not arrived(client).missing(produced), PATIENCE_S)
        assert 0 == last.stop(), last.last_words()
        kept = lives.kept()
        produced |= kept.produced
        for life in (first, second, last):
            life.leaves_no_orphan()
            closed |= life.minutes_surely_closed()
    found = arrived(client)
    assert spooled == {identity: found.lines[identity] for identity in spooled}
    assert sum(produced.values()) == len(found.lines)
    assert ([], ()) == (found.missing(produced), found.conflicts)
    assert [] == sorted(closed - found.minutes())
    assert ([], 0) == (found.unbalanced(), found.dropped())
    assert ({}, {}) == (kept.waiting, kept.dropped)
    # It was no proof if nothing was at stake.
    assert len(spooled) >= 2
    assert len(produced) >= 2
