"""
The real template on the embedded AWS: what a rule for findings passes on to a queue.

Events are those of EventBridge itself, and judged by the schema that programs are given.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import pytest

from aggregator.storage.dynamodb import Requests
from aggregator.storage.table import Table
from aggregator.storage.values import CloseProgress
from local.rehearsal.stack import DeployedStack, overrides
from neuron_wire.findings import DETAIL_TYPE, EVENT_SOURCE, SCHEMA_FILE
from proof.factories.records import message
from tests.aggregator.findings.fleet import busy, idle
from tests.stack.test_embedded_fleet import put, wait_until

VALIDATOR = Path(__file__).resolve().parents[2] / ".venv-tools" / "bin" / "check-jsonschema"
INSTANCES = 12
WORKING = 4  # of them, in all minutes but the first
MINUTES = 4  # three of work close a finding
PATIENCE_S = 120.0

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.proof,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel"),
]


def lines_of_the_fleet(first):
    """Idle for 29 minutes, then some work and some do not; one has a fault in its first minute."""
    made = []
    for at, n in product(range(MINUTES), range(INSTANCES)):
        moment = {"instance_id": f"i-{n:017x}", "minute": first + at, "seq": at + 1}
        if at and n < WORKING:
            made.append(busy(**moment))
        else:
            faults = {"HardwareFaults": int(n == at == 0)}
            made.append(idle(minutes=29 + at, readings=faults, **moment))
    return [(one.minute_ms, message(one)) for one in made]


@pytest.fixture
def received(aws):
    """The events that a rule for findings has passed on so far."""
    events, sqs = aws.client("events"), aws.client("sqs")
    url = sqs.create_queue(QueueName="findings")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
    pattern = {"source": [EVENT_SOURCE], "detail-type": [DETAIL_TYPE]}
    events.put_rule(Name="findings", EventPattern=json.dumps(pattern))
    events.put_targets(Rule="findings", Targets=[{"Id": "queue", "Arn": arn["QueueArn"]}])
    found = []

    def read():
        while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
            for one in messages:
                found.append(json.loads(one["Body"])["detail"])
                sqs.delete_message(QueueUrl=url, ReceiptHandle=one["ReceiptHandle"])
        return found

    yield read
    events.remove_targets(Rule="findings", Ids=["queue"])
    events.delete_rule(Name="findings")


def test_each_step_is_one_event_that_the_schema_knows(aws, sam_build, template, received, tmp_path):
    """Also where every line comes twice, and after more runs of close."""
    deployment = sam_build.sam.deploy(sam_build.template, "findings", overrides(template), aws)
    first = int(time.time()) // 60 - MINUTES - 3
    stack = DeployedStack(aws, deployment, first * 60_000)
    table = Table(Requests(aws.client("dynamodb"), deployment.outputs["RecordsTableName"]))
    table.write_progress(CloseProgress(first, (), first))  # late minutes would change nothing
    logs = aws.client("logs")
    lines = lines_of_the_fleet(first)
    for stream in ("fleet", "copies"):
        logs.create_log_stream(logGroupName=stack.records_group, logStreamName=stream)
        put(logs, stack.records_group, stream, lines)
    wait_until(lambda: stack.stored_records() >= len(lines), what="lines stored")
    deadline = time.monotonic() + PATIENCE_S
    closed = 0
    while closed < WORKING:
        assert time.monotonic() < deadline, f"{len(received())} events within {PATIENCE_S:.0f} s"
        time.sleep(2)
        stack.close_minutes()
        closed = sum(one["Change"] == "closed" for one in received())
    for _ in range(3):
        stack.close_minutes()
        time.sleep(1)
    events = received()
    steps = {(one["Kind"], one["InstanceId"], one["Step"], one["Change"]) for one in events}
    names = [f"i-{n:017x}" for n in range(INSTANCES)]
    assert len(events) == len(steps) == len({(one["Id"], one["Step"]) for one in events})
    assert steps == {
        ("hardware-fault", names[0], 1, "opened"),
        *(("idle-instance", name, 1, "opened") for name in names),
        *(("idle-instance", name, 2, "closed") for name in names[:WORKING]),
        *(("idle-instance", name, 2, "worsened") for name in names[WORKING:]),
    }
    assert {"work"} == {one["Reason"] for one in events if one["Change"] == "closed"}
    if VALIDATOR.exists():
        for number, event in enumerate(events):
            (tmp_path / f"{number}.json").write_text(json.dumps(event), encoding="utf-8")
        paths = sorted(tmp_path.glob("*.json"))
        subprocess.run([VALIDATOR, "--schemafile", SCHEMA_FILE, *paths], check=True)
