"""`top --rehearsal` on the embedded AWS, which pages otherwise than AWS does."""

from __future__ import annotations

import json
import time

import pytest

from local.embedded_aws import EmbeddedAws, clients
from neuron_emf.cli import main
from tests.neuron_emf.reading.lines import line
from tests.neuron_emf.test_account_and_rehearsal import page

GROUP = "/rehearsal/records"
MINUTE_MS = 60_000
INSTANCES = 1300
MINUTES = 8

pytestmark = [pytest.mark.embedded, pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def aws(programs, tmp_path_factory):
    """One emulator."""
    started = EmbeddedAws(programs[0], tmp_path_factory.mktemp("aws"))
    started.start()
    yield started
    started.stop()


@pytest.fixture
def rehearsal(aws, monkeypatch):
    """The page's word on where the embedded AWS is."""
    said = {
        "endpoint_url": aws.endpoint_url,
        "region": "us-east-1",
        "log_group": GROUP,
        "rollups_log_group": "/rehearsal/rollups",
        "stack_name": "rehearsal",
    }

    with page(json.dumps(said).encode()) as address:
        monkeypatch.setattr("neuron_emf.account.REHEARSAL", address)
        yield


@pytest.mark.usefixtures("rehearsal")
def test_more_lines_than_one_answer_holds_are_all_seen(aws, capsys):
    """10,400 lines, and others among them that are no minutes."""
    logs = clients.client("logs", aws.endpoint_url)
    logs.create_log_group(logGroupName=GROUP)
    now_ms = time.time_ns() // 1_000_000 // MINUTE_MS * MINUTE_MS
    for number in range(INSTANCES // 100):
        stream = f"s-{number}"
        logs.create_log_stream(logGroupName=GROUP, logStreamName=stream)
        events = []
        for age in range(MINUTES + 1, 1, -1):
            at_ms = now_ms - age * MINUTE_MS
            for instance in range(100 * number, 100 * number + 100):
                text = line(instance_id=f"i-{instance}", minute_ms=at_ms, seq=99 - age)
                events.append({"timestamp": at_ms, "message": text})
            events.append({"timestamp": at_ms, "message": '{"Schema":1,"Kind":"runtime"}'})
        logs.put_log_events(logGroupName=GROUP, logStreamName=stream, logEvents=events)
    with pytest.raises(SystemExit) as end:
        main(["top", "--rehearsal", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert 0 == end.value.code
    assert INSTANCES * MINUTES == found["lines"]["records"]
    assert (0, {}) == (found["lines"]["repeated"], found["lines"]["unreadable"])
    assert (INSTANCES, 0) == tuple(found["fleet"][n] for n in ("instances", "silent_instances"))
