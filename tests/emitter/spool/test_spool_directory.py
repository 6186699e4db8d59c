"""One emitter per directory, private, and nothing of a newer version touched."""

from __future__ import annotations

import os
import sqlite3
import stat

import pytest
from spool_parts import lines

from emitter.spool import Spool, SpoolHeldError, SpoolUnusableError
from emitter.spool.layout import FILE_NAME, LAYOUT_VERSION


def test_one_emitter_per_directory(spool):
    """The second is told the directory and who holds it; it ends as a failed source."""
    with pytest.raises(SpoolHeldError) as caught:
        Spool.open(spool.directory)
    assert str(spool.directory) in str(caught.value)
    assert f"process {os.getpid()}." in str(caught.value)
    assert 3 == caught.value.exit_code
    spool.close()
    (spool.directory / "lock").write_text("12345678901234567890\n")  # of one that died
    with Spool.open(spool.directory):
        assert f"{os.getpid()}\n" == (spool.directory / "lock").read_text()


def test_a_newer_layout_is_left_alone(tmp_path):
    """After a downgrade the records of the newer version are not touched."""
    Spool.open(tmp_path).close()
    path = tmp_path / FILE_NAME
    with sqlite3.connect(path) as database:
        database.execute(f"PRAGMA user_version = {LAYOUT_VERSION + 1}")
    database.close()
    before = path.read_bytes()
    with pytest.raises(
        SpoolUnusableError, match=f"layout {LAYOUT_VERSION + 1}, newer than the {LAYOUT_VERSION} "
    ):
        Spool.open(tmp_path)
    assert before == path.read_bytes()


def test_files_are_private(tmp_path):
    """Lines name instances and processes: the directory is 0700, every file in it 0600."""
    directory = tmp_path / "state" / "spool"
    with Spool.open(directory) as spool:
        spool.append(lines("x"))
        assert 0o700 == stat.S_IMODE(directory.stat().st_mode)
        files = list(directory.iterdir())
        assert {FILE_NAME, f"{FILE_NAME}-wal", "lock"} <= {path.name for path in files}
        assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in files}
