"""The account's FilterLogEvents: its pages have bounds, and nothing falls between two."""

from __future__ import annotations

import pytest

from proof.account.account import AccountDouble
from proof.logs.rules import RECORDS_GROUP
from tests.recorded.recording import INVALID, NOW_MS, NOW_S, client_of, error_in

GROUP = {"logGroupName": RECORDS_GROUP}


@pytest.fixture
def account():
    """A right account at one moment."""
    with AccountDouble(lambda: NOW_S) as made:
        yield made


def found(client, **asked):
    """The messages of all pages, and how many pages there were."""
    messages, pages, token = [], 0, {}
    while True:
        answer = client.filter_log_events(**GROUP, **asked, **token)
        messages += [one["message"] for one in answer["events"]]
        pages += 1
        if "nextToken" not in answer:
            return messages, pages
        token = {"nextToken": answer["nextToken"]}


def test_every_event_of_the_time_is_on_one_page(account):
    """By their time, whenever they came, both ends included; pages end by events and by bytes."""
    logs = client_of(account)
    account.empty_pages = 0
    account.put(RECORDS_GROUP, "i-1", [(NOW_MS + n, str(n)) for n in (6, 2, 4)])
    account.put(RECORDS_GROUP, "i-0", [(NOW_MS + n, str(n)) for n in (5, 1, 3)])
    span = {"startTime": NOW_MS + 2, "endTime": NOW_MS + 5}
    assert (["2", "3", "4", "5"], 3) == found(logs, **span, limit=3)
    halves = [(NOW_MS + 20_000 + n, str(n) * 500_000) for n in range(5)]
    account.put(RECORDS_GROUP, "i-1", halves)
    assert ([text for _, text in halves], 4) == found(logs, startTime=NOW_MS + 20_000)


def test_a_token_is_for_its_request(account):
    """Another request with it is refused, and so is a token of nobody's."""
    logs = client_of(account)
    account.put(RECORDS_GROUP, "i-0", [(NOW_MS, "x")])
    token = logs.filter_log_events(**GROUP)["nextToken"]
    for one, start in ((token, 5), ("made up", 0)):
        asked = {**GROUP, "nextToken": one, "startTime": start}
        assert INVALID == error_in(lambda asked=asked: logs.filter_log_events(**asked))
