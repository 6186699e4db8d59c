"""The chaos run in its short form, as `make chaos` runs it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from proof.kills.life import LIFE

COMMAND = (sys.executable, "-m", "proof.chaos")
SHORT = ("--emitters", "4", "--minutes", "6")


def living(folder: Path) -> list[int]:
    """Emitters and monitors that were started from a run whose files are in *folder*."""
    mark = f"{LIFE}={folder}/".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            told = (entry / "environ").read_bytes().split(b"\0")
            if any(one.startswith(mark) for one in told):
                found.append(int(entry.name))
    return found


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
    assert [] == living(tmp_path)
    assert [] == list(tmp_path.iterdir())


def test_wrong_use_ends_with_2(repository, tmp_path):
    """Before anything is started."""
    process = begin(repository, tmp_path, "--emitters", "3")
    printed, said = process.communicate()
    assert (2, "") == (process.returncode, printed)
    assert "expected at least 4 emitters" in said
