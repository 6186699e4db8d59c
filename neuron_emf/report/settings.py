"""The settings of `neuron-emf report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from emitter.settings.declaration import setting
from neuron_emf.account import AccountSettings
from neuron_emf.payment import PAID_FORM, PAID_HELP
from neuron_emf.prices import OVERRIDES_FORM, OVERRIDES_HELP
from neuron_emf.teams import TEAMS_HELP

SINCE: Final = "7d"
"""The period of an account where none is asked for; of files it is all they hold."""

IDLE_AFTER_MINUTES: Final = 15

QUERIES, LINES = "queries", "lines"


@dataclass(frozen=True, kw_only=True)
class IdleReportSettings(AccountSettings):
    """Which time, whose money, and where to put what is found."""

    since: str = setting(
        "",
        "Start: a period back from now such as 36h, 7d or 4w, or a moment such as "
        f"2026-11-20T08:00:00Z; by default {SINCE}, and of FILES all they hold.",
        metavar="TIME",
    )
    until: str = setting("", "End, in the same form; by default now.", metavar="TIME")
    cluster: str = setting("", "Only this cluster; by default all.", metavar="NAME")
    idle_after: int = setting(
        IDLE_AFTER_MINUTES,
        "Minutes without work from which a core is idle, 1 to 1440; the stack's parameter "
        "IdleAfterMinutes is the same number.",
        kind=click.IntRange(1, 1440),
        metavar="MINUTES",
    )
    price_overrides: str = setting("", OVERRIDES_HELP, metavar=OVERRIDES_FORM)
    paid_by_type: str = setting("", PAID_HELP, metavar=PAID_FORM)
    teams: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        TEAMS_HELP,
        kind=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
    )
    ledger: tuple[str, ...] = setting(
        (),
        "Bucket of the ledger, with --bill also a folder or a file, or several; by default the "
        "stack's output LedgerBucketName.",
        metavar="BUCKET",
    )
    month: str = setting("", "With --bill: the month in UTC, such as 2026-10.", metavar="YYYY-MM")
    bill: tuple[str, ...] = setting(
        (),
        "What each owner pays of AWS's FOCUS 1.2 export: its files, folders or s3://BUCKET/PREFIX, "
        "CSV or Parquet, hourly; needs the extra 'bill'.",
        metavar="FILE",
    )
    unassigned: str = setting(
        "",
        "With --bill: 'spread' what nobody owns over owners by their cost, or make it one row of "
        "this name; by default a row for each kind.",
        metavar="HOW",
    )
    incomplete: bool = setting(
        default=False, help_text="With --bill: accept a month that does not reconcile."
    )
    from_lines: bool = setting(
        default=False,
        help_text="Read minute lines for every hour, also those that are settled: with the single "
        "cores, and with records that came too late for the ledger.",
    )
    read: str = setting(
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
    json: bool = setting(default=False, help_text="Print JSON instead of tables.")
    rows: int = setting(
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
