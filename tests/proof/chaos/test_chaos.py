"""The chaos run in its short form, as `make chaos` runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from proof.kills.life import processes_of

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = (sys.executable, "-m", "proof.chaos")
SHORT = ("--emitters", "4", "--minutes", "6")


def begin(repository: Path, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start it, with its files in *folder*."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=repository,
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_whatever_fails_nothing_is_lost_and_nothing_counts_twice(repository, tmp_path):
    """Four emitters, six minutes, every kind of trouble: the last column is zero."""
    process = begin(repository, tmp_path, *SHORT, "--seed", "3")
    printed, said = process.communicate()
    print(printed)  # noqa: T201 - the figures, with pytest -s
    assert 0 == process.returncode, printed + said
    *clusters, everything = [line.split() for line in printed.splitlines()[1:4]]
    assert ["all", "4"] == everything[:2]
    assert {"0"} == {row[-1] for row in (*clusters, everything)}
    assert int(everything[-2]) >= 8  # rollups compared
    assert [] == processes_of(f"{tmp_path}/")
    assert [] == list(tmp_path.iterdir())


def test_wrong_use_ends_with_2(repository, tmp_path):
    """Before anything is started."""
    process = begin(repository, tmp_path, "--emitters", "3")
    printed, said = process.communicate()
    assert (2, "") == (process.returncode, printed)
    assert "expected at least 4 emitters" in said
