"""A record is what a command printed, and says on what it ran."""

from __future__ import annotations

import json

from benchmarks import record

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
