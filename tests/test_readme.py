"""
The README and the page of metrics cannot lie about bills, metrics and commands.

Their tables stand between markers and are what the code says; `--update-golden`
writes them again, and the difference is read in review.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import click
import pytest

from benchmarks.scale import tables
from neuron_emf.cli import cli
from neuron_emf.cost.measured import read
from neuron_wire.catalogue import EMITTED, MEMBERS, SUBJECTS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
METRICS = ROOT / "docs" / "reference" / "metrics.md"
COMMANDS = METRICS.with_name("commands.md")

TIERS = {
    "cluster": "`cluster`",
    "instance": "`instance`",
    "core": "`core`",
    "legacy": "`legacy`",
    "always": "yes",
    "": "",
}


OFTEN_SAME = ("read as", "metric", "lines", "over the minute", "comes from")
RARE = " \u2020"
SHOWN = ("demo", "run")
"""What programs print: test_rehearsal_shown.py and test_shown_commands.py see to it."""


def table(heads, rows):
    lines = [f"| {' | '.join(line)} |" for line in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])


def read_as(member):
    return ", ".join(filter(None, (member.unit, member.statistic))) or "label"


def lines_of(member):
    kinds = list(member.kinds)
    if set(EMITTED) <= set(kinds):
        kinds = ["all", *(kind for kind in kinds if kind not in EMITTED)]
    return ", ".join(kinds)


def members_table(members):
    rows = [
        {
            "name": f"`{one.name}`" + RARE * one.is_rare,
            "meaning": one.meaning,
            "read as": read_as(one),
            "metric": TIERS[one.tier],
            "lines": lines_of(one),
            "over the minute": one.folds,
            "comes from": one.source.replace("*", "\\*"),
        }
        for one in members
    ]
    # A column that says the same in each row says nothing, unless there is but one.
    heads = [head for head in rows[0] if len({row[head] for row in rows}) > 1 or len(rows) == 1]
    usual = {head: usual_of([row[head] for row in rows]) for head in heads if head in OFTEN_SAME}
    usual = {head: value for head, value in usual.items() if value}
    cells = [["" if row[head] == usual.get(head) else row[head] for head in heads] for row in rows]
    text = table(heads, cells)
    if not usual:
        return text
    told = "; ".join(f"{head}: {value}" for head, value in usual.items())
    return f"Where a cell is empty, {told}.\n\n{text}"


def usual_of(values):
    """What at least half of the rows say, when no row has nothing to say."""
    value, count = Counter(values).most_common(1)[0]
    return value if 2 * count >= len(values) > 4 and "" not in values else None


def slug(subject):
    return re.sub(r"[^a-z]+", "-", subject.lower()).strip("-")


TABLES = {
    (README, "bills"): lambda: tables.bills(read()),
    **{
        (METRICS, slug(subject)): lambda members=members: members_table(members)
        for subject, members in SUBJECTS.items()
    },
}


@pytest.mark.parametrize(
    ("page", "name"), TABLES, ids=[f"{page.stem}-{name}" for page, name in TABLES]
)
def test_a_table_says_what_the_code_says(page, name, request):
    """Every member with its unit, family and statistic; what a month costs."""
    expected = f"<!-- {name} -->\n{TABLES[page, name]()}\n<!-- /{name} -->"
    text = page.read_text(encoding="utf-8")
    found = re.search(rf"<!-- {name} -->.*?<!-- /{name} -->", text, re.DOTALL)
    assert found is not None
    if request.config.getoption("--update-golden"):
        page.write_text(text.replace(found[0], expected), encoding="utf-8")
        return
    assert expected == found[0]


def test_every_table_of_the_pages_is_made_here():
    """No table between markers is written by hand, and none is forgotten."""
    for page in (README, METRICS):
        found = re.findall(r"<!-- /([a-z-]+) -->", page.read_text(encoding="utf-8"))
        found = [name for name in found if name not in SHOWN]
        assert sorted(name for one, name in TABLES if one == page) == sorted(found)


def test_every_member_is_on_the_page_of_metrics():
    """Whoever meets a name in a line finds it there."""
    text = METRICS.read_text(encoding="utf-8")
    assert [] == [one.name for one in MEMBERS if f"| `{one.name}`" not in text]


def test_every_command_is_on_the_page_of_commands():
    """A command that nobody can find does not exist."""
    text = COMMANDS.read_text(encoding="utf-8")
    assert [] == [
        name for name in cli.list_commands(click.Context(cli)) if f"neuron-emf {name}" not in text
    ]


@pytest.mark.parametrize("page", [README, METRICS], ids=["README", "metrics"])
def test_every_local_link_leads_somewhere(page):
    """Pictures and pages that a page points to are in the repository."""
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert local
    assert [] == [link for link in local if not (page.parent / link).exists()]
