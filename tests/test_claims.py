"""Every test says what it claims, and a law has the same examples on every run."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_old_names_are_only_in_their_table_and_the_changelog():
    """Each name that `docs/decisions.md` calls old is in no other text or code."""
    page = (TESTS.parent / "docs" / "decisions.md").read_text("utf-8")
    table = page.partition("| was | is |")[2].partition("\n\n")[0]
    names = [
        name for row in table.splitlines()[2:] for name in re.findall("`(.+?)`", row.split("|")[1])
    ]
    patterns = "|".join(map(re.escape, names)).replace(r"\.\.\.", r"\w*")
    old = re.compile(rf"(?<!\w)(?:{patterns})(?!\w)")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=TESTS.parent, check=True, capture_output=True, text=True
    )
    found = {
        file: hits
        for file in set(listed.stdout.splitlines()) - {"CHANGELOG.md"}
        if (path := TESTS.parent / file).is_file()
        if (hits := old.findall(path.read_text("utf-8", "replace").replace(table, "")))
    }
    assert len(names) > 10
    assert {} == found


def drawn_examples():
    """The integers that a law over integers is tried with."""
    examples = []

    @given(st.integers())
    def law(number):
        examples.append(number)

    law()
    return examples


@pytest.mark.skipif("FRESH_EXAMPLES" in os.environ, reason="fresh examples are asked for")
def test_examples_do_not_follow_what_is_loaded(tmp_path, monkeypatch):
    """Else the tests that a worker ran before would choose the examples of the next."""
    before = drawn_examples()
    file = tmp_path / "loaded_later.py"
    file.write_text("".join(f"NUMBER_{n} = {10_000_019 * n}\n" for n in range(1, 200)), "utf-8")
    spec = importlib.util.spec_from_file_location("loaded_later", file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "loaded_later", module)
    spec.loader.exec_module(module)
    assert before == drawn_examples()
