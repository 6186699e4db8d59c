"""
What a run is about to make, on the disk before it is made.

One JSON object a line, each flushed to the disk before anything else happens. A
line that a kill cut off was written for something that was never begun.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

NAME: Final = "journal.jsonl"
STACK: Final = "stack"
LOG_GROUP: Final = "log group"
BUCKET: Final = "bucket"


class AcceptError(Exception):
    """
    A step cannot go on; what was made is removed all the same.

    The person at the terminal acts: something is in the way, or AWS did not get there.
    """


@dataclass(frozen=True)
class Entry:
    """
    Something that a run makes.

    Attributes:
        kind: `STACK`, `LOG_GROUP` or `BUCKET`.

        name: As AWS has it.
    """

    kind: str
    name: str


class Journal:
    """
    The journal of one run.

    Attributes:
        run: The run's id, which all its names and its tag carry.

        where: Account, region and endpoint, by which the run is recognized later.
    """

    def __init__(self, path: Path, rows: list[dict]) -> None:
        self._path = path
        self._rows = rows
        self.run = rows[0]["run"] if rows else ""
        self.where = rows[0]["where"] if rows else {}

    @classmethod
    def begin(cls, folder: Path, run: str, where: dict[str, str]) -> Journal:
        """A new journal in *folder*."""
        folder.mkdir(parents=True, exist_ok=True)
        journal = cls(folder / NAME, [])
        journal.run, journal.where = run, where
        journal._write(row="run", run=run, where=where)
        return journal

    @classmethod
    def read(cls, path: Path) -> Journal:
        """
        A journal as a run left it, however it ended.

        Raises:
            AcceptError: If something else than its end is unreadable.
        """
        *whole, torn = path.read_bytes().split(b"\n")
        with path.open("r+b") as file:  # what is written next must not be joined to it
            file.truncate(path.stat().st_size - len(torn))
        try:
            return cls(path, [json.loads(line) for line in whole])
        except ValueError as error:
            msg = f"{path} cannot be read: {error}. Look for what has the tag in the console."
            raise AcceptError(msg) from error

    def will_make(self, kind: str, name: str) -> None:
        """Say so before it is made."""
        self._write(row="makes", kind=kind, name=name)

    def is_gone(self, entry: Entry) -> None:
        """It was removed, or never made."""
        self._write(row="gone", kind=entry.kind, name=entry.name)

    def step(self, title: str) -> None:
        """A step begins."""
        self._write(row="step", title=title)

    def left(self) -> list[Entry]:
        """What may be there, the latest first."""
        found: dict[Entry, None] = {}
        for row in self._rows:
            if row["row"] in {"makes", "gone"}:
                entry = Entry(row["kind"], row["name"])
                found.pop(entry, None)
                if row["row"] == "makes":
                    found[entry] = None
        return [*found][::-1]

    def _write(self, **row: object) -> None:
        with self._path.open("ab") as file:
            file.write(json.dumps(row).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._rows.append(row)
