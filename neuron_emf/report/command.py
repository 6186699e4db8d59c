"""The command `neuron-emf report`: its options, what it prints and the files that it writes."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from neuron_emf import command_output
from neuron_emf.report import bill_report, chargeback, exports, terminal
from neuron_emf.report.collection import collect, collect_before
from neuron_emf.report.settings import IdleReportSettings
from neuron_emf.report.team_report import TEAM_BY, team_parts, team_report
from neuron_emitter.command_line import Command, print_lines
from neuron_emitter.errors import SettingsError
from neuron_emitter.settings.options import options

if TYPE_CHECKING:
    from neuron_emf.report.idle_report import IdleReport


_OF_BILL: Final = ("unassigned", "incomplete", "spread_anyway")
_NOT_OF_BILL: Final = ("since", "until", "cluster", "from_lines")


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
