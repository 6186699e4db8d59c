"""What the template's alarms say, and the runbook that they link to."""

from __future__ import annotations

import re

import pytest

import emitter
from local.alarms.template import Template
from tests.aggregator.explain.alarm_events import ENVIRONMENT
from tests.docs.shown_blocks import tomllib
from tests.stack.query_names import unknown_names
from tests.stack.stated_alarms import ALARM, description_of
from tests.stack.template_resources import of_type


@pytest.fixture(scope="module")
def runbook(repository):
    """docs/operations.md."""
    return (repository / "docs" / "operations.md").read_text(encoding="utf-8")


def anchor_of(heading):
    """The anchor that a Markdown heading gets."""
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def test_the_link_is_of_the_release_that_is_deployed(template, repository, deployed):
    """
    Its public page where nobody gave another, and not the page of the first release for ever: an
    upgrade keeps the value of each parameter, so no default names a version.
    """
    with (repository / "pyproject.toml").open("rb") as file:
        home = tomllib.load(file)["project"]["urls"]["Repository"]
    page = f"{home}/blob/v{emitter.__version__}/docs/operations.md"
    assert page.startswith("https://")
    for given, expected in (("", page), ("docs/operations.md", "docs/operations.md")):
        resources = deployed(Runbook=given)
        variables = resources["ExplainFunction"]["Properties"]["Environment"]["Variables"]
        assert expected == variables["RUNBOOK"]
        for alarm in of_type(resources, ALARM).values():
            assert f" Runbook: {expected}#" in alarm["AlarmDescription"]
    assert page == ENVIRONMENT.runbook
    defaults = {name: str(one["Default"]) for name, one in template["Parameters"].items()}
    assert {} == {name: text for name, text in defaults.items() if re.search(r"\d\.\d", text)}


def test_every_alarm_has_its_page_and_every_page_its_alarm(template, runbook):
    """The link in its description is a heading of the runbook, and no heading is left over."""
    headings = [anchor_of(found) for found in re.findall(r"^### (.+)$", runbook, re.MULTILINE)]
    assert len(headings) == len(set(headings))
    linked = set()
    for name, alarm in of_type(template["Resources"], ALARM).items():
        link = re.search(r"Runbook: \$\{Runbook\}#([a-z-]+)$", description_of(alarm))
        assert link, name
        linked.add(link[1])
    assert set(headings) == linked


def test_every_page_says_what_it_means_what_to_look_at_what_to_do_and_when_it_is_noise(runbook):
    """In this order, each once."""
    _, *pages = re.split(r"^### ", runbook, flags=re.MULTILINE)
    for page in pages:
        own = page.partition("\n## ")[0]
        parts = re.findall(r"^\*(.+?):\* ", own, re.MULTILINE)
        assert ["What it means", "Look at", "Do", "Noise"] == parts, page.splitlines()[0]


def test_the_pages_name_every_alarm(template, runbook):
    """Whoever searches the runbook for the name in the message finds it."""
    for name in of_type(template["Resources"], ALARM):
        assert f"`{name}`" in runbook, name


def test_a_description_fits_whatever_the_parameters_say(template):
    """CloudWatch takes 1,024 characters."""
    longest = {
        name: "x" * parameter["MaxLength"]
        for name, parameter in template["Parameters"].items()
        if name in {"ClusterName", "LogGroupName", "Runbook"}
    }
    resolved = Template(template, {**longest, "AWS::StackName": "s" * 128})
    for name, alarm in of_type(template["Resources"], ALARM).items():
        assert len(resolved.resolve(alarm["AlarmDescription"])) <= 1024, name


def test_the_queries_of_the_runbook_name_what_lines_have(runbook):
    """One for each alarm on a cluster: a name that no line has is answered with nothing."""
    queries = re.findall(r"^```sql\n(.*?)^```$", runbook, re.MULTILINE | re.DOTALL)
    assert 6 == len(queries)
    assert [] == [unknown_names(one) for one in queries if unknown_names(one)]
