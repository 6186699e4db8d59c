"""What a subscription hands to ingest, and the bytes of a function's output, as recorded."""

from __future__ import annotations

import base64
import gzip
import json

import pytest

from aggregator.runtime import arrival_of
from local.pump import extract
from neuron_wire.catalogue import MEMBERS
from tests.recorded.recording import KINESIS, OUTPUT, SUBSCRIPTIONS, TAILS

LINE = {"id": "5" * 56, "timestamp": 1_800_000_000_000, "message": '{"Kind":"minute"}\n'}
FILTERED = {
    "messageType": "DATA_MESSAGE", "owner": "123456789012", "logGroup": "/neuron-emf/records",
    "logStream": "i-0", "subscriptionFilters": ["minutes"], "logEvents": [LINE],
}  # fmt: skip
PROBED = {
    "messageType": "CONTROL_MESSAGE", "owner": "CloudwatchLogs", "logGroup": "", "logStream": "",
    "subscriptionFilters": [],
    "logEvents": [{
        "id": "", "timestamp": 1_800_000_000_000,
        "message": "CWL CONTROL MESSAGE: Checking health of destination Kinesis stream.",
    }],
}  # fmt: skip
ENVELOPES = [  # recording, what it is, the envelope, ids of the lines that ingest gets
    (SUBSCRIPTIONS, "lines", FILTERED, ["5" * 56]),
    (SUBSCRIPTIONS, "lines of two filters", {**FILTERED, "subscriptionFilters": ["a", "b"]},
        ["5" * 56]),
    (SUBSCRIPTIONS, "fields that were asked for",
        {**FILTERED, "logEvents": [{**LINE, "extractedFields": {"a": "1"}}]}, ["5" * 56]),
    (KINESIS, "lines", FILTERED, ["5" * 56]),
    (KINESIS, "the test message before a filter", PROBED, []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("recording", "what", "envelope", "expected"),
    ENVELOPES,
    ids=[f"{row[0]}: {row[1]}" for row in ENVELOPES],
)
def test_ingest_unpacks_what_was_delivered(recording, what, envelope, expected):
    """By subscription or out of a stream, gzip either way; of a control message no line."""
    packed = base64.b64encode(gzip.compress(json.dumps(envelope).encode())).decode()
    kinesis = {"sequenceNumber": "1", "data": packed, "partitionKey": "0" * 32}
    event = {"Records": [{"eventSource": "aws:kinesis", "kinesis": kinesis}]}
    if recording == SUBSCRIPTIONS:
        event = {"awslogs": {"data": packed}}
    (delivery,) = arrival_of(event).deliveries
    assert expected == [line.event_id for line in delivery.lines], what


ROLLUP = json.dumps({
    "_aws": {"Timestamp": 1_800_000_000_000, "CloudWatchMetrics": [
        {"Namespace": "N", "Dimensions": [[]], "Metrics": [{"Name": "A"}]}]},
    "A": 1,
})  # fmt: skip
PRINTED = [  # recording, what a function prints, as it is stored, how many metrics it makes
    (OUTPUT, "a line of JSON", ROLLUP + "\n", 1),
    (OUTPUT, "a line of JSON with a level", ROLLUP[:-1] + ', "level": "INFO"}\n', 1),
    (OUTPUT, "a record of the runtime", '{"time":"t","type":"platform.report"}', 0),
    (TAILS, "behind what had no line end", "left over" + ROLLUP + "\n", 0),
    (TAILS, "behind JSON that had no line end", "{}" + ROLLUP + "\n", 0),
]


@pytest.mark.parametrize(
    ("recording", "what", "stored", "expected"), PRINTED, ids=[f"{r[0]}: {r[1]}" for r in PRINTED]
)
def test_metrics_of_what_a_function_prints(recording, what, stored, expected):
    """Kept byte for byte, line end and all: what was joined to another line makes none."""
    assert expected == len(extract(stored, 1_800_000_000_000).data), (recording, what)


def test_no_line_of_ours_has_the_member_that_a_log_level_drops():
    """In JSON format a line with `level` below ApplicationLogLevel is not stored (OUTPUT)."""
    assert "level" not in {member.name.lower() for member in MEMBERS}
