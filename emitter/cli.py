"""The command line. It unpacks settings and calls; what a command does is elsewhere."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from emitter import __version__
from emitter.commands.group import CONTEXT, CommandGroup
from emitter.errors import EXIT_WRONG_USE, DeliveryError, EmitterError, SettingsError
from emitter.logs import log_to_stderr
from emitter.options import options
from emitter.settings import MonitorSettings, ReplaySettings, RunSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

    from emitter.commands.printing import Advance

_DIMENSION_FLAGS: Final = ("-d", "--common-dims")

_EPILOG: Final = (
    "Exit codes: 0 success, 2 wrong use, 3 the source of reports failed, "
    "4 the destination refused the records (they are kept in the spool); "
    "of check and lint: 1 something is wrong."
)
_REPLAY_EPILOG: Final = (
    "Exit codes: 0 success, 2 wrong use, 3 a file holds no report, 4 standard output takes nothing."
)
_MONITOR_CONFIG_EPILOG: Final = (
    "Exit codes: 0 success, 2 wrong use, 4 standard output takes nothing."
)

_log = logging.getLogger(__name__)


@click.group(cls=CommandGroup, context_settings=CONTEXT, epilog=_EPILOG, no_args_is_help=False)
@click.version_option(__version__, prog_name="neuron-emf")
def cli() -> None:
    """
    See every Neuron cluster's utilization, and every idle core, in CloudWatch.

    Every option of a command can also be given as a variable
    (--log-group is NEURON_EMF_LOG_GROUP), those of run and replay also as a key
    of the TOML file (log-group = "..."); the flag wins over the variable, the
    variable over the file.
    """


@cli.command(context_settings=CONTEXT, epilog=_EPILOG)
@options(RunSettings)
@click.pass_context
def run(context: click.Context, /, **values: object) -> None:
    """
    Turn neuron-monitor reports into log lines, until stopped.

    SIGTERM and SIGINT end it in order; SIGHUP makes it read its configuration
    again, which counts from the next minute on.
    """
    from emitter.service import serve  # noqa: PLC0415 - replay and --help need none of it

    settings = RunSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    log_to_stderr(verbose=settings.verbose)
    serve(settings, lambda: _read_again(context))


def _read_again(context: click.Context) -> RunSettings:
    """
    The settings as flags, variables and the file say now.

    Raises:
        SettingsError: If they cannot be used.
    """
    words: Sequence[str] = context.obj
    try:
        with run.make_context("run", list(words), parent=context.parent) as found:
            return RunSettings(**found.params)
    except click.ClickException as error:
        raise SettingsError(error.format_message()) from error


@cli.command(context_settings=CONTEXT, epilog=_REPLAY_EPILOG)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@options(ReplaySettings)
def replay(files: tuple[Path, ...], **values: object) -> None:
    """
    Print the lines that would be sent for saved reports.

    FILES hold reports as neuron-monitor writes them. The same input gives the
    same bytes, whenever and wherever it is run.
    """
    from emitter.replay import replay as replayed  # noqa: PLC0415 - as above

    settings = ReplaySettings(**values)  # type: ignore[arg-type]  # as above
    log_to_stderr(verbose=False)
    with _progress("Reading reports") as advance:
        _print(replayed(files, settings, advance))


@cli.command(name="monitor-config", context_settings=CONTEXT, epilog=_MONITOR_CONFIG_EPILOG)
@options(MonitorSettings)
def print_monitor_config(**values: object) -> None:
    """
    Print what neuron-monitor is asked for.

    To see what is asked for, to keep it in a file, or to start neuron-monitor
    elsewhere: `neuron-monitor -c FILE | neuron-emf run --input -`.
    """
    from emitter.reports.asked import asked_for  # noqa: PLC0415 - as above

    settings = MonitorSettings(**values)  # type: ignore[arg-type]  # as above
    log_to_stderr(verbose=False)
    asked = asked_for(settings)
    for warning in asked.warnings:
        _log.warning(warning)
    _print([asked.text.rstrip("\n")])


def _progress(what: str) -> AbstractContextManager[Advance]:
    """A bar on standard error, unless the lines themselves are on the screen."""
    from emitter.commands import printing  # noqa: PLC0415 - `run` needs no bar

    return printing.progress(what, is_wanted=sys.stdout is not None and not sys.stdout.isatty())


def _print(lines: Iterable[str]) -> None:
    if sys.stdout is None:
        msg = "standard output was expected to take lines and is closed: open it"
        raise DeliveryError(msg)
    try:
        for line in lines:
            sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has what it wanted (`replay ... | head`).
        _forget_output()
    except OSError as error:
        msg = f"standard output was expected to take lines and does not: {error.strerror}"
        raise DeliveryError(msg) from error


def _forget_output() -> None:
    """Keep what is still buffered from failing once more when the interpreter ends."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments: list[str] | None = None) -> None:
    """Run a command; end the process with its exit code."""
    words = _joined_dimensions(sys.argv[1:] if arguments is None else arguments)
    try:
        # What stands behind the command is kept: SIGHUP reads it again.
        code = cli.main(words, prog_name="neuron-emf", standalone_mode=False, obj=words[1:])
    except click.ClickException as error:
        click.echo(f"neuron-emf: {_sentence(error)}", err=True)
        sys.exit(EXIT_WRONG_USE)
    except EmitterError as error:
        _forget_output()
        click.echo(f"neuron-emf: {error}", err=True)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)  # 128 + SIGINT, as shells have it
    sys.exit(code if isinstance(code, int) else 0)


def _joined_dimensions(words: Sequence[str]) -> list[str]:
    """`run -d instance_id ami_id` as `run -d instance_id,ami_id`: so the old script takes them."""
    if words[:1] != ["run"]:
        return list(words)
    joined: list[str] = []
    for word in words:
        is_one_more = joined[-2:-1] and joined[-2] in _DIMENSION_FLAGS and not word.startswith("-")
        if is_one_more:
            joined[-1] += f",{word}"
        else:
            joined.append(word)
    return joined


def _sentence(error: click.ClickException) -> str:
    words = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context is not None else "neuron-emf"
    return f"{' '.join(words.split())}; see {command} --help"
