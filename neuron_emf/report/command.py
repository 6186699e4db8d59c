"""The command `neuron-emf report`, its settings, what it prints and the files that it writes."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from neuron_emf import command_output
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
from neuron_emf.report import bill_report, chargeback, exports, terminal
from neuron_emf.report.collection import collect, collect_before
from neuron_emf.report.cost_table import ROW_LABELS
from neuron_emf.report.month_ledger import S3
from neuron_emf.report.team_report import TEAM_BY, team_parts, team_report
from neuron_emitter.command_line import Command, print_lines
from neuron_emitter.errors import SettingsError
from neuron_emitter.settings.minute_settings import advanced, setting
from neuron_emitter.settings.options import options

if TYPE_CHECKING:
    from neuron_emf.report.idle_report import IdleReport


_OF_BILL: Final = ("unassigned", "incomplete", "spread_anyway")
_NOT_OF_BILL: Final = ("since", "until", "cluster", "from_lines")


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


@click.command(
    name="report",
    cls=Command,
    epilog=(
        "Exit codes: 0 success, 2 usage error, 3 the ledger or the lines could not be read, "
        "4 a file or standard output cannot be written, 5 the bill and the ledger do not reconcile."
    ),
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@options(IdleReportSettings)
def command(files: tuple[Path, ...], **values: object) -> int:
    """
    Idle hours and cost of a period: the idle report.

    Reads the hours that the ledger of a stack has settled, or ledgers that are
    named. Without a ledger it reads minute lines and adds them up as the ledger
    does: of the log group, of the rehearsal, or of FILES (plain or gzip, - is
    standard input). Missing and unknown values are named, never shown as 0. With
    --bill the same table has the billed cost of a --month next to list price.
    """
    settings = IdleReportSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    _refuse_what_is_ignored(settings)
    if settings.bill:
        settings = replace(settings, bill=(*settings.bill, *map(str, files)))
        report = bill_report.bill_report(settings, chargeback.chargeback(settings))
    else:
        report = collect(settings, files)
    if settings.team and not report.problems:
        before = collect_before(settings, files, report)
        report = team_report(report, before, settings.team, settings.month, settings.unassigned)
    show(report, settings)
    return chargeback.EXIT_NOT_RECONCILED if report.problems else 0


def _refuse_what_is_ignored(settings: IdleReportSettings) -> None:
    """Raise SettingsError for an option that the report of a ledger or a bill does not have."""
    for name in _NOT_OF_BILL if settings.bill else _OF_BILL:
        if getattr(settings, name):
            option = f"--{name.replace('_', '-')}"
            msg = f"{option} needs --bill. Omit it, or add --bill."
            if settings.bill:
                msg = f"{option} cannot be used with --bill. Omit it."
            raise SettingsError(msg)
    if settings.team and settings.by not in TEAM_BY:
        msg = f"--team has no rows by {settings.by}. Use --by owner or --by cluster."
        raise SettingsError(msg)


def show(report: IdleReport, settings: IdleReportSettings) -> None:
    """
    Write the files, then print the report.

    Raises:
        DeliveryError: If a file or standard output takes nothing.
    """
    for file, text_of in ((settings.html, exports.html), (settings.csv, exports.csv_text)):
        if file is not None and report.problems:
            sys.stderr.write(f"neuron-emf: {file} was not written, because the month is refused.\n")
        elif file is not None:
            command_output.write_file(file, text_of(report))
    if settings.json:
        print_lines([exports.json_text(report)])
    elif report.team:
        command_output.show(*team_parts(report, settings.rows))
    else:
        command_output.show(*terminal.parts(report, settings.rows or terminal.MAX_ROWS))
