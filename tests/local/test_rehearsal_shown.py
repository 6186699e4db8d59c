"""What the README shows of `make demo` is what the rehearsal prints of its hour."""

from __future__ import annotations

from local.alarms.template import Template, load_template
from local.pump.extraction import extract
from local.rehearsal.alarm_board import AlarmBoard
from local.rehearsal.figures import RollupLines, render
from local.rehearsal.rehearsal import CLUSTERS, TEMPLATE
from tests.hour import END_S
from tests.recorded_history import RecordedHistory

LOOKED_AT_S = END_S + 116


def history_of(texts):
    """The metrics that CloudWatch extracts from the lines *texts*."""
    history = RecordedHistory()
    for text in texts:
        for one in extract(text, LOOKED_AT_S * 1000).data:
            values = [value for value, count in one.counts.items() for _ in range(count)]
            at_s = one.timestamp_ms / 1000
            history.put(one.namespace, one.name, dict(one.dimensions), at_s, values)
    return history


def test_the_readme_shows_the_table_of_the_hour(hour, marked, repository):
    """
    Two clusters, the alarms in alarm, and cores without a price.
    """
    history, rollups = history_of(hour.rollups), RollupLines()
    rollups.add(hour.rollups)
    board = AlarmBoard(Template(load_template(TEMPLATE)), history, lambda: LOOKED_AT_S)
    shown = render(board.rows(CLUSTERS, rollups), LOOKED_AT_S)
    assert 3 == shown.count(" is in alarm: ")
    text = "".join(f"{line.rstrip()}\n" for line in shown.splitlines())
    marked(repository / "README.md", "demo", f"```\n{text}```\n")
