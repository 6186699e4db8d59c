"""
CloudWatch Logs as it answered: the double through both of its doors, and its readers.

A door is a real boto3 client on 127.0.0.1, or the destination that tests of the emitter
send to without a network.
"""

from __future__ import annotations

import pytest

from emitter.delivery.destination import Delivered
from emitter.spool.records import SpooledRecord
from proof.account.account import AccountDouble
from proof.account.account_faults import break_account
from proof.logs.asking import (
    DAY_MS,
    HOUR_MS,
    NOW_MS,
    NOW_S,
    PLACE,
    error_in,
    messages,
    put,
    words_of,
)
from proof.logs.in_process import InProcessService
from tests.recorded.recording import ALARM_DELIVERY, FILTERS, INGESTION

RETENTION_MS = 7 * DAY_MS
FULL = 1_048_550
ORDER = "Log events in a single PutLogEvents request must be in chronological order."
SPAN = "The batch of log events in a single PutLogEvents request cannot span more than 24 hours."
LARGE = "Log event too large: 1048578 bytes exceeds limit of 1048576"
WRITES = [  # what was put, (age in ms, bytes) of each event, what was answered
    ("chronological order", [(0, 1), (1, 1)], ORDER),
    ("a span of 24 h", [(DAY_MS, 1), (0, 1)], {}),
    ("a span of 24 h and 1 ms", [(DAY_MS + 1, 1), (0, 1)], SPAN),
    ("what is rejected widens no span", [(15 * DAY_MS, 1), (0, 1)], {"tooOldLogEventEndIndex": 1}),
    (
        "two of each",
        [(age_ms, 1) for age_ms in (
            16 * DAY_MS, 15 * DAY_MS, 9 * DAY_MS, 8 * DAY_MS, 9, 8, -3 * HOUR_MS, -4 * HOUR_MS,
        )],
        {
            "tooOldLogEventEndIndex": 2, "expiredLogEventEndIndex": 4,
            "tooNewLogEventStartIndex": 6,
        },
    ),
    ("one too old", [(15 * DAY_MS, 1)], {"tooOldLogEventEndIndex": 1}),
    ("a full event", [(0, FULL)], {}),
    ("two bytes more", [(0, FULL + 2)], LARGE),
]  # fmt: skip
REFUSALS = [  # operation, its parameters, error, words
    ("create_log_stream", {}, "ResourceAlreadyExists", "The specified log stream already exists"),
    ("put", {"logGroupName": "/x"}, "ResourceNotFound", "The specified log group does not exist."),
    ("put", {"logStreamName": "x"}, "ResourceNotFound", "The specified log stream does not exist."),
]


@pytest.fixture
def account():
    """An account at one moment, with 89 events in one stream."""
    with AccountDouble(lambda: NOW_S) as made:
        made.put(made.records_group, "i-0", [(NOW_MS + n, f"{n}") for n in range(89)])
        yield made


@pytest.fixture
def logs(account):
    """A client of its CloudWatch Logs."""
    made = account.client("logs")
    yield made
    made.close()


def by_network(account, client, events):
    """What a real client is answered: the words of an error, or what was not taken."""
    account.rules.retention_ms = RETENTION_MS
    sent = [(age_ms, "x" * size) for age_ms, size in events]
    try:
        return put(client, *sent).get("rejectedLogEventsInfo", {})
    except client.exceptions.InvalidParameterException as error:
        return error.response["Error"]["Message"]


def in_process(events):
    """The same of a destination of the emitter's."""
    service = InProcessService(lambda: NOW_S)
    service.retention_days = 7
    outcome = service.send([
        SpooledRecord(place, "0" * 20, place, NOW_MS - age_ms, "x" * size)
        for place, (age_ms, size) in enumerate(events)
    ])  # fmt: skip
    if not isinstance(outcome, Delivered):
        return outcome.reason
    return {why: tuple(places) for why, places in outcome.rejected.items()}


