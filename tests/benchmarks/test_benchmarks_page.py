"""docs/explanation/benchmarks.md holds only what `make bench` printed."""

from __future__ import annotations

from benchmarks import record
from benchmarks.page import LEDGER, NAME, SCRAPING, page

RECORDS = [record.read(name) for name in (NAME, SCRAPING, LEDGER)]


def test_the_page_is_what_was_recorded(golden, repository):
    """No figure was typed; to write it again: python -m benchmarks.page."""
    golden(repository / "docs" / "explanation" / "benchmarks.md", page(*RECORDS))
