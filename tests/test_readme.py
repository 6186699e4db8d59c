"""
The README cannot lie about settings, metrics and commands.

Its tables stand between markers and are what the code says; `--update-golden`
writes them again, and the difference is read in review.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from emitter.cli import cli
from emitter.settings import RunSettings
from neuron_wire.catalogue import MINUTE, ROLLUP, STACK

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


def settings_table():
    rows = ["| setting | default | what it is for |", "|---|---|---|"]
    for one in dataclasses.fields(RunSettings):
        default = "" if one.default in (None, "", False) else f"`{one.default}`"
        rows.append(f"| `--{one.name.replace('_', '-')}` | {default} | {one.metadata['help']} |")
    return "\n".join(rows)


def metrics_table(metrics):
    rows = ["| metric | unit | read with | meaning |", "|---|---|---|---|"]
    rows += [
        f"| `{one.name}` | {one.unit} | {one.family}, {one.statistic} | {one.meaning} |"
        for one in metrics.values()
    ]
    return "\n".join(rows)


TABLES = {
    "settings": settings_table,
    "rollup-metrics": lambda: metrics_table(ROLLUP),
    "minute-metrics": lambda: metrics_table(MINUTE),
    "stack-metrics": lambda: metrics_table(STACK),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_says_what_the_code_says(name, request):
    """
    Every setting with its default, every metric with its unit, family and statistic.
    """
    expected = f"<!-- {name} -->\n{TABLES[name]()}\n<!-- /{name} -->"
    text = README.read_text(encoding="utf-8")
    found = re.search(rf"<!-- {name} -->.*?<!-- /{name} -->", text, re.DOTALL)
    assert found is not None
    if request.config.getoption("--update-golden"):
        README.write_text(text.replace(found[0], expected), encoding="utf-8")
        return
    assert expected == found[0]


def test_every_command_is_in_the_readme():
    """
    A command that nobody can find does not exist.
    """
    text = README.read_text(encoding="utf-8")
    assert [] == [name for name in cli.commands if f"neuron-emf {name}" not in text]


def test_every_local_link_leads_somewhere():
    """
    Pictures and pages that the README points to are in the repository.
    """
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert local
    assert [] == [link for link in local if not (ROOT / link).exists()]
