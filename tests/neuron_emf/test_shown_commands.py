"""
What README and docs show of a command is what the command prints.

A page has `<!-- run: neuron-emf ... -->`, then the output, then `<!-- /run -->`. Each
is run in a folder with the rehearsal's hour;
`--update-golden` writes what was printed, and the difference is read in review.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from neuron_emf.cli import COMMANDS, main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHOWN = re.compile(r"<!-- run: (neuron-emf [^\n]+) -->\n(.*?)<!-- /run -->", re.DOTALL)


def shown_in(path: Path) -> list[tuple[str, str]]:
    """The commands of a page, each with what stands below it."""
    return [(found[1], found[2]) for found in SHOWN.finditer(path.read_text("utf-8"))]


ALL = [
    pytest.param((path, command, text), id=f"{path.name}: {command}")
    for path in PAGES
    for command, text in shown_in(path)
]


@pytest.fixture
def folder():
    """One whose name is short: what is printed must not be wrapped otherwise than on a page."""
    with tempfile.TemporaryDirectory(prefix="emf-", dir="/tmp") as name:
        yield Path(name)


@pytest.fixture
def place(hour, folder, monkeypatch):
    """Where a reader would stand: the hour's lines."""
    for file in (hour.records_file, hour.rollups_file):
        shutil.copy(file, folder)
    monkeypatch.chdir(folder)


def printed_by(command: str, capsys) -> str:
    """What a person sees who types *command*, as a block of Markdown."""
    typed, _, rest = command.partition(" | ")
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(typed)[1:])
    assert 0 == ended.value.code
    found = capsys.readouterr()
    lines = [line.rstrip() for line in (found.err + found.out).splitlines()]
    text = "\n".join(lines)
    if rest:
        piped = subprocess.run(
            rest, shell=True, input=f"{text}\n", capture_output=True, text=True, check=True
        )
        text = piped.stdout.rstrip()
    return f"```\n$ {command}\n{text}\n```\n"


@pytest.mark.slow
@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("shown", ALL)
def test_a_page_shows_what_is_printed(shown, capsys, request):
    """Byte for byte, but for spaces at the end of a line."""
    path, command, text = shown
    found = printed_by(command, capsys)
    if request.config.getoption("--update-golden"):
        page = path.read_text("utf-8")
        path.write_text(
            page.replace(
                f"<!-- run: {command} -->\n{text}<!-- /run -->",
                f"<!-- run: {command} -->\n{found}<!-- /run -->",
            ),
            "utf-8",
        )
        return
    assert found == text


def test_every_operator_command_is_shown():
    """What it prints is on a page of reference, from here or from the test of its own page."""
    text = "".join(page.read_text("utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    own = {*("check", "cost", "deploy", "findings", "lint", "profile", "top")}
    shown = {shlex.split(command)[1] for page in PAGES for command, _ in shown_in(page)}
    assert COMMANDS.keys() - {"replay", "run"} == shown | own
    assert [] == [name for name in own if f"neuron-emf {name}" not in text]
