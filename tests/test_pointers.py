"""Messages refer only to files and commands that a pip installation has."""

from __future__ import annotations

import ast
import re

from local import REPOSITORY

SHIPPED_MODULES = [
    path
    for folder in ("emitter", "neuron_emf")
    for path in sorted((REPOSITORY / folder).rglob("*.py"))
]
CLONE_PATH = re.compile(r"\b(?:docs|deploy|local|tests)/|\.md\b|\bmake [a-z]+(?=`)")

CLONE_WORDS = "in a clone of the repository"
REHEARSAL_WORDS = "the rehearsal that `make demo` runs"


def shown_texts(path):
    """Yield each text of a module as it is shown, without docstrings."""
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


def test_a_message_about_a_file_of_a_clone_names_the_clone():
    """A message that names a file or command of the repository says that it needs a clone."""
    pointers = [
        text for path in SHIPPED_MODULES for text in shown_texts(path) if CLONE_PATH.search(text)
    ]
    assert [] == [
        text for text in pointers if REHEARSAL_WORDS not in text and CLONE_WORDS not in text
    ]
