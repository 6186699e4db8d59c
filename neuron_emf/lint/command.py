"""The command `neuron-emf lint`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import click

from emitter.command_line import Command

_EPILOG: Final = (
    "Exit codes: 0 no line loses a metric, 1 one does or no line is EMF, 2 usage error, 3 a "
    "file cannot be read."
)


@click.command(name="lint", cls=Command, epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--no-age",
    is_flag=True,
    help="Do not check the age of lines: for old lines.",
)
def command(files: tuple[Path, ...], *, no_age: bool) -> int:
    """
    Check whether CloudWatch would extract metrics from log lines, and why not.

    FILES hold lines in Embedded Metric Format, whoever wrote them, plain or
    gzip; - is standard input. Lines that are no EMF are counted and left alone.
    """
    from neuron_emf.lint.listing import listing  # noqa: PLC0415 - as below
    from neuron_emf.lint.verdict import judge  # noqa: PLC0415 - --help needs none of it
    from neuron_emf.printing import progress, show  # noqa: PLC0415 - as above
    from neuron_emf.reading.files import numbered_lines  # noqa: PLC0415 - as above

    now_ms = None if no_age else int(time.time() * 1000)
    with progress("Reading lines") as advance:
        lines = numbered_lines(files, advance)
        verdicts = ((f"{path}:{number}", judge(line, now_ms)) for path, number, line in lines)
        shown, is_well = listing(verdicts)
    show(*shown)
    return 0 if is_well else 1
