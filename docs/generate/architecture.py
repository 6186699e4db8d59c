"""The folders of the code, and the way of one report through them."""

from __future__ import annotations

import ast
import json
import textwrap

from local import REPOSITORY
from neuron_emf.cli import COMMANDS
from proof.walk import REPORT, walk
from tests.test_arrows import IMPORTS, ROOM_FOLDERS

WIDTH = 100
VARIABLE_MEMBERS = {
    "Boot": "019b76daa8001efcfc14",
    "EmitterCpuSeconds": 0.42,
    "EmitterMemory": 35_651_584,
}
"""Members that differ between runs, with the values that the page shows."""


def shown(text):
    """Return one line of JSON over several lines, broken after its commas."""
    parts = json.dumps(json.loads(text), separators=(", ", ":"))
    lines = textwrap.wrap(parts, WIDTH, break_long_words=False, break_on_hyphens=False)
    whole = "\n".join(lines)
    assert json.loads(whole) == json.loads(text)
    return f"```json\n{whole}\n```\n"


def _folder(module):
    """Return the folder of a module below its package, as a path in the repository."""
    package, *inner = module.split(".")
    path = ROOM_FOLDERS[package]
    for name in inner:
        if not (path / name / "__init__.py").exists():
            break
        path = path / name
    return path.relative_to(REPOSITORY).as_posix()


def _sentence(folder):
    """Return the first sentence of the folder's docstring, on one line."""
    source = (REPOSITORY / folder / "__init__.py").read_text(encoding="utf-8")
    paragraph = (ast.get_docstring(ast.parse(source)) or "").partition("\n\n")[0]
    return " ".join(paragraph.split())


def rooms():
    """Return each folder with its purpose, without the folders of commands."""
    folders = {_folder(asked.module) for imports in IMPORTS.values() for asked in imports}
    folders -= {f"neuron_emf/{command}" for command in COMMANDS}
    return "".join(
        f"- `{folder}`: {_sentence(folder)}\n"
        for folder in sorted(folders)
        if "/" not in folder or folder.split("/")[0] not in {"proof", "benchmarks"}
    )


def way(number):
    """Return the first file that one part of the walk enters in each folder, in order."""
    first_files = {}
    for file in walk().stages[number].functions:
        first_files.setdefault(file.rpartition("/")[0], file)
    return f"{', '.join(f'`{file}`' for file in first_files.values())}\n"


def report():
    """Return the report on one line."""
    return shown(json.dumps(REPORT))


def line():
    """Return the line of a minute with twelve such reports."""
    return shown(json.dumps(json.loads(walk().line) | VARIABLE_MEMBERS))


BLOCKS = {
    "rooms": rooms,
    "report": report,
    "report-to-line": lambda: way(0),
    "line-to-record": lambda: way(1),
    "record-to-rollup": lambda: way(2),
    "rollup-to-message": lambda: way(3),
    "hour-to-ledger": lambda: way(4),
}
