"""The handlers of ingest and close, from Lambda's event to the table and stdout."""

from __future__ import annotations

import time
from typing import Any

import pytest

from aggregator import runtime
from aggregator.close import function as close
from aggregator.ingest import function as ingest
from neuron_wire.catalogue import ALARMED, STACK_METRICS, members_of
from proof.factories.invocations import Context, delivery
from proof.factories.records import lines, record
from tests.aggregator.handler_traces import HANDLERS_NOW_S, documents, items, record_items

pytestmark = pytest.mark.usefixtures("functions", "handlers_clock")


TICK: dict[str, object] = {
    "version": "0",
    "detail-type": "Scheduled Event",
    "source": "aws.scheduler",
}


def test_self_metrics_have_the_stack_as_their_only_dimension(capsys):
    """The stack is the only dimension of self-metrics, even if Powertools has a service name."""
    for _ in range(2):
        close.handler(TICK, Context())
        ((document,), _) = documents(capsys.readouterr().out)
        (directive,) = document["_aws"]["CloudWatchMetrics"]
        assert [["StackName"]] == directive["Dimensions"]
        assert "neuron-emf" == document["StackName"]
        assert document["_aws"]["Timestamp"] > 1_700_000_000_000  # milliseconds
        names = {"MinutesClosed", "MinutesWaiting", "RecordsRejected"}
        assert names == {metric["Name"] for metric in directive["Metrics"]} <= STACK_METRICS.keys()
        assert [0.0] == document["RecordsRejected"]
        assert 0 == document["MinutesDropped"]
        assert document.keys() <= members_of("stack").keys() | {"_aws"}


def test_the_functions_own_group_is_refused_in_silence(dynamodb, capsys):
    """Ingest prints nothing for its own log group, because each line would be its next event."""
    event = delivery(*lines(record()), log_group="/neuron-emf/ingest")
    counts: dict[str, Any] = ingest.handler(event, Context())
    assert 0 == sum(counts.values())
    assert "" == capsys.readouterr().out
    assert [] == items(dynamodb)


def test_bad_lines_are_logged_by_reason_and_never_quoted(dynamodb, capsys):
    """Bad lines are logged by reason with their event IDs, and never quoted."""
    good, *_ = lines(record(minute=int(HANDLERS_NOW_S) // 60 - 1))
    bad = [type(good)(f"bad-{number}", "secret junk") for number in range(7)]
    counts = ingest.handler(delivery(*bad, good), Context())
    output = capsys.readouterr().out
    ((health,), (logged,)) = documents(output)
    assert 1 == counts["RecordsStored"]
    assert 7 == counts["RecordsRejected"]
    assert [7.0] == health["RecordsRejected"]
    assert "not_json" == logged["reason"]
    assert 7 == logged["count"]
    assert 5 == len(logged["event_ids"])
    assert ["i-0aaaaaaaaaaaaaaa1"] == logged["log_streams"]
    assert "secret" not in output
    assert 1 == len(record_items(dynamodb))


def test_what_is_too_late_is_logged_and_counted(dynamodb, capsys):
    """Late records are logged and counted, and the log line has the limit."""
    counts = ingest.handler(delivery(*lines(record())), Context())
    ((health,), (logged,)) = documents(capsys.readouterr().out)
    assert 0 == counts["RecordsStored"]
    assert 1 == counts["RecordsTooLate"]
    assert [1.0] == health["RecordsTooLate"]
    assert "too_late" == logged["reason"]
    assert 1 == logged["count"]
    assert 120 == logged["late_minutes"]
    assert [] == items(dynamodb)


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"awslogs": {"data": "junk"}},
        {"awslogs": {}},
        {"Records": None},
        {"Records": [{"eventSource": "aws:sqs", "body": "junk"}]},
        delivery(log_group=7),
    ],
)
def test_an_event_that_is_none_fails_the_invocation(event):
    """
    An invalid event fails the invocation: Lambda retries it, then sends it to the failure
    destination.
    """
    with pytest.raises(Exception):  # noqa: B017, PT011  # whichever: it must not pass
        ingest.handler(event, Context())


def test_an_unknown_metric_is_logged_once_and_the_others_are_made(
    capsys,
    monkeypatch,
):
    """An unknown metric in the parameter is logged once, and minutes still close."""
    monkeypatch.setenv("METRICS", "TeraFlops,idlecores")
    runtime.stack.cache_clear()
    minute = int(HANDLERS_NOW_S) // 60 - 1
    ingest.handler(delivery(*lines(record(minute=minute))), Context())
    monkeypatch.setattr(time, "time", lambda: (minute + 1) * 60 + 130.0)
    close.handler(TICK, Context())
    close.handler(TICK, Context())
    (rollup, *_), logged = documents(capsys.readouterr().out)
    names = {metric["Name"] for metric in rollup["_aws"]["CloudWatchMetrics"][0]["Metrics"]}
    assert {*ALARMED, "TeraFlops"} == names
    assert [("metrics ignored", ["idlecores"])] == [
        (line["message"], line["names"]) for line in logged if line["level"] == "WARNING"
    ]


def test_a_second_close_at_the_same_time_logs_it_and_does_nothing(capsys):
    """A second close at the same time prints that the first has the lease, and no metric."""
    _, table = runtime.stack()
    table.take_lease("another run", HANDLERS_NOW_S, HANDLERS_NOW_S + 60)
    assert {} == close.handler(TICK, Context())
    ([], (logged,)) = documents(capsys.readouterr().out)
    assert "another run is closing minutes" == logged["message"]


def test_what_close_drops_is_logged(dynamodb, capsys):
    """
    A damaged item that close drops is counted and logged with its reason, without its content.
    """
    minute = int(HANDLERS_NOW_S) // 60 - 3
    key = {"pk": {"S": f"m#{minute}#00"}, "sk": {"S": "junk"}}
    dynamodb.put_item(TableName="records", Item={**key, "r": {"B": b"junk"}})
    close.handler(TICK, Context())
    ((health,), (logged,)) = documents(capsys.readouterr().out)
    assert 1 == health["RecordsUnreadable"]
    assert "item_unreadable" == logged["reason"]
    assert 1 == logged["count"]
