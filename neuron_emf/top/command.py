"""The command `neuron-emf top`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from emitter.command_line import CONTEXT
from emitter.errors import SettingsError
from emitter.settings.options import options
from neuron_emf.top.settings import TopSettings

_EPILOG: Final = (
    "Cost: FilterLogEvents is free; its data transfer over the internet costs 0.09 USD "
    "per GB, about 0.01 USD an hour for 100 instances of 32 cores. --live-tail costs 0.01 USD a "
    "minute, 0.60 USD an hour, whatever the fleet; 1,800 minutes a month are free. "
    "Exit codes: 0 success, 2 usage error, 3 the lines could not be read, 4 standard output "
    "cannot be written."
)


@click.command(name="top", context_settings=CONTEXT, epilog=_EPILOG)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@options(TopSettings)
def command(files: tuple[Path, ...], **values: object) -> int:
    """
    Show the fleet now: clusters, their instances, their cores.

    From CloudWatch Logs, or from FILES with the emitters' lines, plain or gzip;
    - is standard input. On a terminal it refreshes until q: Enter goes into a
    cluster or an instance, Escape back, s sorts. Without a terminal it prints once.
    """
    from neuron_emf.top.watch import FleetWatch, show_once  # noqa: PLC0415 - --help needs none of it

    settings = TopSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    watch = FleetWatch(files, settings)
    if not watch.is_live:
        show_once(watch)
        return 0
    try:
        from neuron_emf.top.screen import TopScreen  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        msg = (
            f"The live view needs Textual, but {error.name} is not installed. "
            "Run python3 -m pip install textual, or use --once or --json."
        )
        raise SettingsError(msg) from error
    if settings.cluster:
        watch.require_cluster(watch.refresh())  # a screen would wait for what is mistyped
    TopScreen(watch).run()
    return 0
