"""docs/explanation/exactness.md calls nothing exact that no test shows."""

from __future__ import annotations

import ast
import re

import pytest

TEST = re.compile(r"`(test_\w+\.py)::(test_\w+)`")


@pytest.fixture(scope="module")
def page(repository):
    """The page."""
    return (repository / "docs" / "explanation" / "exactness.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def written(repository):
    """The tests that there are, with their files."""
    return {
        (path.name, node.name)
        for path in (repository / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }


def missing(text, written):
    """The tests that *text* names and that nobody wrote."""
    return set(TEST.findall(text)) - written


def test_every_test_that_is_named_exists(page, written):
    """In the file that the page says."""
    assert set() == missing(page, written)
    assert len(TEST.findall(page)) > 20


def test_a_test_that_does_not_exist_is_found(page, written):
    """The check above sees what it is for."""
    named = TEST.search(page)
    assert missing(page.replace(named[2], "test_that_nobody_wrote"), written)


def test_whatever_is_exact_names_a_test(page):
    """Each row of the first table has one in its last cell."""
    table = page.partition("## Exact")[2].partition("## Not exact")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 8
    assert [] == [row for row in rows if not TEST.search(row.rsplit(" | ", 1)[1])]
