"""Batches of Kinesis that Lambda brings again, in part or as a whole, to the built ingest."""

from __future__ import annotations

import gzip

import pytest

from proof.factories.invocations import batch, payload
from proof.factories.records import lines, record
from tests.runtime.conftest import ON_THE_DEFAULT
from tests.runtime.expectations import closable_minute, identities, kept, of_minute, rollup_lines
from tests.runtime.kinesis_poller import KinesisPoller

pytestmark = [pytest.mark.slow, ON_THE_DEFAULT]

POISON = {3: b"junk", 7: gzip.compress(b"[]"), 8: b""}


def a_minute(minute, count=10):
    """One record of each of some instances."""
    return [record(instance_id=f"i-{number}", minute=minute) for number in range(count)]


def poisoned(made):
    """A batch of one delivery a record, with some that cannot be read between them."""
    payloads = [payload(*lines(one)) for one in made]
    for place, junk in POISON.items():
        payloads.insert(place, junk)
    return batch(*payloads)["Records"]


@pytest.mark.parametrize("bisecting", [True, False])
def test_a_partial_batch_that_comes_again_counts_once(warm, dynamodb, bisecting):
    """
    Whatever can be read is in the rollup once, also what Lambda gave up with its neighbour; what
    cannot is given up after finite attempts.
    """
    minute = closable_minute()
    made = a_minute(minute)
    ingest, close = warm("ingest"), warm("close")
    poller = KinesisPoller(ingest.invoke, bisecting=bisecting)
    poller.deliver(poisoned(made))
    unreadable = [f"n-{place}" for place in POISON]
    if bisecting:
        assert unreadable == poller.given_up
    assert set(unreadable) <= set(poller.given_up)
    assert poller.invocations > 3
    assert identities(made) == kept(dynamodb)
    close.result({})
    printed = of_minute(close.output().splitlines(), minute)
    assert rollup_lines(made, minute) == printed
