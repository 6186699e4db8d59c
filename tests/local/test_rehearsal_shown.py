"""What the README shows of `make demo` is what the rehearsal prints of its hour."""

from __future__ import annotations

from local.rehearsal.acts import CLUSTERS, TEMPLATE
from local.rehearsal.overview import Overview
from local.rehearsal.table import render
from tests.hour import END_S
from tests.local.page.recording import history_of

LOOKED_AT_S = END_S + 116


def test_the_readme_shows_the_table_of_the_hour(hour, marked, repository):
    """
    Two clusters, the alarms in alarm, and cores without a price, by the metrics of its lines.
    """
    overview = Overview(TEMPLATE, {}, {}, history_of([*hour.lines, *hour.rollups]))
    shown = render(overview.rows(CLUSTERS, LOOKED_AT_S), LOOKED_AT_S)
    assert 2 == shown.count(" is in alarm: ")
    text = "".join(f"{line.rstrip()}\n" for line in shown.splitlines())
    marked(repository / "README.md", "demo", f"```\n{text}```\n")
