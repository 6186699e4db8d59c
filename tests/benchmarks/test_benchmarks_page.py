"""docs/explanation/benchmarks.md holds only what `make bench` printed."""

from __future__ import annotations

import dataclasses

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks import page as pages
from benchmarks import record
from benchmarks.figure import HEADS, Figure
from benchmarks.page import NAME, PARTS, page

KEPT = record.read(NAME)
FIGURES = [Figure(f"figure of {part}", 7.0, "MiB", 8, "made up", part=part) for part in PARTS]


def recorded(figures):
    rows = tuple(one.row() for one in figures)
    return dataclasses.replace(KEPT, heads=HEADS, rows=rows)


def test_the_page_is_what_was_recorded(golden, repository):
    """No figure was typed; to write it again: python -m benchmarks.page."""
    golden(repository / "docs" / "explanation" / "benchmarks.md", page(KEPT))


def test_a_part_that_was_not_recorded_is_an_error():
    """A page with a hole would look complete."""
    with pytest.raises(ValueError, match="part 'cost'"):
        page(recorded([one for one in FIGURES if one.part != "cost"]))


def test_the_page_says_what_was_not_measured():
    """It is neither within its limit nor over it."""
    missing = dataclasses.replace(FIGURES[-1], value=None)
    found = page(recorded([*FIGURES[:-1], missing]))
    assert f"All {len(PARTS) - 1} figures with a limit are within it." in found
    assert f"Not measured in this run: {missing.what}." in found
    assert "Not measured" not in page(recorded(FIGURES))


def test_only_record_writes_the_record_and_the_page(monkeypatch, tmp_path, capsys):
    """
    What it prints and what it keeps are the same figures; --record measures the rehearsal too.
    """
    asked = []

    def measure(_folder, **options):
        asked.append(options["fresh"])
        return FIGURES

    monkeypatch.setattr(benchmarks, "measure", measure)
    monkeypatch.setattr(pages, "PAGE", tmp_path / "benchmarks.md")
    write, read = record.Record.write, record.read
    monkeypatch.setattr(record.Record, "write", lambda kept: write(kept, tmp_path))
    assert 0 == benchmarks.main([])
    assert [] == list(tmp_path.iterdir())
    assert 0 == benchmarks.main(["--record"])
    kept = read(NAME, tmp_path)
    assert tuple(one.row() for one in FIGURES) == kept.rows
    assert page(kept) == (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert [False, True] == asked
    printed = capsys.readouterr().out
    assert [] == [one.what for one in FIGURES if printed.count(one.what) != 2]
