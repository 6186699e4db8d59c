"""docs/explanation/exactness.md calls nothing exact that no test shows."""

from __future__ import annotations

from tests.docs.names import TEST
from tests.docs.pages import DOCS


def test_whatever_is_exact_names_a_test():
    """Each row of the first table has one in its last cell; that it is there, `test_names` sees."""
    page = (DOCS / "explanation" / "exactness.md").read_text(encoding="utf-8")
    table = page.partition("## Exact")[2].partition("## Not exact")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 8
    assert [] == [row for row in rows if not TEST.search(row.rsplit(" | ", 1)[1])]
