"""`neuron-emf report`: the command line of the idle report."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from emitter.command_line import CONTEXT
from emitter.settings.options import options
from neuron_emf.report.settings import IdleReportSettings

_EPILOG: Final = (
    "Exit codes: 0 success, 2 wrong use, 3 the lines could not be read, "
    "4 a file or standard output takes nothing."
)


@click.command(name="report", context_settings=CONTEXT, epilog=_EPILOG)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@options(IdleReportSettings)
def command(files: tuple[Path, ...], **values: object) -> int:
    """
    Idle time and money of a period: the idle report.

    By cluster, owner, instance and core, counted from the minute lines: of a
    stack's log group, of the rehearsal, or of FILES (plain or gzip, - is
    standard input) with lines of minutes and, if they are to be compared, of
    rollups. It says what would be saved, how much is unknown, and where the
    rollups of the stack say something else.
    """
    from neuron_emf.report.making import make  # noqa: PLC0415 - Rich and the SDK
    from neuron_emf.report.showing import show  # noqa: PLC0415 - as above

    settings = IdleReportSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    show(make(settings, files), settings)
    return 0
