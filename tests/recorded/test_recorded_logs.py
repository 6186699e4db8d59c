"""
The double of CloudWatch Logs answers as recorded, through both of its doors, readers and patterns.

A door is a real boto3 client on 127.0.0.1, or the destination for tests of the emitter without a
network.
"""

from __future__ import annotations

import pytest

from neuron_emitter.delivery.destination import Delivered
from neuron_emitter.spool.spool_records import SpooledRecord
from neuron_wire.names import DAY_MS
from proof.account.account_double import AccountDouble
from proof.logs.rules import INVALID_PARAMETER, ServiceError, matcher
from tests.neuron_emf.check.account_faults import break_account
from tests.neuron_emitter.in_process_service import InProcessService, places_of
from tests.recorded.service_recording import (
    RECORDED_NOW_MS,
    RECORDED_NOW_S,
    RECORDED_STREAM,
    client_of,
    each,
    error_in,
    put,
    words_of,
)

RETENTION_MS = 7 * DAY_MS


@pytest.fixture
def account():
    """Return an account at a fixed time, with 89 events in one stream."""
    with AccountDouble(lambda: RECORDED_NOW_S) as new_account:
        new_account.put(
            new_account.records_group, "i-0", [(RECORDED_NOW_MS + n, f"{n}") for n in range(89)]
        )
        yield new_account


@pytest.fixture
def logs(account):
    """Return a client of the account's CloudWatch Logs."""
    client = client_of(account)
    yield client
    client.close()


def by_network(account, client, events):
    """Return the answer to a real client: the message of an error, or the rejected events."""
    account.rules.retention_ms = RETENTION_MS
    sent = [(age_ms, "x" * size) for age_ms, size in events]
    try:
        return put(client, *sent).get("rejectedLogEventsInfo", {})
    except client.exceptions.InvalidParameterException as error:
        return error.response["Error"]["Message"]


def in_process(events):
    """Return the answer to a destination of the emitter."""
    service = InProcessService(lambda: RECORDED_NOW_S)
    service.retention_days = 7
    outcome = service.send(
        [
            SpooledRecord(place, "0" * 20, place, RECORDED_NOW_MS - age_ms, "x" * size)
            for place, (age_ms, size) in enumerate(events)
        ]
    )
    if not isinstance(outcome, Delivered):
        return outcome.reason
    return {why: tuple(places) for why, places in outcome.rejected.items()}


@each("writing_logs")
def test_a_batch_is_answered_as_recorded(row, account, logs):
    """A batch of (age in ms, bytes) is answered as recorded, through both doors."""
    events = row["events"]
    answer = row["answer"]
    assert answer == by_network(account, logs, events)
    same = answer if isinstance(answer, str) else places_of(answer, len(events))
    assert same == in_process(events)


@each("refusals_of_logs")
def test_a_refusal_has_the_words_of_the_service(row, logs):
    """A refusal has the service's words, with or without its full stop."""
    asked = {**RECORDED_STREAM, **row["given"]}
    call = {
        "create_log_stream": lambda: logs.create_log_stream(**asked),
        "put": lambda: put(logs, (0, "x"), **asked),
    }[row["operation"]]
    assert (f"{row['error']}Exception", 400) == error_in(call)
    assert row["words"] == words_of(call)


# --- reading ---


@each("reading_logs")
def test_pages_end_with_one_that_has_no_token(row, account, logs):
    """
    Every page with events has a token, even the last one, and the page without events has none.
    """
    account.empty_pages = row["empty_pages"]
    asked = {"logGroupName": account.records_group, "filterPattern": row["pattern"], "limit": 1000}
    counts = []
    ids = set()
    token = {}
    while True:
        answer = logs.filter_log_events(**asked, **token)
        counts.append(len(answer["events"]))
        ids |= {event["eventId"] for event in answer["events"]}
        assert [] == answer["searchedLogStreams"]
        if "nextToken" not in answer:
            break
        token = {"nextToken": answer["nextToken"]}
    assert row["events"] == counts
    assert len(ids) == sum(counts)
    assert sum(map(len, ids)) == 56 * sum(counts)


@pytest.mark.parametrize(
    "asked", [{"limit": 10_001}, {"filterPattern": "a" * 1025}, {"logStreamNames": ["i-0"] * 101}]
)
def test_no_more_is_read_than_the_model_of_the_service_allows(account, logs, asked):
    """The bounds in the API reference of FilterLogEvents hold; the SDK checks none."""
    group = account.records_group
    wrong = error_in(lambda: logs.filter_log_events(logGroupName=group, **asked))
    assert ("InvalidParameterException", 400) == wrong


def test_a_line_that_was_taken_may_not_be_there_yet(account, logs):
    """
    An accepted line can be missing for more than 90 s, and an answer meanwhile can be empty
    (ingestion.json).
    """
    asked = {
        "logGroupName": account.records_group,
        "logStreamName": "i-0",
        "startFromHead": True,
    }
    account.lag_ms = 100_000
    assert [] == logs.get_log_events(**asked)["events"]
    account.lag_ms = -1000  # some lines have timestamps in the near future
    assert [0, 89] == [len(logs.get_log_events(**asked)["events"]) for _ in range(2)]


CALLERS = [  # the fault and the error
    ("credentials unknown", "UnrecognizedClientException"),
    ("denied GetLogEvents", "AccessDeniedException"),
]


@pytest.mark.parametrize(("fault", "error"), CALLERS)
def test_who_may_not_ask_gets_400(fault, error, account, logs):
    """
    A caller without permission gets status 400, not 403 as in other services (authentication.json).
    """
    break_account(account, fault)
    stream = {"logGroupName": account.records_group, "logStreamName": "i-0"}
    assert (error, 400) == error_in(lambda: logs.get_log_events(**stream, startFromHead=True))


EIGHTEEN_MESSAGES = [
    "FAIL POD NODE", "FAIL BAD NODE", "WARM POD", "WARM NODE", "fail pod node",
    "FAIL INNER CORE FAIL", "FAIL INNER  CORE FAIL", "INNER CORE fail", "UNFAIL NODE",
    "[FAIL] NODE", "FAIL-NODE", "FAIL_POD", "FAIL\nPOD", "POD FAIL", "plain",
    'say "good day" now', "good-day", " ",
]  # fmt: skip


@each("filter_patterns")
def test_what_a_pattern_matches(row):
    """
    A pattern matches the recorded ones of eighteen messages, by place, or is refused with the
    service's words.
    """
    if "words" in row:
        with pytest.raises(ServiceError) as refused:
            matcher(row["pattern"])
        assert INVALID_PARAMETER == refused.value.code
        assert row["words"] == refused.value.words
        return
    matches = matcher(row["pattern"])
    assert row["matches"] == [n for n, message in enumerate(EIGHTEEN_MESSAGES) if matches(message)]


@pytest.mark.parametrize("pattern", ["{ $.a = 1 }", "[a, b]", "%a%"])
def test_another_sort_is_not_answered_as_if_nothing_matched(pattern):
    """
    Patterns of other types, the other 75 of the recording, are refused instead of matching nothing.
    """
    with pytest.raises(ServiceError, match="only terms are supported here"):
        matcher(pattern)