def places_of(told, count):
    """The places that an answer of the network names, by reason."""
    old = told.get("tooOldLogEventEndIndex", 0)
    found = {
        "too_old": range(old),
        "expired": range(old, told.get("expiredLogEventEndIndex", old)),
        "too_new": range(told.get("tooNewLogEventStartIndex", count), count),
    }
    return {why: tuple(places) for why, places in found.items() if places}


@pytest.mark.parametrize(
    ("name", "events", "expected"), WRITES, ids=[f"{INGESTION}: {row[0]}" for row in WRITES]
)
def test_a_batch_is_answered_as_recorded(name, events, expected, account, logs):
    """Through both doors."""
    assert expected == by_network(account, logs, events), name
    same = expected if isinstance(expected, str) else places_of(expected, len(events))
    assert same == in_process(events)


@pytest.mark.parametrize(
    ("operation", "given", "error", "words"),
    REFUSALS,
    ids=[f"{INGESTION}: {r[3]}" for r in REFUSALS],
)
def test_a_refusal_has_the_words_of_the_service(operation, given, error, words, logs):
    """With a full stop or without one, as each came."""
    asked = {**PLACE, **given}
    call = {
        "create_log_stream": lambda: logs.create_log_stream(**asked),
        "put": lambda: put(logs, (0, "x"), **asked),
    }[operation]
    assert (f"{error}Exception", 400) == error_in(call)
    assert words == words_of(call)


def test_the_same_batch_is_taken_twice_whatever_its_token(account, logs):
    """And a token comes back, of 56 digits (ingestion.json)."""
    put(logs, (0, "x"))
    assert 56 == len(put(logs, (0, "x"), sequenceToken="stale")["nextSequenceToken"])
    assert ["x", "x"] == messages(account)[-2:]


# --- reading ---

PAGES = [  # recording, empty pages first, pattern, events on each page
    (FILTERS, 0, "", [89, 0]),
    (FILTERS, 0, '"88"', [1, 0]),
    (FILTERS, 0, '"none"', [0]),
    (ALARM_DELIVERY, 1, "", [0, 89, 0]),
]


@pytest.mark.parametrize("row", PAGES, ids=lambda row: f"{row[0]}: {row[3]}")
def test_pages_end_with_one_that_has_no_token(row, account, logs):
    """Every page with events has a token, though no event follows."""
    recording, empty, pattern, expected = row
    account.reading.empty_pages = empty
    asked = {"logGroupName": account.records_group, "filterPattern": pattern, "limit": 1000}
    counts, token = [], {}
    while True:
        answer = logs.filter_log_events(**asked, **token)
        counts.append(len(answer["events"]))
        assert all(56 == len(one["eventId"]) for one in answer["events"]), recording
        assert [] == answer["searchedLogStreams"]
        if "nextToken" not in answer:
            break
        token = {"nextToken": answer["nextToken"]}
    assert expected == counts


def test_a_line_that_was_taken_may_not_be_there_yet(account, logs):
    """For more than 90 s, and a successful answer in between may be empty (ingestion.json)."""
    asked = {
        "logGroupName": account.records_group, "logStreamName": "i-0", "startFromHead": True,
    }  # fmt: skip
    account.reading.lag_ms = 100_000
    assert [] == logs.get_log_events(**asked)["events"]
    account.reading.lag_ms = -1000  # some lines here are milliseconds ahead
    assert [0, 89] == [len(logs.get_log_events(**asked)["events"]) for _ in range(2)]


CALLERS = [  # what is wrong, error
    ("credentials unknown", "UnrecognizedClientException"),
    ("denied FilterLogEvents", "AccessDeniedException"),
]


@pytest.mark.parametrize(("fault", "error"), CALLERS)
def test_who_may_not_ask_gets_400(fault, error, account, logs):
    """Not 403, as of other services (authentication.json)."""
    break_account(account, fault)
    call = lambda: logs.filter_log_events(logGroupName=account.records_group)  # noqa: E731
    assert (error, 400) == error_in(call)


def test_a_log_group_has_the_members_of_today(logs):
    """Two that the documentation of the model does not have yet (ingestion.json)."""
    for row in logs.describe_log_groups()["logGroups"]:
        assert {"deletionProtectionEnabled", "arn", "logGroupArn"} <= row.keys()
