"""The machine that measured: what a figure needs beside it to mean anything."""

from __future__ import annotations

import contextlib
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

LIBRARIES: Final = (
    "msgspec", "boto3", "aws-embedded-metrics", "aws-lambda-powertools", "watchtower",
)  # fmt: skip
"""Of these, those that the environment has."""


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
