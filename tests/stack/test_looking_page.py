"""
The page about looking says what the template deploys.

Its tables stand between markers; `--update-golden` writes them again, and the
difference is read in review.
"""

from __future__ import annotations

import re

import pytest

from tests.stack.dashboard_series import series
from tests.stack.query_names import kinds


def table(heads, rows):
    """A Markdown table."""
    lines = [f"| {' | '.join(line)} |" for line in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:], ""])


@pytest.fixture
def tables(queries, body):
    """What stands between the markers, by their name."""
    rows = []
    for properties in queries.values():
        name = properties["Name"].partition("/")[2]
        shows = re.match(r"# (.+)\n", properties["QueryString"])[1]
        rows.append([f"`{name}`", shows])
    return {
        "dashboard": table(["graph", "what it draws"], graphs(body)),
        "saved-queries": table(["query", "what it shows"], rows),
    }


def graphs(body):
    """One row for each section and each graph."""
    rows = []
    for widget in body["widgets"]:
        properties = widget["properties"]
        if widget["type"] == "text":
            rows.append([f"**{section(properties['markdown'])}**", ""])
        else:
            rows.append([properties["title"], drawn(widget["type"], properties)])
    return rows


def section(markdown):
    """The heading of a text widget."""
    heading = re.match(r"#+ ([^\n]+)", markdown)[1]
    return {"neuron-emf: neuron-emf": "All clusters"}.get(heading, heading).replace(
        "cluster-chosen-above", "of your choice"
    )


def drawn(kind, properties):
    """The metrics of a graph with their statistics, or the kind of line that a table is made of."""
    if kind == "log":
        return f"{' and '.join(sorted(kinds(properties['query'])))} lines"
    if kind == "alarm":
        return "the state of every alarm of the stack"
    shown = [f"`{one.metric}` {one.stat}" for one in series(properties["metrics"], properties)]
    return ", ".join(dict.fromkeys(shown))


@pytest.mark.parametrize("name", ["dashboard", "saved-queries"])
def test_the_page_shows_what_is_deployed(repository, marked, tables, name):
    """Every graph with its metrics, every query with its purpose."""
    marked(repository / "docs" / "reference" / "looking.md", name, tables[name])


def test_the_page_names_its_example_as_the_template_does(repository, queries):
    """The command can be typed as it stands."""
    page = (repository / "docs" / "reference" / "looking.md").read_text(encoding="utf-8")
    called = re.search(r"\$`([^`]+)`\((\w+) = (\"[^\"]+\")\)", page)
    (asked,) = [one for one in queries.values() if one["Name"] == called[1]]
    assert [(called[2], called[3])] == [
        (one["Name"], one["DefaultValue"]) for one in asked["Parameters"]
    ]
