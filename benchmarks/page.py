"""
docs/explanation/benchmarks.md: the words are in `page.md`, the figures are put in here.

`python -m benchmarks.page` writes it again from what was recorded; to measure
again is `make bench RECORD=1`, the ledger `python -m benchmarks.ledger --record`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.figure import HEADS, NOT_MEASURED
from benchmarks.others.costs import BATCH_LINES
from benchmarks.others.losses import LINES, USUAL
from benchmarks.others.shippers import SEND_INTERVAL_S
from benchmarks.record import FOLDER, read
from benchmarks.reports import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.record import Record

NAME: Final = "benchmarks"
SCRAPING: Final = "scraping"
LEDGER: Final = "ledger"
PAGE: Final = ROOT / "docs" / "explanation" / "benchmarks.md"
WORDS: Final = Path(__file__).with_name("page.md")
MEASURED: Final = HEADS.index("measured")
VERDICT: Final = HEADS.index("verdict")
EMPTY: Final = ("", "-")
PARTS: Final = (
    "report", "minute", "memory", "whole minute", "shipping", "stack", "cost", "rehearsal",
)  # fmt: skip


def page(kept: Record, scraped: Record, ledger: Record) -> str:
    """
    The whole page, from one run of each command.

    Raises:
        ValueError: If the run lacks a part that the page tells of.
    """
    tables = {part.replace(" ", "_"): _table(kept, part) for part in PARTS}
    return WORDS.read_text(encoding="utf-8").format_map(
        {
            **tables,
            "scraping": _table(scraped, ""),
            "scraped": scraped.how,
            "ledger": _table(ledger, ""),
            "settled": ledger.how,
            "how": kept.how,
            "over": _over(kept),
            "interval": f"{SEND_INTERVAL_S}",
            "away": f"{USUAL.away_s:.0f}",
            "batch": f"{BATCH_LINES}",
            "lines": f"{LINES}",
        }
    )


def _table(kept: Record, part: str) -> str:
    rows = [row[1:] for row in kept.rows if row[0] == part]
    if not rows:
        msg = (
            f"expected figures of the part {part!r} in what was recorded, found none: measure again"
        )
        raise ValueError(msg)
    # A column that says nothing in this part is left out.
    used = [
        place for place in range(len(HEADS) - 1) if any(row[place] not in EMPTY for row in rows)
    ]
    lines = [HEADS[1:], *rows]
    found = ["| " + " | ".join(line[place] for place in used) + " |" for line in lines]
    return "\n".join([found[0], "|" + "---|" * len(used), *found[1:]])


def _over(kept: Record) -> str:
    promised = [row for row in kept.rows if row[VERDICT]]
    over = [row[1] for row in promised if row[VERDICT] == "over"]
    unknown = [row[1] for row in kept.rows if row[MEASURED] == NOT_MEASURED]
    sentence = f"All {len(promised)} figures with a limit are within it."
    if over:
        sentence = (
            f"{len(over)} of {len(promised)} figures with a limit are over it: {'; '.join(over)}."
        )
    return f"{sentence}\nNot measured in this run: {'; '.join(unknown)}." if unknown else sentence


def main(_arguments: Sequence[str] = ()) -> int:
    """Write the page; the exit code."""
    kept = (read(name, FOLDER) for name in (NAME, SCRAPING, LEDGER))
    PAGE.write_text(page(*kept), encoding="utf-8")
    return 0


if __name__ == "__main__":
    main()
