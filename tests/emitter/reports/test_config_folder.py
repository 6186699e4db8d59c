"""The temporary folder of the configuration: gone with its emitter, or with the next one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from emitter.reports.monitor_config import PREFIX, ConfigFolder


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The machine's folder of temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def killed(temporary):
    """An emitter that a kill -9 ends."""
    words = (
        "import os; from emitter.reports.monitor_config import ConfigFolder; "
        "ConfigFolder('{}'); os.kill(os.getpid(), 9)"
    )
    variables = {"PYTHONPATH": ":".join(sys.path), "TMPDIR": str(temporary)}
    ended = subprocess.run([sys.executable, "-c", words], env=variables, check=False)
    assert -9 == ended.returncode


def test_what_a_killed_emitter_left_is_removed_by_the_next(temporary):
    """However often: one at most is left, and those of emitters that run stay."""
    running = ConfigFolder("{1}")
    others = [temporary / "neuron-emf-soak", temporary / f"{PREFIX}of-a-person"]
    for other in others:
        other.mkdir()
        (other / "notes").write_text("")
    for _ in range(3):
        killed(temporary)
    assert 1 + len(others) + 1 == len(list(temporary.iterdir()))
    ConfigFolder("{2}").remove()
    assert [running.file.parent, *others] == sorted(
        temporary.iterdir(), key=[running.file.parent, *others].index
    )
    assert "{1}" == running.file.read_text()
    running.remove()
    running.remove()
    assert sorted(others) == sorted(temporary.iterdir())


def test_a_configuration_that_finds_no_room_leaves_no_folder(temporary, monkeypatch):
    """The disk is full at the start."""

    def full(_folder, _config):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ConfigFolder, "write", full)
    with pytest.raises(OSError, match="No space"):
        ConfigFolder("{}")
    assert [] == list(temporary.iterdir())
