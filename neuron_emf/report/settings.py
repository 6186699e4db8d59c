"""The settings of `neuron-emf report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from emitter.settings.declaration import advanced, setting
from neuron_emf.options import (
    AccountSettings,
    AnswerSettings,
    ClusterSettings,
    IdleSettings,
    PaymentSettings,
    PeriodSettings,
    PriceSettings,
    TeamSettings,
)
from neuron_wire.core_time import IDLE_AFTER_MINUTES

QUERIES, LINES = "queries", "lines"


@dataclass(frozen=True, kw_only=True)
class IdleReportSettings(
    AccountSettings,
    AnswerSettings,
    TeamSettings,
    PaymentSettings,
    PriceSettings,
    IdleSettings,
    ClusterSettings,
    PeriodSettings,
):
    """Which time, whose money, and where to put what is found."""

    ledger: str = advanced(
        "",
        "Bucket of the ledger; by default the stack's output LedgerBucketName.",
        metavar="BUCKET",
    )
    from_lines: bool = advanced(
        default=False,
        help_text="Read minute lines for every hour, also those that are settled: with the single "
        "cores, and with records that came too late for the ledger.",
    )
    read: str = advanced(
        QUERIES,
        "How to read an account's lines: 'queries' asks Logs Insights, which bills the bytes "
        "it scans; 'lines' fetches every line, which costs "
        "nothing and takes longer. The rehearsal and FILES are read by lines.",
        kind=click.Choice([QUERIES, LINES]),
        metavar="HOW",
    )
    html: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "Write one HTML page that needs nothing else to FILE.",
        kind=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
    )
    csv: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "Write all rows as CSV to FILE.",
        kind=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
    )
    rows: int = advanced(
        10,
        "Rows of each table on the terminal and of the worst cores everywhere, 1 to 1000.",
        kind=click.IntRange(1, 1000),
        metavar="NUMBER",
    )

    @property
    def has_own_rules(self) -> bool:
        """Whether a rule is given by which the ledger was not counted."""
        return bool(
            self.price_overrides or self.paid_by_type or self.idle_after != IDLE_AFTER_MINUTES
        )
