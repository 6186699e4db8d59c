"""
The names of code that prose uses, and whether the code has them.

A name is what stands between backticks and looks like a path of the repository, a dotted name
below one of its packages, an attribute of one of its classes, or a test in its file.
Of the map in a package's docstring (`* name  what it is`) each name is one that the package has.
"""

from __future__ import annotations

import ast
import builtins
import functools
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    *("benchmarks", "deploy", "docs", "emitter", "lambda", "local", "neuron_emf"),
    *("proof", "requirements", "tests"),
)
BESIDE = (
    *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md"),
    *("mkdocs.yml", "pyproject.toml", "samconfig.toml", "template.yaml", "views.yaml"),
)
PACKAGES = {
    **{name: ROOT / name for name in ("benchmarks", "emitter", "local", "neuron_emf", "proof")},
    **{name: ROOT / "lambda" / name for name in ("aggregator", "neuron_wire")},
    "tests": ROOT / "tests",
}
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(rf"(?:{'|'.join(FOLDERS)})/[\w./-]*|{'|'.join(map(re.escape, BESIDE))}")
DOTTED = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.[A-Za-z_]\w*)+")
ATTRIBUTE = re.compile(r"([A-Z][a-z]\w*)\.([a-z_]\w*)")
TEST = re.compile(r"(test_\w+\.py)::(test_\w+)")
MAP = re.compile(r"^ *\* ((?:`[\w.]+`(?:, )?)+)", re.MULTILINE)
INHERITED = {"with_traceback", *dir(builtins.object), *dir(builtins.Exception), "value", "name"}


def unknown(text: str, folder: Path) -> list[str]:
    """The names in *text*, which stands in *folder*, that lead nowhere."""
    return [code for code in CODE.findall(text) if not is_known(code, folder)]


def is_known(code: str, folder: Path) -> bool:
    """Whether *code* is no name of ours, or one that is there."""
    if test := TEST.fullmatch(code):
        return test.groups() in _tests()
    word = code.partition("::")[0].removesuffix("()")
    if PATH.fullmatch(word):
        return (ROOT / word).exists() or (folder / word).exists()
    if DOTTED.fullmatch(word) and not word.endswith((".json", ".md", ".toml", ".yaml")):
        return _is_there(*word.split("."))
    attribute = ATTRIBUTE.fullmatch(word)
    if attribute and attribute[1] in _classes():
        return attribute[2] in _classes()[attribute[1]] | INHERITED
    return True


def unknown_in_map(text: str, package: Path) -> list[str]:
    """The names that the map of *package* lists in its docstring *text*, and that it has not."""
    names = [name for row in MAP.findall(text) for name in re.findall(r"`([\w.]+)`", row)]
    exported = _names_of(package / "__init__.py")
    return [
        name
        for name in names
        if not any((package / f"{name}{end}").exists() for end in ("", ".py"))
        and name.partition(".")[0] not in exported
    ]


def docstrings(path: Path) -> str:
    """Every docstring of a module, and the texts that explain its constants."""
    return _read(path).texts


def _is_there(package: str, *rest: str) -> bool:
    place = PACKAGES[package]
    for depth, name in enumerate(rest):
        if (place / name).is_dir():
            place = place / name
        elif (place / f"{name}.py").exists():
            return _has(place / f"{name}.py", *rest[depth + 1 :])
        else:
            return (place / "__init__.py").exists() and _has(place / "__init__.py", *rest[depth:])
    return True


def _has(module: Path, *rest: str) -> bool:
    if not rest:
        return True
    attributes = _classes().get(rest[0], {*rest[1:]})
    return rest[0] in _names_of(module) and {*rest[1:]} <= attributes


class _Module(NamedTuple):
    """Of one module: its prose, its names, its classes with their bases and attributes."""

    texts: str
    names: set[str]
    classes: list[tuple[str, set[str], set[str]]]


@functools.cache
def _read(path: Path) -> _Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name for alias in node.names}
        else:
            names |= {
                part.id
                for part in ast.walk(node)
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            }
    texts, classes = [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
            classes.append((node.name, bases, _attributes(node)))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            texts.append(str(node.value.value))
    return _Module("\n".join(texts), names, classes)


def _names_of(module: Path) -> set[str]:
    """What a module defines or imports."""
    return _read(module).names if module.exists() else set()


@functools.cache
def _tests() -> set[tuple[str, str]]:
    """Every test with its file; no two files have one name."""
    paths = PACKAGES["tests"].rglob("test_*.py")
    return {(path.name, name) for path in paths for name in _read(path).names}


@functools.cache
def _classes() -> dict[str, set[str]]:
    """The attributes of each class of ours; of classes with one name, those of any."""
    found: dict[str, set[str]] = {}
    bases: dict[str, set[str]] = {}
    for folder in PACKAGES.values():
        for path in folder.rglob("*.py"):
            for name, above, attributes in _read(path).classes:
                found.setdefault(name, set()).update(attributes)
                bases.setdefault(name, set()).update(above)
    for _ in range(3):  # no class is deeper below another
        for name, above in bases.items():
            for base in above & found.keys():
                found[name] |= found[base]
    return found


def _attributes(node: ast.ClassDef) -> set[str]:
    found = {
        part.attr
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute)
        and isinstance(part.value, ast.Name)
        and part.value.id == "self"
    }
    for part in node.body:
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(part.name)
        elif isinstance(part, (ast.AnnAssign, ast.Assign)):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found
