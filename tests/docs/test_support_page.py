"""The page about support says what the tests hold, and no more."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from local.alarms.template import load_template
from local.monitor.hosts import FAMILIES
from tests.deploy.eks.test_chart_rendered import RELEASES
from tests.docs.shown_blocks import tomllib
from tests.runtime.conftest import VERSIONS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/reference/support.md").read_text("utf-8")


def row(name, part):
    """Which, as the row *name* of that part of the page says it."""
    section = TEXT.partition(f"## {part}\n")[2].partition("\n## ")[0]
    (which,) = re.findall(rf"^\| {name} \| (.*?) \|", section, re.MULTILINE)
    return which


def test_what_holds_a_row_is_there():
    """Every test, folder and workflow that the page names exists."""
    named = re.findall(r"`((?:tests|\.github)/[^`]+)`", TEXT)
    assert len(named) > 10
    assert [] == [name for name in named if not (ROOT / name).exists()]


def test_the_versions_of_python_are_those_of_the_checks():
    """Workflow, package and page: the same ones; what Lambda runs apart from that."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text("utf-8"))
    checked = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = [
        one.rpartition(" ")[2] for one in project["classifiers"] if re.search(r":: 3\.\d+$", one)
    ]
    assert declared == checked
    emitter = row("Python of the emitter and the commands", "Held by tests")
    assert f"{checked[0]} to {checked[-1]}" == emitter
    functions = row("Python of the functions", "Held by tests")
    assert " and ".join(VERSIONS) == functions
    offered = load_template(ROOT / "template.yaml")["Parameters"]["Runtime"]["AllowedValues"]
    untested = [one.removeprefix("python") for one in offered if one[6:] not in VERSIONS]
    assert " and ".join(untested) == row("Python of the functions", "Only from documents")


def test_kubernetes_and_instances_are_those_that_are_tried():
    """The releases whose schemas are asked, the families that the simulator plays."""
    assert f"{RELEASES[0]} to {RELEASES[-1]}" == row("Kubernetes", "Held by tests")
    assert ", ".join(sorted(FAMILIES)) == row("instance families", "Held by tests")
