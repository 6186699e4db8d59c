"""The account beside moto, whose rules nobody of this project wrote: what both play is the same."""

from __future__ import annotations

import time

import boto3
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moto import mock_aws

from proof.account.account import AccountDouble

NOW_MS = int(time.time() * 1000) - 60_000  # moto knows no other clock

EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["i-0", "i-1"]), st.integers(0, 9), st.text("abcB ", min_size=1, max_size=6)
    ),
    min_size=1,
    max_size=12,
)
TIMES = st.fixed_dictionaries(
    {}, optional={"startTime": st.integers(0, 4), "endTime": st.integers(4, 9)}
)
PATTERNS = st.sampled_from(["", '"a"', '"ab c"', '"B"'])  # moto reads one term


@pytest.fixture(scope="module")
def moto():
    """A client of moto in this process."""
    with mock_aws():
        made = boto3.session.Session().client("logs", region_name="us-west-2")
        yield made
        made.close()


@pytest.fixture(scope="module")
def beside():
    """An account by the same clock, and a client of it."""
    with AccountDouble() as account:
        made = account.client("logs")
        yield account, made
        made.close()


def read(client, group, **asked):
    """Times and messages of all pages, and streams."""
    found, token = [], {}
    while True:
        answer = client.filter_log_events(logGroupName=group, **asked, **token)
        found += [
            (one["timestamp"], one["logStreamName"], one["message"]) for one in answer["events"]
        ]
        if "nextToken" not in answer:
            return sorted(found)
        token = {"nextToken": answer["nextToken"]}


@settings(max_examples=15)
@given(asking=st.tuples(EVENTS, TIMES, PATTERNS))
def test_both_find_the_same_events(moto, beside, asking):
    """Whatever the range and the terms."""
    (account, logs), (events, times, pattern) = beside, asking
    group = "/beside"
    account.groups.add(group)
    moto.create_log_group(logGroupName=group)
    for name in ("i-0", "i-1"):
        mine = sorted((NOW_MS + at, text) for other, at, text in events if other == name)
        account.put(group, name, mine)
        moto.create_log_stream(logGroupName=group, logStreamName=name)
        if mine:
            sent = [{"timestamp": at_ms, "message": text} for at_ms, text in mine]
            moto.put_log_events(logGroupName=group, logStreamName=name, logEvents=sent)
    asked = {name: NOW_MS + at for name, at in times.items()}
    if pattern:
        asked["filterPattern"] = pattern
    try:
        assert read(moto, group, **asked) == read(logs, group, **asked)
    finally:
        account.groups.remove(group)
        moto.delete_log_group(logGroupName=group)
