"""A record is what a command printed, and says on what it ran."""

from __future__ import annotations

import importlib.metadata
import json
import platform

from benchmarks import machine, record

MADE = record.made("made", "make it", 61.23, ["what", "n"], [["a", "1"], ["bb", "22"]], seed=7)


def test_a_record_is_read_as_it_was_written(tmp_path):
    """Also its single figures; as a file that a person can read in review."""
    path = MADE.write(tmp_path)
    assert MADE == record.read("made", tmp_path)
    assert (tmp_path / "made.json", 61.2) == (path, json.loads(path.read_text())["took_s"])


def test_the_terminal_and_the_page_have_the_same_cells():
    """The first column to the left, the others to the right."""
    assert ["what   n", "a      1", "bb    22"] == MADE.text().splitlines()
    assert ["| what | n |", "| --- | --- |", "| a | 1 |", "| bb | 22 |"] == (
        MADE.markdown().splitlines()
    )


def test_the_machine_is_told_with_what_matters_to_a_figure():
    """Cores, memory, system, Python, libraries."""
    found = machine.machine()
    for word in (" cores, ", " GiB, ", platform.machine(), platform.python_version()):
        assert word in found
    for name in machine.LIBRARIES:
        assert f"{name} {importlib.metadata.version(name)}" in found
