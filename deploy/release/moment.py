"""The one time that all artefacts of a release say: that of the commit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

_EARLIEST_S: Final = 315_532_800  # 1980: a zip can say none before


def commit_time_s() -> int:
    """Seconds since 1970; of a tree that is no clone the earliest that all archives can say."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    git = subprocess.run(
        ["git", "log", "-1", "--format=%ct"],  # noqa: S607 - the one that made the clone
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return int(git.stdout) if git.returncode == 0 else _EARLIEST_S
