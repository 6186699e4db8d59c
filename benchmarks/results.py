"""The table of docs/explanation/benchmarks.md: what was kept, and what other ways took."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.figure import HEADS, markdown

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OTHERS = Path(__file__).with_name("others.toml")


def table() -> str:
    """Ours with their limits by the last `make bench RECORD=1`, then the other ways."""
    kept = record.read("benchmarks")
    others: dict[str, Any] = tomllib.loads(OTHERS.read_text(encoding="utf-8"))
    rows = [
        (
            one["what"],
            one["ours"],
            "-",
            "",
            f"{one['theirs']} by {one['way']}; {one.get('as_of') or others['as_of']}",
        )
        for one in others["ways"]
    ]
    return f"Measured by {kept.how}\n\n{markdown(HEADS, (*kept.rows, *rows))}"
