"""Functions that were deployed in the middle of a minute go on from what earlier ones left."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path

import pytest

from aggregator import runtime
from aggregator.close import function as close
from aggregator.explain import function as explain
from proof.factories.invocations import Context
from proof.factories.records import MINUTE
from tests.aggregator.explain.alarm_events import of_a_contributor
from tests.aggregator.handler_traces import CurrentStdout
from tests.aggregator.memory_stack import MINUTE_END_S

ITEMS_IN_FLIGHT = (
    Path(__file__).resolve().parent.parent / "data" / "table" / "records-in-flight.jsonl"
)


@pytest.fixture
def left_behind(dynamodb, functions):  # noqa: ARG001 - the functions are those of today
    """The table as an earlier release left it: see README.md beside the file."""
    for line in ITEMS_IN_FLIGHT.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        for value in item.values():
            if "B" in value:
                value["B"] = base64.b64decode(value["B"])
        dynamodb.put_item(TableName="records", Item=item)


@pytest.fixture
def close_at(left_behind, monkeypatch, capsys):  # noqa: ARG001
    """Close what is due so many seconds after the first minute; the rollups by minute."""

    def rollups(seconds):
        monkeypatch.setattr(time, "time", lambda: MINUTE_END_S + float(seconds))
        capsys.readouterr()
        close.handler({}, Context())
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        return {
            line["_aws"]["Timestamp"] // 60_000 - MINUTE: line
            for line in lines
            if line.get("Kind") == "rollup"
        }

    return rollups


def test_records_in_flight_count_once(close_at):
    """One that came late is added to what was published; the open minute has both of its own."""
    rollups = close_at(190)
    late = rollups[0]
    current = rollups[1]
    assert (2, 6, 6, 1) == tuple(
        late[name] for name in ("Publication", "Records", "Instances", "LateRecords")
    )
    assert 100 == late["Executions"]  # five times 100 were published
    assert 0 == late["HardwareErrors"]  # which was not published before
    assert not {"EccUncorrectedRise", "HardwareFaults", "TalliesOverstated"} & late.keys()
    holders = [one.get("Holders") for one in late["TopIdleInstances"]]
    assert [{"Cores": "1", "Name": "ml/llama", "Pid": 7, "Tag": "serve"}] in holders
    assert (1, 2, 2) == tuple(current[name] for name in ("Publication", "Records", "Instances"))


def test_who_was_there_is_silent_and_who_was_stopped_is_not(close_at):
    """As the registry and the departures say that an earlier release wrote."""
    close_at(190)
    names = [one["InstanceId"] for one in close_at(8 * 60 + 130)[7]["SilentInstanceNames"]]
    assert {f"i-{number}" for number in range(1, 6)} == set(names)


@pytest.mark.usefixtures("left_behind")
def test_a_message_that_was_sent_is_not_sent_again(monkeypatch, capsys):
    """EventBridge may deliver the alarm once more, to the new function."""
    monkeypatch.setenv("ALARM_TOPIC_ARN", "arn:aws:sns:us-east-1:123456789012:nobody")
    monkeypatch.setattr(explain.logger.registered_handler, "stream", CurrentStdout())
    runtime.stack.cache_clear()
    event = of_a_contributor(alarmName="neuron-emf-IdleCorePercentByClusterAlarm-6F5E4D3C2B1A")
    assert {} == explain.handler(event, Context())
    assert '"outcome":"repeated"' in capsys.readouterr().out
