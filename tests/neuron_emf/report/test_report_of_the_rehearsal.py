"""`neuron-emf report --rehearsal` reads the lines of the embedded AWS, and says what files say."""

from __future__ import annotations

import json

import pytest

from local.embedded_aws.clients import REGION, client
from local.embedded_aws.server import EmbeddedAws
from tests.neuron_emf.test_account_and_rehearsal import page

pytestmark = [pytest.mark.embedded, pytest.mark.proof]

GROUP = "/neuron-emf/records"
AT_ONCE = 200  # lines: far below the megabyte that a call may have
PERIOD = ("--since", "2026-11-20T08:00:00Z", "--until", "2026-11-20T09:00:00Z")


def test_the_rehearsal_is_read_like_an_account(typed, programs, tmp_path, hour, monkeypatch):
    """By its lines, because it has no ledger; not a billionth differs."""
    aws = EmbeddedAws(programs[0], tmp_path)
    aws.start()
    logs = client("logs", aws.endpoint_url)
    logs.create_log_group(logGroupName=GROUP)
    logs.create_log_stream(logGroupName=GROUP, logStreamName="all")
    minutes = [line for line in hour.lines if '"Kind":"minute"' in line]
    events = [{"timestamp": _at_ms(line), "message": line} for line in minutes]
    for start in range(0, len(events), AT_ONCE):
        logs.put_log_events(
            logGroupName=GROUP, logStreamName="all", logEvents=events[start : start + AT_ONCE]
        )
    place = {
        "endpoint_url": aws.endpoint_url, "region": REGION, "log_group": GROUP,
        "rollups_log_group": "/rollups", "stack_name": "neuron-emf",
    }  # fmt: skip
    with page(json.dumps(place).encode()) as address:
        monkeypatch.setattr("neuron_emf.account.REHEARSAL", address)
        code, out, err = typed("report", "--rehearsal", *PERIOD, "--json")
    logs.close()
    aws.stop()
    expected = json.loads(typed("report", hour.records_file, *PERIOD, "--json")[1])
    found = json.loads(out)
    assert (0, "") == (code, err)
    assert (expected["total"], expected["rows"]) == (found["total"], found["rows"])
    assert f"log group {GROUP}" == found["reading"]["origin"]


def _at_ms(line):
    members = json.loads(line)
    return members["Timestamp"] if "Timestamp" in members else members["_aws"]["Timestamp"]
