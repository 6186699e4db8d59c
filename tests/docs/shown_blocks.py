"""
The fenced blocks of a page of documentation, and the notes of the page about them.

A note before a block of shell commands says how the test of shown steps runs it:

    <!-- run: hour -->                 run unchanged with bash -eu in the place `hour` of
    ```sh                              `tests.docs.step_places`; all blocks of a page with one
    ...                                place share its folder, in order
    ```

    <!-- run: instance, until stopped -->   run the same way, and stopped after the monitor's
    ```sh                                   second report
    ...
    ```

    ```sh                              not run: the page links to what was tried instead
    ...
    ```

Notes before other blocks:

    <!-- prints -->                    output of the block before; --update-golden writes it
    <!-- file: policy.json -->         a file that the reader saves under this name: it is in every
                                       place, and `file://policy.json` of an AWS CLI command is read
    <!-- shows: deploy/x/y.yaml -->    unchanged lines of that file of the repository
"""

from __future__ import annotations

import re
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from local import REPOSITORY
from tests.docs.linked_pages import DOCS_FOLDER

if TYPE_CHECKING:
    from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "DOCS_FOLDER",
    "REPOSITORY",
    "STEP_PAGES",
    "Block",
    "blocks_in",
    "blocks_of",
    "files_of",
    "tomllib",
]

STEP_PAGES = [
    DOCS_FOLDER / "tutorial.md",
    DOCS_FOLDER / "operations.md",
    *sorted((DOCS_FOLDER / "how-to").glob("*.md")),
]
"""Pages whose steps are run, or that say that they are not run."""

UNTIL_STOPPED = "until stopped"
_NOTE = re.compile(
    r"<!-- (?P<word>run|file|shows): (?P<value>[^\n]+) -->|<!-- (?P<bare>prints) -->"
)
_BLOCK_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[a-z]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """
    A fenced block.

    Attributes:
        page: File of the block.

        line: Number of the line on which the fence opens, from 1.

        language: Word after the opening fence, empty if there is none.

        text: Text between the fences, without the fences' indentation.

        notes: Values of the comment on the line before: `run`, `file`, `shows`, `prints`.
    """

    page: Path
    line: int
    language: str
    text: str
    notes: dict[str, str]

    @property
    def where(self) -> str:
        """The page and the line, for a message."""
        return f"{self.page.name}:{self.line}"

    @property
    def place(self) -> str | None:
        """The place in which the block is run, or None if it is not run."""
        value = self.notes.get("run")
        return None if value is None else value.partition(",")[0]

    @property
    def runs_until_stopped(self) -> bool:
        """True if the block ends only when it is stopped."""
        return self.notes.get("run", "").partition(",")[2].strip() == UNTIL_STOPPED


def blocks_of(page: Path) -> list[Block]:
    """Return every fenced block of a page, in order."""
    return blocks_in(page.read_text("utf-8"), page)


def blocks_in(text: str, page: Path) -> list[Block]:
    """Return every fenced block of *text*, a text of *page*."""
    fenced = []
    for fence in _BLOCK_FENCE.finditer(text):
        before = text[: fence.start()].rstrip("\n").rpartition("\n")[2].strip()
        if text[: fence.start()].endswith("\n\n"):
            before = ""  # a note is on the line directly before the fence
        note = _NOTE.fullmatch(before)
        notes = {}
        if note:
            notes = {note["word"] or note["bare"]: note["value"] or ""}
        fenced.append(
            Block(
                page=page,
                line=text.count("\n", 0, fence.start()) + 1,
                language=fence["language"],
                text=textwrap.dedent(fence["text"]) if fence["indent"] else fence["text"],
                notes=notes,
            )
        )
    return fenced


def files_of(page: Path) -> dict[str, str]:
    """Return the files that the reader of a page saves, by name."""
    return {block.notes["file"]: block.text for block in blocks_of(page) if "file" in block.notes}
