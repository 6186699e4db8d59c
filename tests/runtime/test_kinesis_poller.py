"""The model of Lambda's poller, which the tests of retried batches rely on."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.factories.deliveries import batch
from tests.runtime.kinesis_poller import KinesisPoller, number_of
from tests.runtime.runtime_api import Answer


class Scripted:
    """A function that cannot read some records, and fails as a whole at some invocations."""

    def __init__(self, unreadable=(), failing=()):
        self.unreadable = {f"n-{number}" for number in unreadable}
        self.failing = set(failing)
        self.seen = []

    def invoke(self, event):
        numbers = [number_of(one) for one in event["Records"]]
        self.seen.append(numbers)
        if len(self.seen) in self.failing:
            return Answer(b"{}", failed=True)
        failures = [{"itemIdentifier": one} for one in numbers if one in self.unreadable]
        return Answer(json.dumps({"batchItemFailures": failures}).encode(), failed=False)


def delivered(function, count, **settings):
    """What the poller gave up of a batch."""
    poller = KinesisPoller(function.invoke, **settings)
    poller.deliver(batch(*[b""] * count)["Records"])
    return poller.given_up


@given(st.integers(1, 20), st.sets(st.integers(0, 19)), st.sets(st.integers(1, 5)), st.booleans())
def test_it_ends_and_every_record_was_handed_over(count, unreadable, failing, bisecting):
    """
    Whatever fails: what cannot be read is given up; with bisecting and attempts to spare, nothing
    else is.
    """
    function = Scripted(unreadable, failing)
    given_up = delivered(function, count, bisecting=bisecting, retries=6)
    expected = [f"n-{number}" for number in sorted(unreadable) if number < count]
    assert {f"n-{number}" for number in range(count)} == set().union(*function.seen)
    assert set(expected) <= set(given_up)
    if bisecting:
        assert expected == given_up


def test_a_batch_goes_on_from_the_lowest_record_named():
    """What stands before it is not handed over again."""
    function = Scripted(unreadable=[2])
    assert ["n-2", "n-3"] == delivered(function, 4, bisecting=False, retries=1)
    assert [["n-0", "n-1", "n-2", "n-3"], ["n-2", "n-3"], ["n-2", "n-3"]] == function.seen


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_attempts_are_finite(retries):
    """The first and the retries."""
    function = Scripted(unreadable=[0])
    assert ["n-0"] == delivered(function, 1, retries=retries)
    assert retries + 1 == len(function.seen)
