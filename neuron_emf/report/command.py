"""`neuron-emf report`: the command line of the idle report."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from emitter.command_line import CONTEXT
from emitter.settings.options import options
from neuron_emf import printing
from neuron_emf.output_file import whole_file
from neuron_emf.report.settings import IdleReportSettings

if TYPE_CHECKING:
    from neuron_emf.report.idle_report import IdleReport

_EPILOG: Final = (
    "Exit codes: 0 success, 2 usage error, 3 the lines could not be read, "
    "4 a file or standard output cannot be written, 5 the bill and the ledger do not reconcile."
)


@click.command(name="report", context_settings=CONTEXT, epilog=_EPILOG)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@options(IdleReportSettings)
def command(files: tuple[Path, ...], **values: object) -> int:
    """
    Idle hours and cost of a period: the idle report.

    By cluster, owner, instance and core, counted from the minute lines: of a
    stack's log group, of the rehearsal, or of FILES (plain or gzip, - is
    standard input) with lines of minutes and, if they are to be compared, of
    rollups. It says what would be saved, how much is unknown, and where the
    rollups of the stack say something else.
    """
    from neuron_emf.report import chargeback  # noqa: PLC0415 - --help needs none of it
    from neuron_emf.report.collection import collect  # noqa: PLC0415 - as above

    settings = IdleReportSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    if settings.bill:
        names = {field.name for field in fields(chargeback.ChargebackSettings)} - {"account"}
        asked = {name: getattr(settings, name) for name in names}
        bill = (*settings.bill, *map(str, files))
        return chargeback.run(
            chargeback.ChargebackSettings(account=settings, **{**asked, "bill": bill})
        )
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
        from neuron_emf.report import page  # noqa: PLC0415 - Jinja2 is for whoever wants a page

        _write(settings.html, page.text(report))
    if settings.csv is not None:
        _write(settings.csv, exports.spreadsheet(report))
    if settings.json:
        printing.show_json(exports.document(report))
    else:
        printing.show(*terminal.parts(report, settings.rows))


def _write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())
