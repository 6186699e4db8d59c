"""Every test has a claim, and a law has the same examples in every run."""

from __future__ import annotations

import ast
import doctest
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
DOCUMENTED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
ENTRIES = re.compile(r"^(Attributes|Args):((?:\n    .*|\n(?=\n|    ))*)", re.MULTILINE)


def unclaimed(source):
    """Return names of test functions in *source* without a docstring."""
    return [
        node.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]


def test_every_test_states_its_claim():
    """Every test has a docstring, which states the broken promise if the test fails."""
    unclaimed_names = {
        str(path.relative_to(TESTS)): unclaimed(path.read_text(encoding="utf-8"))
        for path in TESTS.rglob("test_*.py")
    }
    assert {} == {path: names for path, names in unclaimed_names.items() if names}


def unknown_names(source):
    """Return documented attributes and arguments in *source* that do not exist."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, DOCUMENTED)]
    return [
        f"{node.name}.{name}"
        for node in nodes
        for heading, entries in ENTRIES.findall(ast.get_docstring(node) or "")
        for name in re.findall(r"^    (\w+):", entries, re.MULTILINE)
        if name not in (fields_of(node) if heading == "Attributes" else arguments_of(node))
    ]


def fields_of(definition):
    """Return the names of fields, methods and members of `self` in *definition*."""
    names = set()
    for node in ast.walk(definition):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
    return names


def arguments_of(definition):
    """Return the names of arguments in *definition*, which may be a class with a constructor."""
    return {node.arg for node in ast.walk(definition) if isinstance(node, ast.arg)}


def test_documented_attributes_and_arguments_exist(repository):
    """Each `Attributes:` entry is a member of its class, each `Args:` entry is an argument."""
    folders = ("emitter", "lambda", "local", "neuron_emf", "proof", "tests")
    unknown = {
        str(path.relative_to(repository)): unknown_names(path.read_text("utf-8"))
        for folder in folders
        for path in (repository / folder).rglob("*.py")
    }
    assert {} == {path: names for path, names in unknown.items() if names}


def modules_with_examples():
    """Return the product's modules that have an example in a docstring, by import name."""
    roots = {"emitter": "emitter", "lambda": "lambda", "local": ".", "neuron_emf": "."}
    for folder, root in roots.items():
        for path in (TESTS.parent / folder).rglob("*.py"):
            if ">>> " in path.read_text("utf-8"):
                module_path = path.relative_to(TESTS.parent / root).with_suffix("")
                yield ".".join(module_path.parts)


def test_an_example_in_a_docstring_prints_what_it_shows():
    """Every example in a docstring of the product prints the output below it."""
    results = {
        name: doctest.testmod(importlib.import_module(name)) for name in modules_with_examples()
    }
    assert sum(result.attempted for result in results.values()) > 25
    assert {} == {name: result.failed for name, result in results.items() if result.failed}


def test_old_names_are_only_in_their_table_and_the_changelog():
    """A name in the table of old names in `docs/decisions.md` is in no code and on no page."""
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
    hits_by_file = {
        file: hits
        for file in set(listed.stdout.splitlines()) - {"CHANGELOG.md", "tests/data/signs.txt"}
        if (path := TESTS.parent / file).is_file()
        if (hits := old.findall(path.read_text("utf-8", "replace").replace(table, "")))
    }
    assert len(names) > 10
    assert {} == hits_by_file


def drawn_examples():
    """Return the integers with which Hypothesis tries a law."""
    examples = []

    @given(st.integers())
    def law(number):
        examples.append(number)

    law()
    return examples


@pytest.mark.skipif("FRESH_EXAMPLES" in os.environ, reason="fresh examples are asked for")
def test_examples_do_not_follow_what_is_loaded(tmp_path, monkeypatch):
    """
    A module loaded later does not change the examples of a law.

    Otherwise the tests that a worker ran before would choose them.
    """
    before = drawn_examples()
    file = tmp_path / "loaded_later.py"
    file.write_text("".join(f"NUMBER_{n} = {10_000_019 * n}\n" for n in range(1, 200)), "utf-8")
    spec = importlib.util.spec_from_file_location("loaded_later", file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "loaded_later", module)
    spec.loader.exec_module(module)
    assert before == drawn_examples()
