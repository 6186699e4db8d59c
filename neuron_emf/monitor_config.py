"""The command `neuron-emf monitor-config`."""

from __future__ import annotations

import logging
from typing import Final

import click

from emitter.command_line import CONTEXT, print_lines
from emitter.logs import log_to_stderr
from emitter.settings import MonitorSettings
from emitter.settings.options import options

_EPILOG: Final = "Exit codes: 0 success, 2 usage error, 4 standard output cannot be written."

_log = logging.getLogger("emitter.monitor_config")


@click.command(name="monitor-config", context_settings=CONTEXT, epilog=_EPILOG)
@options(MonitorSettings)
def command(**values: object) -> None:
    """
    Print the configuration for neuron-monitor.

    To see what is asked for, to keep it in a file, or to start neuron-monitor
    elsewhere: `neuron-monitor -c FILE | neuron-emf run --input -`.
    """
    from emitter.reports.monitor_config import requested_config  # noqa: PLC0415 - --help needs none of it

    settings = MonitorSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    log_to_stderr(verbose=False)
    asked = requested_config(settings)
    for warning in asked.warnings:
        _log.warning(warning)
    print_lines([asked.text.rstrip("\n")])
