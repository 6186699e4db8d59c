"""
Batches of Kinesis that Lambda brings again, in part or as a whole, to the built ingest.

Records are handed over in order. What is brought again after a failure begins
at the lowest record that was named; a batch that failed as a whole may be cut
in half, which gives each half attempts of its own; a batch without attempts
left is given up, all of it:
https://docs.aws.amazon.com/lambda/latest/dg/services-kinesis-batchfailurereporting.html
Whether a rest that begins with the named record is cut again is not said there:
without *bisecting* this poller gives up good records together with the bad one.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from proof.factories.invocations import batch, payload
from proof.factories.records import lines, record
from tests.runtime.conftest import ON_THE_DEFAULT
from tests.runtime.expectations import closable_minute, identities, kept, of_minute, rollup_lines

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class KinesisPoller:
    """
    An event source mapping with ReportBatchItemFailures.

    Attributes:
        invoke: Runs the function; its `Answer`.

        retries: Attempts after the first.

        bisecting: Whether a batch that fails is cut in half.

        given_up: Sequence numbers of what went to the on-failure destination.

        invocations: How often the function ran.
    """

    invoke: Callable
    retries: int = 2
    bisecting: bool = True
    given_up: list[str] = field(default_factory=list)
    invocations: int = 0

    def deliver(self, records, retries=None):
        """Hand over *records* until all are taken or given up."""
        retries = self.retries if retries is None else retries
        while records:
            left = self._left(records)
            if left is None:
                return
            if len(left) < len(records):  # it got further: attempts are for the rest
                records = left
                continue
            if self.bisecting and len(records) > 1:
                half = len(records) // 2
                self.deliver(records[:half], retries)
                self.deliver(records[half:], retries)
                return
            if retries == 0:
                self.given_up += [number_of(record) for record in records]
                return
            retries -= 1

    def _left(self, records):
        """What one invocation left of *records*; None when it took all."""
        self.invocations += 1
        answer = self.invoke({"Records": records})
        if answer.failed:
            return records
        failures = json.loads(answer.body)["batchItemFailures"]
        if not failures:
            return None
        numbers = [number_of(record) for record in records]
        return records[min(numbers.index(failure["itemIdentifier"]) for failure in failures) :]


def number_of(record):
    """The sequence number of one record of a batch."""
    return record["kinesis"]["sequenceNumber"]


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
