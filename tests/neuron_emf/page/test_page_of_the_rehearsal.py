"""The page against an account of the double and against the embedded AWS: the same figures."""

from __future__ import annotations

import json
import time
from datetime import datetime, timezone
from types import SimpleNamespace

import pytest

from local.embedded_aws import clients
from local.embedded_aws.server import EmbeddedAws
from neuron_emf.account import AccountSettings, account, rehearsed_account
from neuron_emf.page.settings import PageSettings
from neuron_emf.page.view import PageView
from tests.neuron_emf.page.looked_at import EXPLAIN_GROUP, IDLE_TEXT, LATE_MS, double_of, told
from tests.neuron_emf.page.looked_at import message as message_line

pytestmark = [pytest.mark.embedded, pytest.mark.proof]

RECORDS, ROLLUPS = "/neuron-emf/records", "/neuron-emf/neuron-emf/rollups"
MINUTE_MS = 60_000
NO_ALARMS = SimpleNamespace(read=list)


@pytest.fixture(scope="module")
def aws(programs, tmp_path_factory):
    """One emulator."""
    started = EmbeddedAws(programs[0], tmp_path_factory.mktemp("aws"))
    started.start()
    yield started
    started.stop()


def moved(lines, later_ms):
    """Pairs of time and line, each so much later."""
    events = []
    for text in lines:
        line = json.loads(text)
        if "_aws" not in line:
            continue
        line["_aws"]["Timestamp"] += later_ms
        if "Minute" in line:
            at = datetime.fromtimestamp(line["_aws"]["Timestamp"] / 1000, timezone.utc)
            line["Minute"] = f"{at:%Y-%m-%dT%H:%MZ}"
        events.append((line["_aws"]["Timestamp"], json.dumps(line, separators=(",", ":"))))
    return sorted(events)


def put(logs, group, events):
    """Have *events* in a log group of the emulator."""
    logs.create_log_group(logGroupName=group)
    logs.create_log_stream(logGroupName=group, logStreamName="all")
    for first in range(0, len(events), 100):
        batch = [{"timestamp": at, "message": text} for at, text in events[first : first + 100]]
        logs.put_log_events(logGroupName=group, logStreamName="all", logEvents=batch)


def test_the_same_lines_give_the_same_figures(aws, hour, monkeypatch):
    """First screen, graphs, cores, an instance's hour and messages, to the last digit."""
    newest_ms = max(json.loads(text)["_aws"]["Timestamp"] for text in hour.rollups)
    now_ms = round(time.time() * 1000)
    later_ms = now_ms // MINUTE_MS * MINUTE_MS - 3 * MINUTE_MS - newest_ms
    records = moved(hour.lines, later_ms)
    rollups = [(at + LATE_MS, text) for at, text in moved(told(hour.rollups, hour.lines), later_ms)]
    answers = []
    with double_of(monkeypatch, lambda: now_ms / 1000) as double:
        at_s = now_ms / 1000 - 600
        message = message_line(double, "IdleCoresAlarm", "research", IDLE_TEXT, at_s=at_s)
        groups = {
            RECORDS: records, ROLLUPS: rollups,
            EXPLAIN_GROUP: [(json.loads(message)["Timestamp"], message)],
        }  # fmt: skip
        logs = clients.client("logs", aws.endpoint_url)
        for group, events in groups.items():
            put(logs, group, events)
            double.put(group, "all", events)
        place = {
            "endpoint_url": aws.endpoint_url, "region": "us-east-1", "log_group": RECORDS,
            "rollups_log_group": ROLLUPS, "stack_name": "neuron-emf",
        }  # fmt: skip
        for one in (account(AccountSettings()), rehearsed_account(place)):
            view = PageView(one, PageSettings(), NO_ALARMS, now_ms=lambda: now_ms)
            overview = view.overview({})
            cores = view.cores({})
            first = {name: cores["instances"][0][name] for name in ("cluster", "instance")}
            own = {name: overview.pop(name) for name in ("region", "traffic")}
            answers.append([overview, view.history({"minutes": "60"}), cores, view.instance(first),
                            view.messages({})])  # fmt: skip
            assert own["traffic"]["calls"] >= 1
    of_the_double, of_the_emulator = answers
    assert 56 == of_the_double[0]["idle"]["cores"]
    assert 1 == len(of_the_double[4]["messages"])
    assert of_the_double == of_the_emulator
    assert [] == view.queries({})["queries"]  # the emulator saves none, and is not asked
