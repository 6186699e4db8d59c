"""The rooms of the code, which of them know which, and the way of one report through them."""

from __future__ import annotations

import ast
import json
import textwrap

from proof.walk import REPORT, walk
from tests.test_arrows import FOLDERS, IMPORTS, REPOSITORY

WIDTH = 100
ROWS = 4
"""Functions of a file that the walk names; the first ones are the way in."""


def shown(text):
    """One line of JSON over several lines, broken behind its commas."""
    parts = json.dumps(json.loads(text), separators=(", ", ":"))
    lines = textwrap.wrap(parts, WIDTH, break_long_words=False, break_on_hyphens=False)
    whole = "\n".join(lines)
    assert json.loads(whole) == json.loads(text)
    return f"```json\n{whole}\n```\n"


def _folder(module):
    """The folder of a module below its package, as a path in the repository."""
    package, *inner = module.split(".")
    path = FOLDERS[package]
    for name in inner:
        if not (path / name / "__init__.py").exists():
            break
        path = path / name
    return path.relative_to(REPOSITORY).as_posix()


def _sentence(folder):
    """What the folder says of itself: the first sentence of its docstring, on one line."""
    source = (REPOSITORY / folder / "__init__.py").read_text(encoding="utf-8")
    paragraph = (ast.get_docstring(ast.parse(source)) or "").partition("\n\n")[0]
    return " ".join(paragraph.split())


def _short(name, folder):
    """A folder of the same package by its own name, another package as a whole."""
    package = folder.rpartition("/")[0] or folder
    if name.startswith(f"{package}/"):
        return f"`{name.removeprefix(f'{package}/')}`"
    return f"`{'/'.join(name.split('/')[: 2 if name.startswith('lambda/') else 1])}`"


def rooms():
    """Each folder with what it is for and which other folders it imports."""
    knows: dict[str, set[str]] = {}
    for imports in IMPORTS.values():
        for asked in imports:
            mine = _folder(asked.module)
            knows.setdefault(mine, set())
            if asked.package in FOLDERS:
                knows[mine].add(_folder(asked.target))
    rows = ["| folder | what it is for | imports |", "|---|---|---|"]
    for folder, known in sorted(knows.items()):
        if folder.split("/")[0] in {"proof", "benchmarks"} and "/" in folder:
            continue
        names = ", ".join(sorted({_short(name, folder) for name in known - {folder}}))
        rows.append(f"| `{folder}` | {_sentence(folder)} | {names} |")
    return "\n".join(rows) + "\n"


def way(number):
    """The files of one part of the walk in the order in which it enters them."""
    stage = walk().stages[number]
    rows = []
    for file, functions in stage.functions.items():
        public = [name for name in functions if not name.startswith("_")] or list(functions)
        more = "" if len(public) <= ROWS else " ..."
        rows.append(f"| `{file}` | {', '.join(f'`{name}`' for name in public[:ROWS])}{more} |")
    return "\n".join(["| file | enters |", "|---|---|", *rows]) + "\n"


def report():
    """The report, as it would be written on one line."""
    return shown(json.dumps(REPORT))


def line():
    """The line of a minute with twelve such reports."""
    return shown(walk().line)


def rollup():
    """What close prints of that minute of the cluster."""
    return shown(walk().rollup)


def message():
    """What people read when its alarm fires."""
    return f"```text\n{walk().message.rstrip()}\n```\n"


BLOCKS = {
    "rooms": rooms,
    "report": report,
    "report-to-line": lambda: way(0),
    "line": line,
    "line-to-record": lambda: way(1),
    "record-to-rollup": lambda: way(2),
    "rollup": rollup,
    "rollup-to-message": lambda: way(3),
    "message": message,
    "hour-to-ledger": lambda: way(4),
}
