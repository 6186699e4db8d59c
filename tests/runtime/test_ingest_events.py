"""Events of CloudWatch Logs, good and bad, to the built ingest under AWS's own client."""

from __future__ import annotations

import base64
import gzip
import json
import random
from dataclasses import replace

import pytest

from aggregator.arrivals import LogLine
from proof.factories.invocations import delivery
from proof.factories.records import full_record, lines, record
from tests.runtime.expectations import (
    closable_minute,
    identities,
    kept,
    of_minute,
    rollup_lines,
    some_records,
)

pytestmark = [pytest.mark.slow]

MAX_EVENT_BYTES = 1_048_576  # of an asynchronous invocation
MAX_LINE_BYTES = MAX_EVENT_BYTES - 26  # of one event of a log group


def as_bytes(event):
    """An event as Lambda hands it over."""
    return json.dumps(event).encode()


def test_redelivered_reordered_and_duplicated_lines_count_once(warm, dynamodb):
    """The rollups are, byte for byte, those of one tidy delivery."""
    minute = closable_minute()
    made = some_records(minute)
    ingest, close = warm("ingest"), warm("close")
    whole = delivery(*lines(*made))
    shuffled = random.Random(1).sample(lines(*made, *made), 2 * len(made))
    counts = ingest.result(whole)
    assert {"RecordsStored": 12, "RecordsRejected": 0, "RecordsTooLate": 0} == counts
    for event in [whole, delivery(*shuffled), *(delivery(line) for line in shuffled[:5]), whole]:
        assert 0 == ingest.result(event)["RecordsRejected"]
    assert identities(made) == kept(dynamodb)
    assert 0 < close.result({})["LinesPrinted"]
    expected = rollup_lines(made, minute)
    assert 2 <= len(expected)
    assert sorted(expected) == sorted(of_minute(close.output().splitlines(), minute))


def corrupt_events():
    """What a function may be given by mistake, each with the error that must be its answer."""
    good = base64.b64decode(delivery()["awslogs"]["data"])
    packed = [good[:-9], b"", gzip.compress(b"junk"), gzip.compress(b"[]"), gzip.compress(b"{}")]
    yield b'{"awslogs":'
    yield b""
    yield from (b"null", b"[]", b"{}", b'{"awslogs":{}}', b'{"awslogs":{"data":"%%%"}}')
    for one in packed:
        yield as_bytes({"awslogs": {"data": base64.b64encode(one).decode()}})
    yield b'{"Records":[{"eventSource":"aws:sqs","body":"secret"}]}'


def test_a_corrupt_event_fails_and_the_next_one_does_not(warm, dynamodb):
    """The invocation fails, so that Lambda keeps the event; the process serves the next."""
    ingest = warm("ingest")
    for event in corrupt_events():
        answer = ingest.invoke(event)
        assert answer.failed, event
        error = json.loads(answer.body)
        assert {"errorMessage", "errorType", "requestId", "stackTrace"} == error.keys()
        assert 1 == len(ingest.messages())
    made = record(minute=closable_minute())
    assert 1 == ingest.result(delivery(*lines(made)))["RecordsStored"]
    assert identities([made]) == kept(dynamodb)


def many_records(minute, count):
    """Of as many instances of 128 cores, none like another."""
    return [replace(full_record(128, n), minute_ms=minute * 60_000) for n in range(count)]


def test_an_event_of_one_megabyte_is_taken_whole(warm, dynamodb):
    """The largest that CloudWatch Logs can send to a function, full of records."""
    minute = closable_minute()
    one = len(as_bytes(delivery(*lines(*many_records(minute, 100))))) / 100
    made = many_records(minute, int(0.98 * MAX_EVENT_BYTES / one))
    event = as_bytes(delivery(*lines(*made)))
    assert 0.9 * MAX_EVENT_BYTES < len(event) <= MAX_EVENT_BYTES
    assert len(made) == warm("ingest").result(event)["RecordsStored"]
    assert identities(made) == kept(dynamodb)


@pytest.mark.parametrize("filler", ["x", "[", '{"a":', "9"])
def test_a_line_of_one_megabyte_costs_itself_only(warm, dynamodb, filler):
    """Whatever it is made of: deep nesting and endless numbers too."""
    ingest = warm("ingest")
    made = record(minute=closable_minute())
    long = (filler * MAX_LINE_BYTES)[:MAX_LINE_BYTES]
    counts = ingest.result(delivery(LogLine("long", long), *lines(made)))
    assert (1, 1) == (counts["RecordsStored"], counts["RecordsRejected"])
    assert identities([made]) == kept(dynamodb)
    assert len(ingest.output()) < 4096  # it says what was dropped, and quotes nothing
