"""`neuron-emf chargeback`: what each owner pays of a month."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from emitter.command_line import CONTEXT
from emitter.errors import SettingsError
from emitter.settings.options import options
from neuron_emf.chargeback.settings import ChargebackSettings

_EPILOG: Final = (
    "Exit codes: 0 success, 2 usage error, 3 the ledger or the bill could not be read, "
    "4 a file or standard output cannot be written."
)


@click.command(name="chargeback", context_settings=CONTEXT, epilog=_EPILOG)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--bill",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE...",
    help="AWS's FOCUS 1.2 export of the month (table FOCUS_1_2_AWS, hourly, gzip CSV), and of "
    "months before for upfront fees; by default the ledger's list prices.",
)
@options(ChargebackSettings)
def command(files: tuple[Path, ...], bill: tuple[Path, ...], **values: object) -> int:
    """
    What each owner pays of a month: at list cost, or of AWS's own bill.

    From the ledger of a stack. With --bill every hour of an instance is split by
    the core-minutes that its owners held, and what goes in comes out to the last
    digit. FILES are more files of the bill: --bill *.csv.gz.
    """
    from neuron_emf import printing  # noqa: PLC0415 - --help needs none of it
    from neuron_emf.chargeback import listing  # noqa: PLC0415 - as above
    from neuron_emf.chargeback.run import chargeback  # noqa: PLC0415 - as above

    if files and not bill:
        msg = f"{files[0]} is no option. Write --bill before the files of a bill."
        raise SettingsError(msg)
    settings = ChargebackSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    result = chargeback(settings, (*bill, *files))
    printing.show(*listing.parts(result, settings.rows))
    return 0
