"""Through everything: lines in the embedded AWS, its metrics, the page's server, a browser."""

from __future__ import annotations

import json
import time
from datetime import datetime, timezone

import pytest
from tests.local.page.browser.drawn import tables, traces
from tests.local.page.recording import PLACE, ROLLUPS, template_of

from local.alarms.history import CloudWatchHistory
from local.embedded_aws import EmbeddedAws
from local.page import DashboardView, LogLines, PageServer
from local.pump import EmfPump

pytestmark = [pytest.mark.embedded, pytest.mark.slow, pytest.mark.timeout(180)]

SHOWN = {
    "Cores by state": ("BusyCores", "AttachedIdleCores", "UnattachedCores", "UnknownCores"),
    "Utilization and coverage, percent": ("NeuronCoreUtilization", "CoveragePercent"),
}


@pytest.fixture(scope="module")
def aws(programs, tmp_path_factory):
    started = EmbeddedAws(programs[0], tmp_path_factory.mktemp("aws"))
    started.start()
    yield started
    started.stop()


def recent(rollups, now_ms):
    """The rollups of an hour as if it ended three minutes ago: pairs of milliseconds and line."""
    lines = [json.loads(line) for line in rollups]
    newest_ms = max(line["_aws"]["Timestamp"] for line in lines)
    later_ms = now_ms // 60_000 * 60_000 - 180_000 - newest_ms
    for line in lines:
        line["_aws"]["Timestamp"] += later_ms
        at = datetime.fromtimestamp(line["_aws"]["Timestamp"] / 1000, timezone.utc)
        line["Minute"] = f"{at:%Y-%m-%dT%H:%MZ}"
    events = [(line["_aws"]["Timestamp"], json.dumps(line)) for line in lines]
    return sorted(events, key=lambda event: event[0])


def asked(cloudwatch, metric, start_s, end_s):
    """What GetMetricData says of a metric of cluster research, minutes and values."""
    stat = {
        "Metric": {
            "Namespace": "Neuron/Cluster",
            "MetricName": metric,
            "Dimensions": [{"Name": "ClusterName", "Value": "research"}],
        },
        "Period": 60,
        "Stat": "Average",
    }
    (found,) = cloudwatch.get_metric_data(
        StartTime=start_s,
        EndTime=end_s,
        ScanBy="TimestampAscending",
        MetricDataQueries=[{"Id": "m", "MetricStat": stat}],
    )["MetricDataResults"]
    return {
        int(at.timestamp()): value
        for at, value in zip(found["Timestamps"], found["Values"], strict=True)
    }


def test_the_numbers_on_the_page_are_those_that_cloudwatch_answers(
    open_page, aws, hour, repository
):
    """Asked of the embedded AWS with an SDK of one's own: table and drawing have the same."""
    now_s = time.time()
    logs, cloudwatch = aws.client("logs"), aws.client("cloudwatch")
    logs.create_log_group(logGroupName=ROLLUPS)
    logs.create_log_stream(logGroupName=ROLLUPS, logStreamName="close")
    events = recent(hour.rollups, int(now_s * 1000))
    for first in range(0, len(events), 50):
        batch = [{"timestamp": at, "message": text} for at, text in events[first : first + 50]]
        logs.put_log_events(logGroupName=ROLLUPS, logStreamName="close", logEvents=batch)
    pump = EmfPump(logs, cloudwatch, [ROLLUPS], int((now_s - 7200) * 1000))
    pump.turn()
    lines = LogLines(3 * 3600)
    lines.add(ROLLUPS, events)
    view = DashboardView(
        template_of(repository), CloudWatchHistory(cloudwatch), lines, PLACE, now_s=lambda: now_s,
        fresh_s=1e9,
    )  # fmt: skip
    with PageServer(("127.0.0.1", 0), view) as server:
        page = open_page(server.url)
        shown, drawn = tables(page), traces(page)
    start_s, end_s = int(now_s) // 60 * 60 - 3 * 3600, int(now_s) + 60
    for title, metrics in SHOWN.items():
        for column, metric in enumerate(metrics):
            expected = asked(cloudwatch, metric, start_s, end_s)
            assert 60 == len(expected)
            clock = {
                f"{datetime.fromtimestamp(at_s, timezone.utc):%H:%M}": value
                for at_s, value in expected.items()
            }
            assert clock == {
                minute: float(values[column]) for minute, values in shown[title]["rows"]
            }
            x, y = drawn[title][column]
            assert expected == {at // 1000: value for at, value in zip(x, y, strict=True)}
