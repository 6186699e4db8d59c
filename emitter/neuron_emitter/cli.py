"""The commands of an instance: `run` and `replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource

from neuron_emitter import __version__, command_line
from neuron_emitter.command_line import (
    CONTEXT_SETTINGS,
    PROGRAM_NAME,
    Command,
    Invocation,
    Option,
    print_lines,
)
from neuron_emitter.errors import SettingsError
from neuron_emitter.logs import log_to_stderr
from neuron_emitter.replay import replay as replayed
from neuron_emitter.run import service
from neuron_emitter.settings import ReplaySettings, RunSettings
from neuron_emitter.settings.options import options

RUN_EPILOG: Final = (
    "Exit codes: 0 success, 2 usage error, 3 the source of reports failed, "
    "4 the destination refused the records (they are kept in the spool)."
)
_PRINT_MONITOR_CONFIG: Final = "print_monitor_config"
_REPLAY_EPILOG: Final = (
    "Exit codes: 0 success, 2 usage error, 3 a file holds no report, "
    "4 standard output takes nothing."
)


@click.command(cls=Command, epilog=RUN_EPILOG)
@options(RunSettings)
@click.option(
    f"--{_PRINT_MONITOR_CONFIG.replace('_', '-')}",
    cls=Option,
    is_advanced=True,
    is_flag=True,
    allow_from_autoenv=False,
    help="Print the configuration for neuron-monitor and exit.",
)
@click.pass_context
def run(context: click.Context, /, **values: object) -> None:
    """
    Turn neuron-monitor reports into log lines, until stopped.

    SIGTERM and SIGINT stop it cleanly. SIGHUP makes it read its configuration
    again, which counts from the next minute on.
    """
    is_asked_to_print = values.pop(_PRINT_MONITOR_CONFIG)
    settings = RunSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    log_to_stderr(verbose=settings.verbose)
    if is_asked_to_print:
        print_lines([service.logged_config(settings).text.rstrip("\n")])
        return
    invocation: Invocation = context.obj
    service.serve(
        settings,
        lambda: _read_again(context),
        is_input_given=context.get_parameter_source("input") is not ParameterSource.DEFAULT,
        unnamed_cluster=invocation.unnamed_cluster,
    )


def _read_again(context: click.Context) -> RunSettings:
    """
    Read flags, variables and the configuration file again.

    Raises:
        SettingsError: If they cannot be used.
    """
    invocation: Invocation = context.obj
    try:
        with run.make_context("run", list(invocation.words), parent=context.parent) as found:
            values = {
                name: value for name, value in found.params.items() if name != _PRINT_MONITOR_CONFIG
            }
            return RunSettings(**values)
    except click.ClickException as error:
        raise SettingsError(error.format_message()) from error


@click.command(cls=Command, epilog=_REPLAY_EPILOG)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@options(ReplaySettings)
@click.pass_obj
def replay(invocation: Invocation, /, files: tuple[Path, ...], **values: object) -> None:
    """
    Print the lines that would be sent for saved reports.

    FILES hold reports as neuron-monitor writes them, plain or compressed with gzip. The same
    input gives the same bytes, whenever and wherever it is run.
    """
    settings = ReplaySettings(**values)  # type: ignore[arg-type]  # as above
    log_to_stderr(verbose=False)
    with invocation.progress("Reading reports") as advance:
        print_lines(replayed(files, settings, advance))


@click.group(context_settings=CONTEXT_SETTINGS, epilog=RUN_EPILOG, no_args_is_help=False)
@click.version_option(__version__, prog_name=PROGRAM_NAME)
def cli() -> None:
    """Turn neuron-monitor reports into log lines for CloudWatch."""


cli.add_command(run)
cli.add_command(replay)


def main() -> None:
    """Run `python -m neuron_emitter`."""
    command_line.main(cli)
