"""
What a command printed, kept: the only source of the figures in docs/.

Each command that proves something writes one file of `docs/figures`
when it is asked to (`--record`); the pages are made of these files, so a figure
that no command printed cannot stand in them.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LIBRARIES: Final = ("msgspec", "boto3", "aws-embedded-metrics", "aws-lambda-powertools")
"""A figure depends on those of these that the environment has."""

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "figures"


@dataclass(frozen=True, slots=True)
class Record:
    """
    One run of one command.

    Attributes:
        name: Of the file, such as "chaos".

        command: What a person types to get it again, such as "make chaos SEED=7".

        as_of: When, UTC, such as "2026-11-21".

        machine: What it ran on.

        took_s: How long, in seconds.

        heads: Of the columns.

        rows: The table it printed, as text.

        facts: Single figures that a page quotes in a sentence, by name.
    """

    name: str
    command: str
    as_of: str
    machine: str
    took_s: float
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    facts: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path = FOLDER) -> Path:
        """Keep it; the file."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        return path

    def markdown(self) -> str:
        """The table as a page has it."""
        lines = [self.heads, tuple("---" for _ in self.heads), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def text(self) -> str:
        """The table as a terminal has it: the first column to the left, the others to the right."""
        lines = [self.heads, *self.rows]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.heads))]
        return "\n".join(
            "  ".join(
                [
                    line[0].ljust(widths[0]),
                    *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
                ]
            ).rstrip()
            for line in lines
        )

    @property
    def how(self) -> str:
        """By which command, when, on what and how long: the line above a table in a page."""
        return f"`{self.command}`, {self.as_of}, {self.took_s:.0f} s on {self.machine}."


def made(
    name: str,
    command: str,
    took_s: float,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    **facts: Any,  # noqa: ANN401  # whatever a page quotes, as JSON
) -> Record:
    """A record of now, on this machine."""
    return Record(
        name=name,
        command=command,
        as_of=datetime.now(timezone.utc).date().isoformat(),
        machine=machine(),
        took_s=round(took_s, 1),
        heads=tuple(heads),
        rows=tuple(tuple(row) for row in rows),
        facts=facts,
    )


def read(name: str, folder: Path = FOLDER) -> Record:
    """
    What was kept under *name*.

    Raises:
        FileNotFoundError: If its command was never asked to record.
    """
    kept = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    kept["heads"] = tuple(kept["heads"])
    kept["rows"] = tuple(tuple(row) for row in kept["rows"])
    return Record(**kept)


def machine() -> str:
    """Processor count, memory, system, Python and libraries a figure depends on, in one line."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    system = f"{platform.system()} {platform.machine()}"
    versions = ", ".join(_versions())
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{cores} cores, {_memory_gib():.0f} GiB, {system}, {python}, {versions}"


def _versions() -> Iterator[str]:
    for name in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            yield f"{name} {metadata.version(name)}"


def _memory_gib() -> float:
    pages, page = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    limit = Path("/sys/fs/cgroup/memory.max")  # a container may have less than the machine
    told = limit.read_text(encoding="ascii").strip() if limit.exists() else "max"
    return min(pages * page, int(told) if told.isdecimal() else pages * page) / (1 << 30)
