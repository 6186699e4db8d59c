"""What a subscription hands to ingest, and the bytes of a function's output, as recorded."""

from __future__ import annotations

import base64
import gzip
import json

from aggregator.runtime import arrival_of
from local.pump.extraction import extract
from neuron_wire.catalogue import MEMBERS
from tests.recorded.recording import each


@each("deliveries")
def test_ingest_unpacks_what_was_delivered(row):
    """By subscription or out of a stream, gzip either way; of a control message no line."""
    packed = base64.b64encode(gzip.compress(json.dumps(row["envelope"]).encode())).decode()
    event = {"awslogs": {"data": packed}}
    if "kinesis" in row["recording"]:
        kinesis = {"sequenceNumber": "1", "data": packed, "partitionKey": "0" * 32}
        event = {"Records": [{"eventSource": "aws:kinesis", "kinesis": kinesis}]}
    (delivery,) = arrival_of(event).deliveries
    assert row["lines"] == [line.event_id for line in delivery.lines]


@each("standard_output")
def test_metrics_of_what_a_function_prints(row):
    """Kept byte for byte, line end and all: what was joined to another line makes none."""
    assert row["metrics"] == len(extract(row["stored"], 1_800_000_000_000).data)


def test_no_line_of_ours_has_the_member_that_a_log_level_drops():
    """In JSON format a line with `level` below ApplicationLogLevel was not stored."""
    assert "level" not in {member.name.lower() for member in MEMBERS}
