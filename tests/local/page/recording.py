"""
The page of a recorded hour: the hour's own lines, and the metrics that CloudWatch takes from them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from local.alarms import RecordedHistory, Template
from local.page import AccountEndpoint, DashboardView, LogLines
from local.pump import extract
from tests.hour import END_S

if TYPE_CHECKING:
    from pathlib import Path

NOW_S = END_S + 150.0
"""When the newest minute of the hour has been closed."""

RECORDS, ROLLUPS = "/neuron-emf/records", "/neuron-emf/neuron-emf/rollups"
PLACE = AccountEndpoint("http://127.0.0.1:4566", "us-east-1", RECORDS, ROLLUPS, "neuron-emf")


def history_of(texts):
    """The metrics that CloudWatch extracts from the lines *texts*."""
    history = RecordedHistory()
    for text in texts:
        for one in extract(text, int(NOW_S * 1000)).data:
            values = [value for value, count in one.counts.items() for _ in range(count)]
            at_s = one.timestamp_ms / 1000
            history.put(one.namespace, one.name, dict(one.dimensions), at_s, values)
    return history


def lines_of(hour):
    """Both log groups of *hour*, a rollup two minutes after its minute began."""
    lines = LogLines(4 * 3600)
    lines.add(RECORDS, ((_timestamp_ms(text), text) for text in hour.lines))
    lines.add(ROLLUPS, ((_timestamp_ms(text) + 120_000, text) for text in hour.rollups))
    return lines


def template_of(repository: Path, **parameters: str) -> Template:
    """The repository's template as deployed, with the names that *PLACE* has."""
    ids = {"RollupsLogGroup": ROLLUPS, "RecordsLogGroup": RECORDS, "CloseFunction": "close"}
    return Template.read(repository / "template.yaml", parameters, ids)


def view_of(hour, repository, history=None, lines=None, **options):
    """The page of *hour*, at a time when it is just over."""
    options = {"now_s": lambda: NOW_S, "fresh_s": 0.0, **options}
    return DashboardView(
        template_of(repository), history or history_of([*hour.lines, *hour.rollups]),
        lines or lines_of(hour), PLACE, ["Nothing here is on AWS."], **options,
    )  # fmt: skip


def _timestamp_ms(text):
    line = json.loads(text)
    return line["Timestamp"] if "Timestamp" in line else line["_aws"]["Timestamp"]
