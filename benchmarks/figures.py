"""
Figures: the measured quantities with their limits, as a table and as the stored last run.

The stored run is the only source of figures in docs/. A page is generated from it, so it can only
contain figures that a command printed.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import subprocess
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEADS: Final = ("what", "measured", "limit", "verdict", "reference")
RECORD_COMMAND: Final = "make bench RECORD=1"
LIBRARIES: Final = ("msgspec", "boto3", "aws-embedded-metrics", "aws-lambda-powertools")
"""Libraries that affect the figures, if the environment has them."""

FIGURES_FILE: Final = (
    Path(__file__).resolve().parent.parent / "docs" / "figures" / "benchmarks.json"
)


@dataclass(frozen=True, slots=True)
class Figure:
    """
    One row of the table.

    Attributes:
        what: The measured quantity.

        value: The measured value.

        unit: The unit of value and limit.

        limit: The largest permitted value.

        reference: The figure it was compared with, and its variation.
    """

    what: str
    value: float
    unit: str
    limit: float
    reference: str = ""

    @property
    def is_over(self) -> bool:
        """True if it is above its limit."""
        return self.value > self.limit

    def row(self) -> tuple[str, ...]:
        """Return it as text, under `HEADS`."""
        verdict = "over" if self.is_over else "ok"
        measured = f"{number(self.value)} {self.unit}"
        return self.what, measured, number(self.limit), verdict, self.reference


def terminal(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text, one line per row."""
    lines = [heads, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def number(value: float) -> str:
    """Return a number: whole from 100, otherwise with two decimals unless they are zeros."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"


def commit() -> str:
    """Return the commit that is measured; followed by `-dirty` if files differ from it."""
    command = ("git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    ended = subprocess.run(
        command, cwd=FIGURES_FILE.parent, capture_output=True, text=True, check=True
    )
    return ended.stdout.strip()


def keep(figures: Sequence[Figure], took_s: float) -> None:
    """Store *figures* with the time, the commit and the machine."""
    kept = {
        "commit": commit(),
        "as_of": datetime.now(timezone.utc).date().isoformat(),
        "machine": machine(),
        "took_s": round(took_s, 1),
        "rows": [figure.row() for figure in figures],
    }
    FIGURES_FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def read() -> dict[str, Any]:
    """Return the stored record: time, machine, duration, and a row for each figure."""
    kept: dict[str, Any] = json.loads(FIGURES_FILE.read_text(encoding="utf-8"))
    return kept


def table() -> str:
    """Return each figure with its limit, as in the page."""
    kept = read()
    of = kept["as_of"]
    if "commit" in kept:  # files from before 2026-11-28 have no commit
        of = f"commit {kept['commit'][:12]}, {of}"
    how = f"`{RECORD_COMMAND}`, {of}, {kept['took_s']:.0f} s on {kept['machine']}."
    items = [
        f"- {what}: {measured}, limit {limit}{'' if verdict == 'ok' else f' ({verdict})'}"
        for what, measured, limit, verdict, _ in kept["rows"]
    ]
    return "\n".join([f"Measured by {how}\n", *items, ""])


def machine() -> str:
    """Return processors, memory, system, Python and the libraries that matter, in one line."""
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
    pages = os.sysconf("SC_PHYS_PAGES")
    page = os.sysconf("SC_PAGE_SIZE")
    limit = Path("/sys/fs/cgroup/memory.max")  # a container may have less than the machine
    limit_text = limit.read_text(encoding="ascii").strip() if limit.exists() else "max"
    return min(pages * page, int(limit_text) if limit_text.isdecimal() else pages * page) / (
        1 << 30
    )
