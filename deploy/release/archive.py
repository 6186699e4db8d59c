"""
Write archives whose bytes do not depend on the user, the time or the machine.

Every time in the artefacts of a release is the time of the commit.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_EARLIEST_S: Final = 315_532_800  # 1980-01-01: a zip cannot have an earlier time


def write_tar_gz(target: Path, files: Iterable[tuple[str, bytes, bool]], time_s: int) -> None:
    """
    Write *files* to the tar.gz *target*, sorted by name.

    A file is its name, its content, and True if it can be run. The owner is root, the mode is 644
    or 755, and the time is *time_s*, seconds since 1970.
    """
    # Without an empty name and time 0, gzip would write the name of *target* and the current time.
    with (
        target.open("wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed,
        tarfile.open(mode="w", fileobj=packed, format=tarfile.GNU_FORMAT) as archive,
    ):
        for name, content, can_be_run in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mtime = time_s
            entry.mode = 0o755 if can_be_run else 0o644
            archive.addfile(entry, BytesIO(content))


def rewrite(archive: Path, time_s: int) -> None:
    """Rewrite *archive*, a tar.gz of another tool, as :func:`write_tar_gz` writes its files."""
    files = []
    with tarfile.open(archive) as old:
        for entry in old:
            content = old.extractfile(entry)
            if content is not None:
                files.append((entry.name, content.read(), bool(entry.mode & 0o100)))
    write_tar_gz(archive, files, time_s)


def commit_time_s() -> int:
    """
    Return the time of the artefacts, seconds since 1970.

    It is SOURCE_DATE_EPOCH if that is set, otherwise the time of the last commit, and outside a
    clone the earliest time that a zip can have.
    """
    if epoch_text := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(epoch_text)
    git = subprocess.run(
        ["git", "log", "-1", "--format=%ct"],  # noqa: S607 - the git that made the clone
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return int(git.stdout) if git.returncode == 0 else _EARLIEST_S
