"""Each promise of the page is decided by one existing test, proof or benchmark."""

from __future__ import annotations

import ast
import re

from local import REPOSITORY

MAX_PROMISES = 80
NOT_RUN = "not run on AWS"
ITEM = re.compile(rf"^- (.+) (`[^`]+`|{NOT_RUN})$", re.MULTILINE)
DECIDING_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
MAKE_TARGET = re.compile(r"`make ([a-z]+)[^`]*`")


def promises():
    """Return each promise with the test that decides it."""
    page = (REPOSITORY / "docs" / "promises.md").read_text(encoding="utf-8")
    items = ITEM.findall(page)
    assert page.count("\n- ") == len(items)
    return items


def test_there_are_at_most_80_and_each_is_listed_once():
    """The page has at most 80 promises without repetition, so that it can be read at once."""
    sentences = [sentence for sentence, _ in promises()]
    assert 0 < len(set(sentences)) == len(sentences) <= MAX_PROMISES


def test_each_promise_is_decided_by_one_test_that_exists():
    """
    Each promise has one existing test, or a proof of the Makefile, or says that it was not tried on
    AWS.
    """
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    undecided = []
    for sentence, decided in promises():
        if named := DECIDING_TEST.fullmatch(decided):
            file = REPOSITORY / named[1]
            tree = ast.parse(file.read_text(encoding="utf-8") if file.exists() else "")
            tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            exists = named[2] in tests
        elif target := MAKE_TARGET.fullmatch(decided):
            exists = f"\n{target[1]}:" in makefile
        else:
            exists = decided == NOT_RUN
        if not exists:
            undecided.append((sentence, decided))
    assert [] == undecided
