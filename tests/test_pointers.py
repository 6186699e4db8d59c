"""What the program tells people to look at is there for those who installed it with pip."""

from __future__ import annotations

import ast
import re

from local import REPOSITORY

SHIPPED_MODULES = [
    path
    for folder in ("emitter", "neuron_emf")
    for path in sorted((REPOSITORY / folder).rglob("*.py"))
]
OF_A_CLONE = re.compile(r"\b(?:docs|deploy|local|tests)/|\.md\b|\bmake [a-z]+(?=`)")

IN_A_CLONE = "in a clone of the repository"
OF_HELP = "the rehearsal that `make demo` runs"


def said(path):
    """Each text of a module that is no docstring, joined as it is shown."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inner.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            texts = [value for value in node.values if isinstance(value, ast.Constant)]
            inner.update(map(id, texts))
            yield "".join(str(text.value) for text in texts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            yield node.value


def test_no_message_leads_to_a_file_of_a_clone():
    """The pages and the Makefile are in the repository alone: who is sent there is told so."""
    found = [text for path in SHIPPED_MODULES for text in said(path) if OF_A_CLONE.search(text)]
    assert [] == [text for text in found if OF_HELP not in text and IN_A_CLONE not in text]
