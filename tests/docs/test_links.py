"""
No page leads nowhere: links, anchors, pictures, and the files that it names.

Without the program that makes the site, which checks the links between pages again.
"""

from __future__ import annotations

import re

import pytest
import yaml

from tests.docs.linked_page import DOCS, ROOT, LinkedPage, anchor_of, pages

PAGES = [pytest.param(one, id=str(one.relative_to(ROOT))) for one in pages()]
OF_THEIR_TIME = {"decisions.md", "CHANGELOG.md"}
"""What was decided or released names the files of that day."""


class Lenient(yaml.SafeLoader):
    """Reads mkdocs.yml and leaves the Python in it alone."""


Lenient.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


@pytest.fixture(scope="module")
def site():
    """mkdocs.yml."""
    return yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Lenient)


def entries(nav):
    """The pages of a navigation, in order."""
    if isinstance(nav, str):
        return [nav]
    parts = nav if isinstance(nav, list) else nav.values()
    return [one for part in parts for one in entries(part)]


@pytest.mark.parametrize("path", PAGES)
def test_every_link_of_a_page_leads_somewhere(path):
    """To a file, and where it has an anchor to exactly one heading of it."""
    assert [] == LinkedPage.read(path).broken_links()


@pytest.mark.parametrize("path", PAGES)
def test_every_file_that_a_page_names_exists(path):
    """Names in code are no links, so nobody else looks."""
    if path.name not in OF_THEIR_TIME:
        assert [] == LinkedPage.read(path).missing_files()


def test_every_page_is_in_the_navigation_once(site):
    """And everything in the navigation is a page."""
    found = entries(site["nav"])
    assert sorted(found) == sorted(set(found))
    assert sorted(str(one.relative_to(DOCS)) for one in DOCS.rglob("*.md")) == sorted(found)


def test_the_site_is_told_to_look_for_everything(site):
    """What mkdocs only notes by default is a warning here, and strict makes it an error."""
    said = [rule for rules in site["validation"].values() for rule in rules.values()]
    assert 7 == len(said)
    assert {"warn"} == set(said)


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        ("nowhere.md", "no such file"),
        ("metrics.md#nothing", "0 headings"),
        ("#twice", "2 headings"),
        ("../../README.md", "out of docs/"),
        ("/reference/metrics.md", "neither relative nor https"),
        ("http://example.com", "neither relative nor https"),
        ("..", "no such file"),
    ],
)
def test_a_link_that_leads_nowhere_is_found(link, fault):
    """Each way in which one can."""
    text = f"# Page\n\n## Twice\n\n## Twice\n\nSee [this]({link}) and [that](metrics.md#cores).\n"
    page = LinkedPage.of(DOCS / "reference" / "page.md", text)
    (found,) = page.broken_links()
    assert fault in found


def test_what_is_only_shown_is_no_link():
    """In code, in a fenced block and in a comment nobody can click."""
    text = "`[a](b.md)`\n\n```sh\n[a](b.md)\n```\n\n<!-- [a](b.md) -->\n"
    assert [] == LinkedPage.of(DOCS / "page.md", text).links


def test_a_file_that_does_not_exist_is_found():
    """Folders, files, and tests by their names."""
    names = ["emitter/nobody.py", "deploy/nothing/", "tests/test_no.py::test_it", "local/no"]
    said = " ".join(
        f"`{one}`" for one in [*names, "emitter/run/loop.py", "tests/", "template.yaml"]
    )
    found = LinkedPage.of(ROOT / "page.md", said).missing_files()
    assert [one.partition("::")[0] for one in names] == found


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("EMF parsing errors", "emf-parsing-errors"),
        ("Alarms: what each means, and what to do", "alarms-what-each-means-and-what-to-do"),
        ("The fleet in a terminal: `neuron-emf top`", "the-fleet-in-a-terminal-neuron-emf-top"),
        ("One - two", "one---two"),
        ("2026-11-21 A sixth kind of line, `core`", "2026-11-21-a-sixth-kind-of-line-core"),
        ("[looking](looking.md) again", "looking-again"),
        ("log_group", "log_group"),
        ("The promise of 3 %", "the-promise-of-3-"),
    ],
)
def test_an_anchor_is_the_one_that_readers_get(heading, anchor):
    """As the repository's host makes it; mkdocs.yml makes the site do the same."""
    assert anchor == anchor_of(heading)


def test_the_parts_of_a_page_are_found():
    """Headings in a block are no headings, and a picture is a link."""
    text = '# One\n\n```\n# two\n```\n\n![p](a.svg) <img src="b.png">\n'
    page = LinkedPage.of(DOCS / "page.md", text)
    assert (["one"], ["a.svg", "b.png"]) == (page.anchors, page.links)
    assert re.fullmatch(r"\s*# One\s+!.*\s*", page.text)
