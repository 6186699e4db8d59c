"""Every function of the template starts and answers, and ingest also refuses."""

from __future__ import annotations

import base64
import gzip
import json
import time

import pytest

from proof.factories.invocations import delivery
from proof.factories.records import lines, record
from tests.aggregator.explain.alarm_events import of_an_alarm, state
from tests.aggregator.handler_traces import state_change
from tests.built_artefact import handlers
from tests.runtime.expectations import closable_minute, identities, kept

pytestmark = [pytest.mark.slow]


def a_delivery():
    """Return a delivery with one record of the last minute from a quiet instance."""
    return delivery(*lines(record(minute=int(time.time()) // 60 - 1)))


def a_tick():
    """Return the event of the schedule."""
    return {"version": "0", "detail-type": "Scheduled Event", "source": "aws.scheduler"}


def a_departure():
    """Return EC2's event about an instance that ends."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return state_change("shutting-down", time=now)


def an_alarm():
    """Return the event of an alarm that fires for one cluster."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000+0000", time.gmtime())
    return of_an_alarm(now=state("ALARM", now))


FUNCTION_EVENTS = {
    "IngestFunction": a_delivery,
    "CloseFunction": a_tick,
    "SettleFunction": a_tick,
    "DigestFunction": a_tick,
    "DepartureFunction": a_departure,
    "ExplainFunction": an_alarm,
}


@pytest.mark.usefixtures("dynamodb")
@pytest.mark.parametrize("name", FUNCTION_EVENTS)
def test_every_function_starts_and_answers(repository, start, name):
    """A function answers its first event in a new process, and the next one in the same process."""
    function = start(name, handlers(repository)[name])
    function.start()
    event = FUNCTION_EVENTS[name]()
    answers = [function.invoke(event) for _ in range(2)]
    assert [] == [answer.body for answer in answers if answer.failed]
    assert [] == function.messages()


def test_a_function_that_cannot_start_logs_the_reason(start):
    """
    A function without its table's name fails once at its start, with the name of the variable.
    """
    function = start("IngestFunction", "aggregator.ingest.handler", TABLE_NAME="")
    with pytest.raises(Exception, match=r"TABLE_NAME is not set\. Deploy the function") as failure:
        function.start()
    assert b'"errorType": "SettingError"' in failure.value.args[0]


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
