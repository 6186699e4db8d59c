"""Batches of a Kinesis stream: the same lines, with partial failures."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from aggregator import runtime
from aggregator.ingest import function as ingest
from aggregator.storage.values import TableError
from proof.factories.invocations import Context, batch, payload
from proof.factories.records import lines, record
from tests.aggregator.handler_traces import HANDLERS_NOW_S, documents, records

pytestmark = pytest.mark.usefixtures("functions", "handlers_clock")

NOTHING_FAILED = {"batchItemFailures": []}


LAST_MINUTE = int(HANDLERS_NOW_S) // 60 - 1


SEQUENCE_NUMBER: Any = 7
UNREADABLE_PAYLOADS = [
    b"",
    b"secret junk",
    gzip.compress(b"secret junk")[:-9],
    gzip.compress(b"secret junk"),
    gzip.compress(b"[]"),
    gzip.compress(b"{}"),
    payload(log_group=["/secret"]),
    payload(*(type(line)(SEQUENCE_NUMBER, line.message) for line in lines(record()))),
]


def test_a_record_that_is_no_delivery_is_reported_and_the_others_are_stored(dynamodb, capsys):
    """
    Records after an invalid one are stored, because Lambda may drop the rest of the batch with it.
    """
    first, last = (payload(*lines(record(seq=seq, minute=LAST_MINUTE))) for seq in (1, 2))
    response: dict[str, Any] = ingest.handler(batch(first, *UNREADABLE_PAYLOADS, last), Context())
    numbers = [f"n-{number}" for number in range(1, 1 + len(UNREADABLE_PAYLOADS))]
    assert numbers == [failure["itemIdentifier"] for failure in response["batchItemFailures"]]
    assert [1, 2] == [seq for _, seq in records(dynamodb)]
    output = capsys.readouterr().out
    ((health,), (logged,)) = documents(output)
    assert 8 == health["DeliveriesUnreadable"]
    assert "deliveries unreadable" == logged["message"]
    assert 8 == logged["count"]
    assert numbers[:5] == logged["sequence_numbers"]
    assert "secret" not in output


def test_a_table_that_fails_brings_the_whole_batch_again(monkeypatch):
    """
    If the table fails, the whole batch is retried, because a partial answer confirms the rest.
    """
    monkeypatch.setenv("TABLE_NAME", "no-such-table")
    runtime.stack.cache_clear()
    event = batch(payload(*lines(record(minute=LAST_MINUTE))), b"junk")
    with pytest.raises(TableError):
        ingest.handler(event, Context())


def test_own_groups_in_a_batch_are_refused(dynamodb, capsys):
    """
    Rollup lines are refused with a message, lines of the function's own log silently, and emitter
    lines in the same batch are stored.
    """
    log_lines = lines(record(minute=LAST_MINUTE))
    event = batch(
        payload(*log_lines),
        payload(*log_lines, *log_lines, log_group="/neuron-emf/rollups"),
        payload(*log_lines, log_group="/neuron-emf/ingest"),
        payload(type(log_lines[0])("bad", "junk")),
    )
    assert NOTHING_FAILED == ingest.handler(event, Context())
    ((health,), logged) = documents(capsys.readouterr().out)
    assert [3.0] == health["RecordsRejected"]
    assert ["own_log_group", "not_json"] == [line["reason"] for line in logged]
    assert 1 == len(records(dynamodb))
