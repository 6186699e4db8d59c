"""
Names in prose exist: links, anchors, files, modules, outputs, parameters.

Prose is the pages that people read, and the docstrings of the code.
"""

from __future__ import annotations

import ast
import functools
import re
from typing import TYPE_CHECKING

import pytest
import yaml

from local import REPOSITORY
from local.alarms.template import load
from tests.docs.linked_pages import DOCS_FOLDER, LinkedPage, pages
from tests.docs.shown_blocks import STEP_PAGES as STEPS

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
def test_names_that_a_reader_types_or_looks_for_exist(path, template, outputs):
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
