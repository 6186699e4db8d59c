"""
The output of a function's process in each log format: rollup lines unchanged.

This module does not show what Lambda does with the output. With LogFormat JSON, Lambda takes a
printed document without a level for INFO, so an ApplicationLogLevel above INFO would drop the
rollups:

https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
"""

from __future__ import annotations

import json

import pytest

from aggregator.arrivals import LogLine
from neuron_wire.extraction import violations
from proof.factories.invocations import delivery
from proof.factories.records import lines
from tests.runtime.conftest import ON_THE_DEFAULT
from tests.runtime.expectations import closable_minute, of_minute, rollup_lines, some_records

pytestmark = [pytest.mark.slow, ON_THE_DEFAULT]

FORMATS = {
    "text": {"AWS_LAMBDA_LOG_FORMAT": "Text"},
    "json": {"AWS_LAMBDA_LOG_FORMAT": "JSON", "AWS_LAMBDA_LOG_LEVEL": "INFO"},
    "two_processes": {
        "AWS_LAMBDA_LOG_FORMAT": "JSON",
        "AWS_LAMBDA_LOG_LEVEL": "INFO",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "3538",  # close reads in one process per 1,769 MB
    },
    "json_errors_only": {"AWS_LAMBDA_LOG_FORMAT": "JSON", "AWS_LAMBDA_LOG_LEVEL": "ERROR"},
}


@pytest.mark.usefixtures("dynamodb")
@pytest.mark.parametrize("log_format", FORMATS)
def test_a_rollup_line_comes_out_byte_for_byte(warm, log_format):
    """A rollup line is printed byte for byte, as a line of its own that CloudWatch extracts."""
    minute = closable_minute()
    records = some_records(minute)
    warm("ingest").result(delivery(*lines(*records)))
    close = warm("close", **FORMATS[log_format])
    close.result({})
    output = close.output()
    assert output.endswith(b"\n")
    printed = output.removesuffix(b"\n").split(b"\n")
    expected = rollup_lines(records, minute)
    assert sorted(expected) == sorted(of_minute(printed, minute))
    assert "größe".encode() in b"".join(expected)
    assert [[]] * len(printed) == [violations(line.decode()) for line in printed]
    # A forked process makes a client, and botocore logs that a test sets its endpoint.
    assert [] == [
        message for message in close.messages() if "botocore.configprovider" not in message
    ]


@pytest.mark.usefixtures("dynamodb")
@pytest.mark.parametrize("log_format", ["text", "json"])
def test_what_is_logged_is_one_document_a_line(warm, log_format):
    """A log entry is one document in one line, and the runtime's own handler does not repeat it."""
    ingest = warm("ingest", **FORMATS[log_format])
    ingest.result(delivery(LogLine("bad", "junk", "i-1")))
    logged, health = map(json.loads, ingest.output().splitlines())
    assert [1.0] == health["RecordsRejected"]
    expected = {
        "message": "lines dropped",
        "level": "WARNING",
        "reason": "not_json",
        "event_ids": ["bad"],
    }
    assert expected.items() <= logged.items()
    assert logged["function_request_id"]
    assert [] == ingest.messages()


@pytest.mark.usefixtures("dynamodb")
def test_an_exception_is_one_document_in_json(warm):
    """
    An exception is one JSON document with level, type, message, request and stack, as in Lambda's
    own log.
    """
    ingest = warm("ingest", **FORMATS["json"])
    answer = ingest.invoke({"awslogs": {"data": ["secret"]}})
    returned = json.loads(answer.body)
    (message,) = ingest.messages()
    logged = json.loads(message)
    assert answer.failed is True
    assert "ERROR" == logged.pop("level")
    assert logged.pop("timestamp")
    assert returned == logged
    assert {"errorMessage", "errorType", "requestId", "stackTrace"} == returned.keys()
    assert "aggregator/ingest/function.py" in "".join(returned["stackTrace"])
    assert "secret" not in message
    assert b"" == ingest.output()
