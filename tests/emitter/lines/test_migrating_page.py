"""The page for who comes from AWS's scripts: what it tells them to type and to look for exists."""

from __future__ import annotations

import dataclasses
import re
import shlex

import pytest

from emitter.lines.legacy import COMMON_DIMS
from emitter.settings import RunSettings
from neuron_wire.catalogue import MEMBERS

# Words of AWS and of the page's own examples that look like a member of a line.
OTHERS = {"PutMetricData", "EmitterPolicyArn", "NeuronTrial", "NeuronCoreUtilizationNC"}


@pytest.fixture(scope="module")
def page(repository):
    """The text of the page."""
    return (repository / "docs" / "how-to" / "migrating.md").read_text(encoding="utf-8")


def commands(text):
    """The words of every `neuron-emf run` in the code of the page."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    joined = "\n".join(blocks).replace("\\\n", " ")
    return [shlex.split(found) for found in re.findall(r"neuron-emf run (.*)", joined)]


def test_every_command_has_only_flags_that_exist(page):
    """A reader who copies one gets a running emitter, not exit 2."""
    fields = dataclasses.fields(RunSettings)
    flags = {f"--{one.name.replace('_', '-')}" for one in fields}
    flags |= {one.metadata["short"] for one in fields if one.metadata.get("short")}
    found = commands(page)
    assert 4 <= len(found)
    for words in found:
        assert set() == {word for word in words if re.match(r"--?[a-z]", word)} - flags


def test_every_member_that_is_named_exists(page):
    """A renamed metric or member must not leave a page behind that sends readers nowhere."""
    known = {one.name for one in MEMBERS} | OTHERS
    named = set(re.findall(r"`((?:[A-Z][a-z0-9]+){2,}[A-Z0-9]*)`", page))
    assert "NeuronCoreUtilizationNC0" in named
    assert set() == named - known


def test_every_old_dimension_is_named(page):
    """Each choice of --common-dims has its word."""
    assert [] == [name for name in COMMON_DIMS if f"`{name}`" not in page]


def test_links_within_the_page_lead_somewhere(page):
    """An anchor is the heading in small letters, its dots left out, its blanks as dashes."""
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings}
    assert set() == set(re.findall(r"\]\(#([^)]*)\)", page)) - anchors
