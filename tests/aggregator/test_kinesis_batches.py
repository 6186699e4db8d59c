"""Mode kinesis: the same lines in batches of a stream, with partial failures."""

from __future__ import annotations

import gzip
import time
from typing import Any

import pytest

from aggregator import runtime
from aggregator.ingest import function as ingest
from aggregator.storage.values import TableError
from proof.factories.invocations import Context, batch, payload
from proof.factories.records import lines, record
from tests.aggregator.handler_traces import documents, records

pytestmark = pytest.mark.usefixtures("functions")

NOTHING_FAILED = {"batchItemFailures": []}


def last_minute():
    """The minute before this one."""
    return int(time.time()) // 60 - 1


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
    """Also those behind it: when Lambda gives it up it may give up the rest of the batch too."""
    minute = last_minute()
    first, last = (payload(*lines(record(seq=seq, minute=minute))) for seq in (1, 2))
    response: dict[str, Any] = ingest.handler(batch(first, *UNREADABLE_PAYLOADS, last), Context())
    numbers = [f"n-{number}" for number in range(1, 1 + len(UNREADABLE_PAYLOADS))]
    assert numbers == [one["itemIdentifier"] for one in response["batchItemFailures"]]
    assert [1, 2] == [seq for _, seq in records(dynamodb)]
    output = capsys.readouterr().out
    ((health,), (logged,)) = documents(output)
    assert 8 == health["DeliveriesUnreadable"]
    assert "deliveries unreadable" == logged["message"]
    assert 8 == logged["count"]
    assert numbers[:5] == logged["sequence_numbers"]
    assert "secret" not in output


def test_a_table_that_fails_brings_the_whole_batch_again(monkeypatch):
    """A partial answer would say that what was not stored was."""
    monkeypatch.setenv("TABLE_NAME", "no-such-table")
    runtime.stack.cache_clear()
    event = batch(payload(*lines(record(minute=last_minute()))), b"junk")
    with pytest.raises(TableError):
        ingest.handler(event, Context())


def test_own_groups_in_a_batch_are_refused(dynamodb, capsys):
    """
    Those of the rollups with a word, those of the function's own log in silence, and the
    emitters' lines beside them are stored.
    """
    made = lines(record(minute=last_minute()))
    event = batch(
        payload(*made),
        payload(*made, *made, log_group="/neuron-emf/rollups"),
        payload(*made, log_group="/neuron-emf/ingest"),
        payload(type(made[0])("bad", "junk")),
    )
    assert NOTHING_FAILED == ingest.handler(event, Context())
    ((health,), logged) = documents(capsys.readouterr().out)
    assert [3.0] == health["RecordsRejected"]
    assert ["own_log_group", "not_json"] == [one["reason"] for one in logged]
    assert 1 == len(records(dynamodb))
