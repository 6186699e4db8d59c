"""
The command line. It unpacks settings and calls; what a command does is elsewhere.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from emitter import __version__
from emitter.errors import EXIT_WRONG_USE, DeliveryError, EmitterError
from emitter.logs import log_to_stderr
from emitter.options import options
from emitter.settings import VARIABLE_PREFIX, ReplaySettings, RunSettings

if TYPE_CHECKING:
    from collections.abc import Iterable

_CONTEXT: Final = {
    "auto_envvar_prefix": VARIABLE_PREFIX,  # one variable per setting, whatever the command
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
}

_EPILOG: Final = (
    "Exit codes: 0 success, 2 wrong use, 3 the source of reports failed, "
    "4 the destination refused the records (they are kept in the spool)."
)


@click.group(context_settings=_CONTEXT, epilog=_EPILOG, no_args_is_help=False)
@click.version_option(__version__, prog_name="neuron-emf")
def cli() -> None:
    """
    See every Neuron cluster's utilization, and every idle core, in CloudWatch.

    Every option of a command can also be given as a variable
    (--log-group is NEURON_EMF_LOG_GROUP) or as a key of the TOML file
    (log-group = "..."); the flag wins over the variable, the variable over the file.
    """


@cli.command(context_settings=_CONTEXT, epilog=_EPILOG)
@options(RunSettings)
def run(**values: object) -> None:
    """
    Turn neuron-monitor reports into log lines, until stopped.
    """
    from emitter.service import serve  # noqa: PLC0415 - replay and --help need none of it

    settings = RunSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    log_to_stderr(verbose=settings.verbose)
    serve(settings)


@cli.command(context_settings=_CONTEXT, epilog=_EPILOG)
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
    _print(replayed(files, settings))


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
    """
    Keep what is still buffered from failing once more when the interpreter ends.
    """
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments: list[str] | None = None) -> None:
    """
    Run a command; end the process with its exit code.
    """
    try:
        code = cli.main(arguments, prog_name="neuron-emf", standalone_mode=False)
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


def _sentence(error: click.ClickException) -> str:
    words = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context is not None else "neuron-emf"
    return f"{' '.join(words.split())}; see {command} --help"
