"""Every test says what it claims."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).resolve().parent


def unclaimed(source):
    """Names of the test functions in *source* that have no docstring."""
    return [
        node.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]


def test_every_test_states_its_claim():
    """A failing test's docstring tells the reader which promise is broken."""
    found = {
        str(path.relative_to(TESTS)): unclaimed(path.read_text(encoding="utf-8"))
        for path in TESTS.rglob("test_*.py")
    }
    assert {} == {path: names for path, names in found.items() if names}


def test_a_test_without_a_claim_is_found():
    """The check above sees what it is for."""
    assert unclaimed("def test_it():\n    assert True") == ["test_it"]
