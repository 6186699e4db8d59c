"""Idle reports of made minutes, and settings as the command line makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neuron_emf.reading.periods import ALWAYS
from neuron_emf.report.comparison import PublishedRollups, compare
from neuron_emf.report.counting import Counting
from neuron_emf.report.idle_report import IdleReport, Provenance, idle_report
from neuron_wire.holders import Holder
from neuron_wire.prices import Prices
from tests.neuron_emf.report.minutes import START_MS, minute, rollups_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_emf.reading.periods import Period
    from neuron_wire import MinuteRecord

EVIL = (
    '<img src=x onerror="alert(1)">',
    "=HYPERLINK(1)",
    "[bold red]x[/]",
    "\x1b[31mred\x1b[0m",
    "a\u202eb",
    '"><script>x</script>',
    "@sum(1)",
    "+1",
    "-1",
    " =1",
)
"""Names as somebody might give them to whoever reads."""


def report_of(
    *records: MinuteRecord,
    rollups: Iterable[str] = (),
    prices: Prices | None = None,
    asked: Period | None = None,
    made_ms: int = START_MS + 86_400_000,
    **given: Any,
) -> IdleReport:
    """The idle report of *records*."""
    counting = Counting(ALWAYS, 15, prices or Prices())
    for one in records:
        counting.add(one)
    counting.close()
    published = PublishedRollups(ALWAYS)
    for line in rollups:
        published.add_line(line)
    return idle_report(
        counting,
        compare(counting, published, START_MS + 86_400_000),
        Provenance(**{"origin": "a test", "records": len(records), **given}),
        asked=asked,
        made_ms=made_ms,
        worst_cores=10,
    )


def evil_report() -> IdleReport:
    """Of names that mean something to a terminal, a browser or a spreadsheet."""
    records = [
        minute(
            0,
            "a",
            instance=f"{'' if not name.isascii() or not name.isprintable() else name}i{number}",
            cluster=name if name.isascii() and name.isprintable() else "c",
            instance_type=name if name.isascii() and name.isprintable() else None,
            holders=(Holder("0", name, 1, None),),
        )
        for number, name in enumerate(EVIL)
    ]
    return report_of(*records)


def full_report() -> IdleReport:
    """
    With something in each of its parts: unknown and unpriced cores, gaps, late lines, overrides.
    """
    records = [
        minute(0, "aaaa", holders=(Holder("0-3", "ml/llama-0", 41, "serve"),)),
        minute(1, "bbuu"),
        minute(4, "b?uu"),
        minute(0, "aa", instance="i-0b", cluster="serving", instance_type="trn2.3xlarge"),
        minute(0, "aa", instance="i-0c", cluster="serving", instance_type="inf2.xlarge"),
        minute(0, "aa", instance="i-0c", cluster="serving", boot="b2", seq=1),
    ]
    prices = Prices({"inf2.xlarge": 0.5})
    return report_of(
        *records,
        rollups=rollups_of([*records[:3], *records[4:]], prices=prices),
        prices=prices,
        repeated=2,
        unreadable=1,
        bytes_scanned=1_234_567_890,
    )
