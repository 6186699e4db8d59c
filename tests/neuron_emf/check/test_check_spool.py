"""The folder in which records wait: looked at, tried by writing, and left as it is."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from emitter.spool import Spool
from emitter.spool.layout import FILE_NAME
from neuron_emf.check import this_machine
from neuron_emf.check.settings import CheckSettings
from neuron_emf.check.this_machine import check_spool

Usage = namedtuple("Usage", "total used free")  # noqa: PYI024 - as shutil has it


def checking(**changes):
    return check_spool(CheckSettings(**changes))


def test_a_folder_that_is_not_there_can_be_made_and_is_not(tmp_path):
    """A check that runs as another user must not leave a folder that the emitter cannot write."""
    folder = tmp_path / "new" / "spool"
    found = checking(spool_dir=folder)
    assert "ok" == found.state
    assert f"{folder} can be created" in found.found
    assert [] == list(tmp_path.iterdir())


def test_a_spool_in_use_is_a_warning_and_stays_as_it_is(tmp_path):
    """The emitter that holds it goes on holding it, and who that is is said."""
    with Spool.open(tmp_path, max_bytes=1 << 20):
        before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
        found = checking(spool_dir=tmp_path)
        after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert "warning" == found.state
    assert f"held by process {os.getpid()}" in found.found
    assert before == after


def test_after_a_check_an_emitter_can_start(tmp_path):
    """The lock that was looked at is let go."""
    with Spool.open(tmp_path, max_bytes=1 << 20):
        pass
    assert "ok" == checking(spool_dir=tmp_path).state
    with (tmp_path / "lock").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_folder_that_takes_nothing_fails(tmp_path, monkeypatch):
    """Tried by writing: rights alone say nothing of a disk that is read-only or full."""

    def full(**_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(this_machine.tempfile, "TemporaryFile", full)
    found = checking(spool_dir=tmp_path)
    assert ("failed", f"cannot write {tmp_path}: No space left on device") == (
        found.state,
        found.found,
    )
    assert "--spool-dir" in found.advice


def test_a_file_in_the_place_of_the_folder_fails(tmp_path):
    """Also above it."""
    (tmp_path / "file").write_bytes(b"")
    for place in ("file", "file/spool"):
        found = checking(spool_dir=tmp_path / place)
        assert ("failed", f"{tmp_path / 'file'} is not a folder") == (found.state, found.found)


def test_a_spool_of_a_newer_version_fails(tmp_path):
    """As `run` would refuse it."""
    with Spool.open(tmp_path, max_bytes=1 << 20):
        pass
    with (tmp_path / FILE_NAME).open("r+b") as file:
        file.seek(60)
        file.write((9).to_bytes(4, "big"))
    found = checking(spool_dir=tmp_path)
    assert "failed" == found.state
    assert "has layout 9" in found.found
    assert "install the newer neuron-emf" in found.advice


@pytest.mark.parametrize(("free_mib", "state"), [(256, "ok"), (255, "warning"), (0, "warning")])
def test_a_disk_with_less_room_than_is_allowed_is_a_warning(tmp_path, monkeypatch, free_mib, state):
    """At --spool-max-mib exactly there is enough."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 0, free_mib << 20))
    found = checking(spool_dir=tmp_path, spool_max_mib=256)
    assert state == found.state
    assert f"{free_mib} MiB" in found.found


def test_memory_needs_no_folder(monkeypatch, tmp_path):
    """With --output stdout and no folder named."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "not needed" == checking(output="stdout").state
    assert "ok" == checking(output="stdout", spool_dir=tmp_path).state


def test_a_folder_that_the_system_refuses_fails():
    """Also to root, whom no permission of a file stops: it is tried, not looked up."""
    found = checking(spool_dir=Path("/proc/neuron-emf"))
    assert "failed" == found.state
    assert found.found.startswith("cannot write /proc: ")
