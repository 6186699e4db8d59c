"""The settings of `neuron-emf report`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from neuron_emf.command_options import (
    FILE_PATH,
    AccountSettings,
    AnswerSettings,
    ClusterSettings,
    IdleSettings,
    PaymentSettings,
    PeriodSettings,
    PriceSettings,
    TeamSettings,
    flag,
)
from neuron_emf.report.cost_table import ROW_LABELS
from neuron_emf.report.month_ledger import S3
from neuron_emitter.settings.minute_settings import advanced, setting

if TYPE_CHECKING:
    from pathlib import Path


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
    """The period, the rows and the files of an idle report."""

    month: str = setting("", "A month of UTC, such as 2026-11.", metavar="YYYY-MM")
    by: str = setting(
        "owner",
        "What the rows are: owner, team, cluster, type, instance or day.",
        kind=click.Choice([*ROW_LABELS]),
        metavar="WHAT",
    )
    team: str = setting(
        "",
        "Only this team, and how its cost changed.",
        metavar="NAME",
    )
    ledger: tuple[str, ...] = advanced(
        (),
        "Bucket of a ledger, or a folder with a copy of its objects; repeat it for several "
        "ledgers. Equal objects count once. By default the stack's output LedgerBucketName.",
        metavar="BUCKET|FOLDER",
    )
    bill: tuple[str, ...] = setting(
        (),
        "What each owner pays of AWS's FOCUS 1.2 export: its files, folders or s3://BUCKET/PREFIX, "
        "CSV or Parquet, hourly; needs the extra 'bill'. With --rehearsal no file is needed.",
        metavar="[FILE]",
        is_flag=False,
        flag_value=S3,
    )
    unassigned: str = advanced(
        "",
        "With --bill: 'spread' divides the cost without an owner among owners by their cost; "
        "another name collects it in one row; by default it has a row for each kind.",
        metavar="HOW",
    )
    spread_anyway: bool = flag(
        "With --unassigned spread: spread more than 20 % of the total.", is_advanced=True
    )
    incomplete: bool = flag(
        "With --bill: accept a month that does not reconcile.", is_advanced=True
    )
    from_lines: bool = flag(
        "Read the minute lines of the log group instead of the ledger, which costs nothing; the "
        "rehearsal and FILES are read by lines.",
        is_advanced=True,
    )
    html: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "Write all tables as one HTML page to FILE.",
        kind=FILE_PATH,
    )
    csv: Path | None = setting(  # noqa: RUF009 - as above
        None, "Write all rows as CSV to FILE.", kind=FILE_PATH
    )
    rows: int | None = advanced(
        None,
        "Rows of the table on the terminal, 1 to 1000; by default 10, and 2 with --team.",
        kind=click.IntRange(1, 1000),
        metavar="NUMBER",
    )
