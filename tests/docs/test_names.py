"""
Names in prose exist: links, anchors, files, modules, outputs, parameters.

Prose is the pages that people read, and the docstrings of the code.
"""

from __future__ import annotations

import re

import pytest
import yaml

from local import REPOSITORY
from local.alarms.template import load
from tests.docs.linked_pages import DOCS_FOLDER, LinkedPage, pages
from tests.docs.names_in_text import PACKAGES, docstrings, unknown, unknown_in_map
from tests.docs.shown_blocks import STEP_PAGES as STEPS

EACH_PAGE = pytest.mark.parametrize(
    "path", pages(), ids=lambda path: str(path.relative_to(REPOSITORY))
)
OF_THEIR_TIME = {"decisions.md", "CHANGELOG.md"}
"""Pages whose names are those of the day of a decision or release."""

OUTPUT_KEY = re.compile(r"OutputKey=='(\w+)'")
SHOWN_OVERRIDES = re.compile(r"sam deploy[^\n`]*--parameter-overrides((?: \w+=[\w'\"-]*)+)")
SAVED_QUERY = re.compile(r"[Ss]aved quer(?:y|ies) ((?:`[a-z-]+`(?:, | and )?)+)")


@EACH_PAGE
def test_a_page_leads_nowhere_that_is_not(path):
    """Each link leads to a file and exactly one heading; files and modules in code exist."""
    page = LinkedPage.read(path)
    assert [] == page.broken_links()
    if path.name not in OF_THEIR_TIME:
        assert [] == unknown(page.text, path.parent)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_docstring_names_what_there_is(package):
    """
    Names in docstrings of every module exist, and the map of a package has only its own names.
    """
    faults = {}
    for path in sorted(PACKAGES[package].rglob("*.py")):
        text = docstrings(path)
        unknown_names = unknown(text, path.parent)
        if path.name == "__init__.py":
            unknown_names += unknown_in_map(text, path.parent)
        if unknown_names:
            faults[str(path.relative_to(REPOSITORY))] = unknown_names
    assert {} == faults


def test_every_page_is_in_the_navigation_once():
    """
    Every page except decisions is in the site's navigation once; a note of mkdocs is an error.
    """
    text = re.sub(r"!!python/\S+", "", (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8"))
    site = yaml.safe_load(text)
    listed = entries(site["nav"])
    pages_of_site = {str(path.relative_to(DOCS_FOLDER)) for path in DOCS_FOLDER.rglob("*.md")}
    assert sorted(pages_of_site - {*site["exclude_docs"].split()}) == sorted(listed)
    assert {"warn"} == {rule for rules in site["validation"].values() for rule in rules.values()}


def entries(nav):
    """Yield the pages of a navigation, in order."""
    if isinstance(nav, str):
        return [nav]
    parts = nav if isinstance(nav, list) else nav.values()
    return [entry for part in parts for entry in entries(part)]


@pytest.fixture(scope="module")
def outputs(template):
    """Return the outputs of every template that a reader can deploy."""
    names = set(template["Outputs"])
    for file in sorted((REPOSITORY / "deploy").rglob("*.yaml")):
        if "\nOutputs:" in (text := file.read_text("utf-8")):
            names |= set(load(text)["Outputs"])
    return names


@pytest.mark.parametrize("path", [REPOSITORY / "README.md", *STEPS], ids=lambda path: path.stem)
def test_what_a_reader_is_told_to_type_or_to_look_for_exists(path, template, outputs):
    """
    Outputs, saved queries and parameters in pages exist, and parameters accept the shown values.
    """
    text = path.read_text("utf-8")
    assert [] == [name for name in OUTPUT_KEY.findall(text) if name not in outputs]
    for name, value in re.findall(r"(\w+)=([\w'\"-]*)", " ".join(SHOWN_OVERRIDES.findall(text))):
        assert name in template["Parameters"], name
        assert value in template["Parameters"][name].get("AllowedValues", [value])
    deployed = {
        resource["Properties"]["Name"]["Fn::Sub"].rpartition("/")[2]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Logs::QueryDefinition"
    }
    for names in SAVED_QUERY.findall(text):
        assert set(re.findall(r"[a-z-]+", names)) - {"and"} <= deployed, names
