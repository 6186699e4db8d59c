"""
Check that names of code in prose exist.

A name is text between backticks that looks like a path of the repository, a dotted name below one
of its packages, or a test in its file. Names in the map of a package's docstring (`* name
description`) must be in the package.
"""

from __future__ import annotations

import ast
import functools
import re
from typing import TYPE_CHECKING

from local import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

NAMED_FOLDERS = (
    *("benchmarks", "deploy", "docs", "emitter", "lambda", "local", "neuron_emf"),
    *("proof", "requirements", "tests"),
)
FILES_OF_ROOT = (
    *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md"),
    *("mkdocs.yml", "pyproject.toml", "samconfig.toml", "template.yaml", "views.yaml"),
)
PACKAGES = {
    **{name: REPOSITORY / name for name in ("benchmarks", "local", "neuron_emf", "proof")},
    "neuron_emitter": REPOSITORY / "emitter/neuron_emitter",
    "aggregator": REPOSITORY / "lambda/aggregator",
    "neuron_accounts": REPOSITORY / "lambda/neuron_accounts",
    "neuron_wire": REPOSITORY / "lambda/neuron_wire",
    "neuron_words": REPOSITORY / "lambda/neuron_words",
    "tests": REPOSITORY / "tests",
}
CODE_SPAN = re.compile(r"`([^`\n]+)`")
PATH_IN_TEXT = re.compile(
    rf"(?:{'|'.join(NAMED_FOLDERS)})/[\w./-]*|{'|'.join(map(re.escape, FILES_OF_ROOT))}"
)
DOTTED = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.[A-Za-z_]\w*)+")
TEST_IN_TEXT = re.compile(r"(test_\w+\.py)::(test_\w+)")
MAP = re.compile(r"^ *\* ((?:`[\w.]+`(?:, )?)+)", re.MULTILINE)


def unknown(text: str, folder: Path) -> list[str]:
    """Return the names in *text*, a text of *folder*, that do not exist."""
    return [code for code in CODE_SPAN.findall(text) if not is_known(code, folder)]


def is_known(code: str, folder: Path) -> bool:
    """Return True if *code* is not a name of the project, or exists."""
    if test := TEST_IN_TEXT.fullmatch(code):
        return test.groups() in _tests()
    word = code.partition("::")[0].removesuffix("()")
    if PATH_IN_TEXT.fullmatch(word):
        return (REPOSITORY / word).exists() or (folder / word).exists()
    if DOTTED.fullmatch(word) and not word.endswith((".json", ".md", ".toml", ".yaml")):
        return _is_there(*word.split("."))
    return True


def unknown_in_map(text: str, package: Path) -> list[str]:
    """
    Return the names in the map of *package*'s docstring *text* that the package does not have.
    """
    names = [name for row in MAP.findall(text) for name in re.findall(r"`([\w.]+)`", row)]
    exported = _names_of(package / "__init__.py")
    return [
        name
        for name in names
        if not any((package / f"{name}{end}").exists() for end in ("", ".py"))
        and name.partition(".")[0] not in exported
    ]


def docstrings(path: Path) -> str:
    """Return every docstring of a module, with the docstrings of its constants."""
    return _read(path)[0]


def _is_there(package: str, *rest: str) -> bool:
    place = PACKAGES[package]
    for depth, name in enumerate(rest):
        if (place / name).is_dir():
            place = place / name
        elif (place / f"{name}.py").exists():
            return {*rest[depth + 1 : depth + 2]} <= _names_of(place / f"{name}.py")
        else:
            return name in _names_of(place / "__init__.py")
    return True


@functools.cache
def _read(path: Path) -> tuple[str, set[str]]:
    """Return the prose of a module and its names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name for alias in node.names}
        else:
            parts = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
            names |= {part.id for part in parts if isinstance(part.ctx, ast.Store)}
    expressions = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    texts = [
        str(expression.value) for expression in expressions if isinstance(expression, ast.Constant)
    ]
    return "\n".join(texts), names


def _names_of(module: Path) -> set[str]:
    """Return the names that a module defines or imports."""
    return _read(module)[1] if module.exists() else set()


@functools.cache
def _tests() -> set[tuple[str, str]]:
    """Return every test with its file; file names are unique."""
    paths = PACKAGES["tests"].rglob("test_*.py")
    return {(path.name, name) for path in paths for name in _read(path)[1]}
