"""GetLogEvents of the account, rule by rule, each beside the words it rests on."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proof.logs.asking import INVALID, NOT_FOUND, NOW_MS, error_in
from proof.logs.documentation import quotes_in, says, text_at
from proof.logs.rules import RECORDS_GROUP

GET = "GetLogEvents"
REQUEST = "GetLogEventsRequest"
PLACE = {"logGroupName": RECORDS_GROUP, "logStreamName": "i-0"}


def texts(answer):
    """The messages of one page."""
    return [one["message"] for one in answer["events"]]


@pytest.fixture
def asked(account, logs):
    """Ask about a stream with ten events, 0 to 9."""
    account.put(RECORDS_GROUP, "i-0", [(NOW_MS + n, str(n)) for n in range(10)])
    return lambda **more: logs.get_log_events(**{**PLACE, **more})


@says(
    GET,
    "As long as the nextBackwardToken or nextForwardToken returned is NOT equal to the nextToken"
    " that you passed into the API call, there might be more log events available.",
)
@says(
    "GetLogEventsResponse.nextForwardToken",
    "If you have reached the end of the stream, it returns the same token you passed in.",
)
def test_the_end_of_a_stream_is_the_token_that_was_passed(asked):
    """From the head, three at a time; an empty page ends with the same token."""
    pages, token = [], {}
    while True:
        answer = asked(startFromHead=True, limit=3, **token)
        if answer["nextForwardToken"] == token.get("nextToken"):
            break
        pages.append(texts(answer))
        token = {"nextToken": answer["nextForwardToken"]}
    assert [["0", "1", "2"], ["3", "4", "5"], ["6", "7", "8"], ["9"]] == pages
    back = asked(limit=3, nextToken=answer["nextBackwardToken"])
    assert ["7", "8", "9"] == texts(back)


@says(f"{REQUEST}.startFromHead", "The default value is false.", "you must specify true")
def test_the_latest_come_first_unless_asked_for_the_head(asked):
    """A page is in order all the same; a token for onwards needs `startFromHead`."""
    latest = asked(limit=3)
    assert ["7", "8", "9"] == texts(latest)
    before = asked(limit=3, nextToken=latest["nextBackwardToken"])
    assert ["4", "5", "6"] == texts(before)
    onwards = {"limit": 3, "nextToken": before["nextForwardToken"]}
    assert ["7", "8", "9"] == texts(asked(**onwards, startFromHead=True))
    assert INVALID == error_in(lambda: asked(**onwards))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(limit=st.integers(1, 12), is_forward=st.booleans())
@pytest.mark.usefixtures("asked")
def test_every_event_is_on_one_page_in_either_direction(account, limit, is_forward):
    """However many are on a page."""
    name = "nextForwardToken" if is_forward else "nextBackwardToken"
    found, token = [], {}
    while True:
        asking = {**PLACE, "limit": limit, "startFromHead": is_forward, **token}
        answer = account.reading.get_log_events(asking)
        if answer[name] == token.get("nextToken"):
            break
        page = texts(answer)
        found = found + page if is_forward else page + found
        token = {"nextToken": answer[name]}
    assert [str(n) for n in range(10)] == found


@says(f"{REQUEST}.startTime", "Events with a timestamp equal to this time or later than this time")
@says(
    f"{REQUEST}.endTime",
    "Events with a timestamp equal to or later than this time are not included.",
)
def test_the_end_of_the_time_is_not_in_it(asked):
    """Unlike with FilterLogEvents."""
    assert ["1", "2"] == texts(asked(startTime=NOW_MS + 1, endTime=NOW_MS + 3))


@says("ResourceNotFoundException", "The specified resource does not exist.")
@says("LogStreamName", "min: 1 max: 512 pattern: [^:*]*")
def test_the_stream_must_be_there(asked):
    """And the group; a name that cannot be is invalid."""
    assert NOT_FOUND == error_in(lambda: asked(logStreamName="i-1"))
    assert NOT_FOUND == error_in(lambda: asked(logGroupName="/other"))
    assert INVALID == error_in(lambda: asked(logStreamName="a:b"))
    assert INVALID == error_in(lambda: asked(logStreamName=None))
    assert INVALID == error_in(lambda: asked(limit=10_001))


@pytest.mark.parametrize("quote", quotes_in(globals()), ids=str)
def test_the_model_says_what_is_quoted_of_getting(quote):
    """Word for word, in the version of the SDK that is installed."""
    assert quote.words in text_at(quote.place)
