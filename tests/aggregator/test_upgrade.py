"""New functions continue a minute that functions of an earlier release began."""

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
    """Fill the table as an earlier release left it: see README.md next to the file."""
    for line in ITEMS_IN_FLIGHT.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        for value in item.values():
            if "B" in value:
                value["B"] = base64.b64decode(value["B"])
        dynamodb.put_item(TableName="records", Item=item)


@pytest.fixture
def close_at(left_behind, monkeypatch, capsys):  # noqa: ARG001
    """
    Return a function that closes due minutes some seconds after the first minute and returns
    rollups.
    """

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
    """
    Records in flight count once: in the published minute a late record is added, in the open minute
    both records count.
    """
    rollups = close_at(190)
    late = rollups[0]
    current = rollups[1]
    expected = {
        "Publication": 2,
        "Records": 6,
        "Instances": 6,
        "LateRecords": 1,
        "Executions": 100,  # 5 times 100 executions were published
        "HardwareErrors": 0,  # HardwareErrors were not published before
    }
    assert expected.items() <= late.items()
    assert not {"EccUncorrectedRise", "HardwareFaults", "TalliesOverstated"} & late.keys()
    holders = [instance.get("Holders") for instance in late["TopIdleInstances"]]
    assert [{"Cores": "1", "Name": "ml/llama", "Pid": 7, "Tag": "serve"}] in holders
    assert {"Publication": 1, "Records": 2, "Instances": 2}.items() <= current.items()


def test_who_was_there_is_silent_and_who_was_stopped_is_not(close_at):
    """
    Silent and stopped instances follow from the registry and the departures of the earlier release.
    """
    close_at(190)
    names = [
        instance["InstanceId"] for instance in close_at(8 * 60 + 130)[7]["SilentInstanceNames"]
    ]
    assert {f"i-{number}" for number in range(1, 6)} == set(names)


@pytest.mark.usefixtures("left_behind")
def test_a_message_that_was_sent_is_not_sent_again(monkeypatch, capsys):
    """
    A message that the earlier release sent is not sent again when EventBridge repeats the alarm.
    """
    monkeypatch.setenv("ALARM_TOPIC_ARN", "arn:aws:sns:us-east-1:123456789012:absent")
    monkeypatch.setattr(explain.logger.registered_handler, "stream", CurrentStdout())
    runtime.stack.cache_clear()
    event = of_a_contributor(alarmName="neuron-emf-IdleCorePercentByClusterAlarm-6F5E4D3C2B1A")
    assert {} == explain.handler(event, Context())
    assert '"outcome":"repeated"' in capsys.readouterr().out
