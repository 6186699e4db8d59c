"""Events of CloudWatch Logs, good and bad, to the built ingest under AWS's own client."""

from __future__ import annotations

import base64
import gzip
import json

import pytest

from proof.factories.invocations import delivery
from proof.factories.records import lines, record
from tests.runtime.expectations import closable_minute, identities, kept

pytestmark = [pytest.mark.slow]


def corrupt_events():
    """Return invalid events, each with the error that must be its answer."""
    good = base64.b64decode(delivery()["awslogs"]["data"])
    packed = [good[:-9], b"", gzip.compress(b"junk"), gzip.compress(b"[]"), gzip.compress(b"{}")]
    yield b'{"awslogs":'
    yield b""
    yield from (b"null", b"[]", b"{}", b'{"awslogs":{}}', b'{"awslogs":{"data":"%%%"}}')
    for data in packed:
        yield json.dumps({"awslogs": {"data": base64.b64encode(data).decode()}}).encode()
    yield b'{"Records":[{"eventSource":"aws:sqs","body":"secret"}]}'


def test_a_corrupt_event_fails_and_the_next_one_does_not(warm, dynamodb):
    """
    An invalid event fails its invocation, so that Lambda keeps it, and the process answers the next
    event.
    """
    ingest = warm("ingest")
    for event in corrupt_events():
        answer = ingest.invoke(event)
        assert answer.failed, event
        error = json.loads(answer.body)
        assert {"errorMessage", "errorType", "requestId", "stackTrace"} == error.keys()
        assert 1 == len(ingest.messages())
    minute_record = record(minute=closable_minute())
    assert 1 == ingest.result(delivery(*lines(minute_record)))["RecordsStored"]
    assert identities([minute_record]) == kept(dynamodb)
