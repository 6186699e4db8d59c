"""Archives that are the same bytes whoever makes them, when, and on which machine."""

from __future__ import annotations

import gzip
import tarfile
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def write_tar_gz(target: Path, files: Iterable[tuple[str, bytes, bool]], time_s: int) -> None:
    """
    Write *files*, each its name, its content, and whether it can be run, in the order of names.

    Owner, rights and time are those of nobody: root, 644 or 755, *time_s*.
    """
    # The name and the time that gzip would write are those of this file.
    with (
        target.open("wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed,
        tarfile.open(mode="w", fileobj=packed, format=tarfile.GNU_FORMAT) as archive,
    ):
        for name, content, can_be_run in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), time_s
            entry.mode = 0o755 if can_be_run else 0o644
            archive.addfile(entry, BytesIO(content))


def rewrite(archive: Path, time_s: int) -> None:
    """Write a tar.gz that another tool made anew, with nothing of that tool's moment in it."""
    files = []
    with tarfile.open(archive) as old:
        for entry in old:
            content = old.extractfile(entry)
            if content is not None:
                files.append((entry.name, content.read(), bool(entry.mode & 0o100)))
    write_tar_gz(archive, files, time_s)
