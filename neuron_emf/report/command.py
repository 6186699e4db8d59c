"""`neuron-emf report`: its settings, and what it prints and writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from emitter.command_line import CONTEXT
from emitter.settings.declaration import Texts, setting
from emitter.settings.options import options
from neuron_emf import printing
from neuron_emf.options import (
    IDLE_AFTER_MINUTES,
    AccountSettings,
    AnswerSettings,
    ClusterSettings,
    IdleSettings,
    PaymentSettings,
    PeriodSettings,
    PriceSettings,
    TeamSettings,
)
from neuron_emf.output_file import whole_file

if TYPE_CHECKING:
    from neuron_emf.report.idle_report import IdleReport

BY: Final = ("owner", "team", "cluster", "instance", "day")
_EPILOG: Final = (
    "Exit codes: 0 success, 2 usage error, 3 the ledger or the lines could not be read, "
    "4 a file or standard output cannot be written."
)


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

    month: str = setting("", "A month of UTC, such as 2026-11.", metavar="YYYY-MM")
    by: str = setting(
        "owner",
        "What the rows are: owner, team, cluster, instance or day.",
        kind=click.Choice(BY),
        metavar="WHAT",
    )
    ledger: tuple[str, ...] = setting(
        (),
        "Bucket of a ledger, or a folder with a copy of its objects; again for each further one, "
        "which counts once. By default the stack's output LedgerBucketName.",
        kind=Texts(),
        metavar="BUCKET|FOLDER",
    )
    from_lines: bool = setting(
        default=False,
        help_text="Read the minute lines of the log group instead of the ledger, which costs "
        "nothing; the rehearsal and FILES are read by lines.",
    )
    html: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "Write one HTML page that needs nothing else, with all tables, to FILE.",
        kind=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
    )
    csv: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "Write all rows as CSV to FILE.",
        kind=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
    )
    rows: int = setting(
        10,
        "Rows of the table on the terminal, 1 to 1000.",
        kind=click.IntRange(1, 1000),
        metavar="NUMBER",
    )

    @property
    def has_own_rules(self) -> bool:
        """Whether a rule is given by which the ledger was not counted."""
        return bool(
            self.price_overrides or self.paid_by_type or self.idle_after != IDLE_AFTER_MINUTES
        )


@click.command(name="report", context_settings=CONTEXT, epilog=_EPILOG)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@options(IdleReportSettings)
def command(files: tuple[Path, ...], **values: object) -> int:
    """
    What idle cores cost in a period, and whose they were: the idle report.

    Of the hours that the ledger of a stack has settled, or of ledgers that are
    named. Without a ledger of minute lines, added up as the ledger adds them up:
    those of the log group, of the rehearsal, or of FILES (plain or gzip, - is
    standard input). What is missing or unknown is said, and never 0.
    """
    from neuron_emf.report.collection import collect  # noqa: PLC0415 - --help needs none of it

    settings = IdleReportSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    show(collect(settings, files), settings)
    return 0


def show(report: IdleReport, settings: IdleReportSettings) -> None:
    """
    Write the files, then print.

    Raises:
        DeliveryError: If a file or standard output takes nothing.
    """
    from neuron_emf.report import exports, terminal  # noqa: PLC0415 - as above

    if settings.html is not None:
        _write(settings.html, exports.html(report))
    if settings.csv is not None:
        _write(settings.csv, exports.csv_text(report))
    if settings.json:
        printing.show_text(exports.json_text(report))
    else:
        printing.show(*terminal.parts(report, settings.rows))


def _write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())
