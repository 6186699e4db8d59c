"""
The blocks of a page of documentation: what is in them, and what the page says about them.

How a page says what becomes of a block of shell commands:

    <!-- run: hour -->                 the test of shown steps runs it, as it stands, with
    ```sh                              bash -eu in the place `hour` of `tests.docs.step_places`; all
    ...                                blocks of a page with one place share its folder, in order
    ```

    <!-- run: instance, until stopped -->   the same for what runs until somebody stops it: it is
    ```sh                                   asked to stop after the monitor's second report
    ...
    ```

    ```sh                              not run: the page links to what was tried instead
    ...
    ```

About other blocks:

    <!-- prints -->                    what the block before printed; --update-golden writes it
    <!-- file: policy.json -->         the reader saves it under this name: it is in every place,
                                       and `file://policy.json` of an AWS CLI command is read
    <!-- shows: deploy/x/y.yaml -->    lines of that file of the repository, as they are in it
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
"""Pages whose steps are run, or say that they are not."""

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
    One fenced block.

    Attributes:
        page: The file that it stands in.

        line: Number of the line on which its fence opens, from 1.

        language: What stands behind the fence, empty when nothing does.

        text: What is between the fences, without the fence's indentation.

        notes: What the comment on the line before says: `run`, `file`, `shows`, `prints`.
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
        """The place in which it is run; None when it is not."""
        found = self.notes.get("run")
        return None if found is None else found.partition(",")[0]

    @property
    def runs_until_stopped(self) -> bool:
        """Whether it ends only when it is asked to."""
        return self.notes.get("run", "").partition(",")[2].strip() == UNTIL_STOPPED


def blocks_of(page: Path) -> list[Block]:
    """Every fenced block of a page, in its order."""
    return blocks_in(page.read_text("utf-8"), page)


def blocks_in(text: str, page: Path) -> list[Block]:
    """Every fenced block of *text*, which stands in *page*."""
    found = []
    for fence in _BLOCK_FENCE.finditer(text):
        before = text[: fence.start()].rstrip("\n").rpartition("\n")[2].strip()
        if text[: fence.start()].endswith("\n\n"):
            before = ""  # a note stands on the line directly before
        note = _NOTE.fullmatch(before)
        notes = {}
        if note:
            notes = {note["word"] or note["bare"]: note["value"] or ""}
        found.append(
            Block(
                page=page,
                line=text.count("\n", 0, fence.start()) + 1,
                language=fence["language"],
                text=textwrap.dedent(fence["text"]) if fence["indent"] else fence["text"],
                notes=notes,
            )
        )
    return found


def files_of(page: Path) -> dict[str, str]:
    """What the reader of a page saves, by the name that it is saved under."""
    return {block.notes["file"]: block.text for block in blocks_of(page) if "file" in block.notes}
