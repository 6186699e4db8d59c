"""`neuron-emf report --rehearsal` reads the embedded AWS, and says what the files say."""

from __future__ import annotations

import json

import pytest

from local.embedded_aws.clients import REGION, client
from local.embedded_aws.server import EmbeddedAws
from neuron_emf.reading import periods
from neuron_emf.report.collection import collect
from neuron_emf.report.exports import document
from neuron_emf.report.settings import IdleReportSettings
from tests.neuron_emf.report.ways import NOW_S
from tests.neuron_emf.test_account_and_rehearsal import page

pytestmark = [pytest.mark.embedded, pytest.mark.proof]

RECORDS, ROLLUPS = "/neuron-emf/records", "/neuron-emf/neuron-emf/rollups"
AT_ONCE = 200  # lines: far below the megabyte that a call may have


@pytest.fixture
def rehearsal(programs, tmp_path, hour, monkeypatch):
    """An emulator with the hour in it, and the address at which `make demo` says where it is."""
    aws = EmbeddedAws(programs[0], tmp_path)
    aws.start()
    logs = client("logs", aws.endpoint_url)
    for group, lines in ((RECORDS, hour.lines), (ROLLUPS, hour.rollups)):
        logs.create_log_group(logGroupName=group)
        logs.create_log_stream(logGroupName=group, logStreamName="all")
        events = [{"timestamp": _at_ms(line), "message": line} for line in lines]
        for start in range(0, len(events), AT_ONCE):
            logs.put_log_events(
                logGroupName=group, logStreamName="all", logEvents=events[start : start + AT_ONCE]
            )
    place = {
        "endpoint_url": aws.endpoint_url,
        "region": REGION,
        "log_group": RECORDS,
        "rollups_log_group": ROLLUPS,
        "stack_name": "neuron-emf",
    }
    monkeypatch.setattr(periods, "now_ms", lambda: round(NOW_S * 1000))
    with page(json.dumps(place).encode()) as address:
        monkeypatch.setattr("neuron_emf.account.REHEARSAL", address)
        yield aws
    logs.close()
    aws.stop()


def _at_ms(line):
    members = json.loads(line)
    return members["Timestamp"] if "Timestamp" in members else members["_aws"]["Timestamp"]


@pytest.mark.usefixtures("rehearsal")
def test_the_rehearsal_is_read_like_an_account(hour):
    """Line by line, because the embedded AWS has no saved queries; not a cent differs."""
    period = {"since": "2026-11-20T08:00:00Z", "until": "2026-11-20T09:00:00Z"}
    found = document(collect(IdleReportSettings(rehearsal=True, **period), ()))
    expected = document(
        collect(IdleReportSettings(**period), (hour.records_file, hour.rollups_file))
    )
    assert RECORDS in found.pop("reading")["origin"]
    del expected["reading"]
    assert expected == found
    assert 120 == found["rollups"]["equal_minutes"]
