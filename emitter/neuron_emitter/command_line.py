"""
How a command starts and ends: its context, its output and its exit code.

It imports little, because `neuron-emf --help` loads this module and click, and no settings.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, nullcontext
from os import O_WRONLY
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from neuron_emitter import VARIABLE_PREFIX
from neuron_emitter.errors import EXIT_WRONG_USE, DeliveryError, EmitterError
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    Advance = Callable[[float, float | None], None]

PROGRAM_NAME: Final = "neuron-emf"
CONTEXT_SETTINGS: Final = {
    "auto_envvar_prefix": VARIABLE_PREFIX,  # each setting has the same variable in every command
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
}
"""Click's context settings, the same for every command."""

DEFAULT_OPTION_GROUP: Final = "Options"
"""The heading of options that belong to no other heading."""

_IS_WHOLE: Final = "neuron_emitter.command_line.is_whole"
"""The key in click's `meta` that holds True if all options are shown."""

_DIMENSION_FLAGS: Final = ("-d", "--common-dims")


class Option(click.Option):
    """An option that `--help-all` shows under its heading, and `--help` unless it is advanced."""

    def __init__(
        self,
        *names: Any,  # noqa: ANN401 - as click declares them
        heading: str = DEFAULT_OPTION_GROUP,
        is_advanced: bool = False,
        **attributes: Any,  # noqa: ANN401 - as above
    ) -> None:
        """Pass *names* and *attributes* to click."""
        super().__init__(*names, **attributes)
        self.heading = heading
        self.is_advanced = is_advanced


class Command(click.Command):
    """A command in the context of neuron-emf; with advanced options it has `--help-all`."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - as above
        """Pass *attributes* to click."""
        super().__init__(context_settings=CONTEXT_SETTINGS, **attributes)
        self._advanced = sum(getattr(param, "is_advanced", False) for param in self.params)
        if self._advanced:
            whole = click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                allow_from_autoenv=False,
                callback=_show_whole_help,
                help="Show all options and exit.",
            )
            self.params.append(whole)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options that most people need in one list, or all options by heading."""
        is_whole = _IS_WHOLE in ctx.meta
        sections: dict[str, list[tuple[str, str]]] = {DEFAULT_OPTION_GROUP: []}
        for param in self.get_params(ctx):
            record = None if isinstance(param, click.Argument) else param.get_help_record(ctx)
            if record and (is_whole or not getattr(param, "is_advanced", False)):
                heading = (
                    getattr(param, "heading", DEFAULT_OPTION_GROUP)
                    if is_whole
                    else DEFAULT_OPTION_GROUP
                )
                sections.setdefault(heading, []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the epilog, then the number of hidden options."""
        super().format_epilog(ctx, formatter)
        if self._advanced and _IS_WHOLE not in ctx.meta:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(f"--help-all shows {counted(self._advanced, 'more option')}.")


def _show_whole_help(context: click.Context, _parameter: click.Parameter, is_asked: bool) -> None:  # noqa: FBT001 - click's call
    if is_asked and not context.resilient_parsing:
        context.meta[_IS_WHOLE] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


def no_progress(_what: str) -> AbstractContextManager[Advance]:
    """Return progress that draws no bar, for `python -m neuron_emitter`."""
    return nullcontext(lambda _done, _total=None: None)


class Invocation(NamedTuple):
    """
    The object that click hands to every command as `context.obj`.

    Attributes:
        words: The arguments after the command's name; SIGHUP reads them again.

        progress: Shows the progress of the named work.

        unnamed_cluster: The cluster name to use if none is found; if empty, the command refuses to
            run.
    """

    words: Sequence[str]
    progress: Callable[[str], AbstractContextManager[Advance]] = no_progress
    unnamed_cluster: str = ""


def main(
    program: click.Command,
    arguments: Sequence[str] | None = None,
    progress: Callable[[str], AbstractContextManager[Advance]] = no_progress,
    unnamed_cluster: str = "",
) -> None:
    """Run a command of *program*; end the process with its exit code."""
    words = _joined_dimensions(sys.argv[1:] if arguments is None else arguments)
    try:
        invocation = Invocation(words[1:], progress, unnamed_cluster)
        code = program.main(words, prog_name=PROGRAM_NAME, standalone_mode=False, obj=invocation)
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        if words or context is None:
            click.echo(f"{PROGRAM_NAME}: {_sentence(error, context)}", err=True)
        # the user named no command: show the help, and exit with a failure so that a script notices
        else:
            click.echo(context.get_help(), err=True)
        sys.exit(EXIT_WRONG_USE)
    except EmitterError as error:
        _forget_output()
        click.echo(f"{PROGRAM_NAME}: {error}", err=True)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)  # 128 + SIGINT, as shells report it
    sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def checked_output() -> Iterator[None]:
    """
    Write to standard output. A reader that stops early (`replay ... | head`) is not a failure.

    Raises:
        DeliveryError: If it cannot be written.
    """
    if sys.stdout is None:
        msg = "Standard output is closed. Open it, or redirect it to a file."
        raise DeliveryError(msg)
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
    except OSError as error:
        msg = f"Cannot write to standard output: {error.strerror}. Redirect it to another file."
        raise DeliveryError(msg) from error


def print_lines(lines: Iterable[str]) -> None:
    """Print *lines*, with the errors of `checked_output`."""
    with checked_output():
        for line in lines:
            sys.stdout.write(f"{line}\n")


def _forget_output() -> None:
    """Drop buffered output, so that it does not fail again when the interpreter exits."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, O_WRONLY), sys.stdout.fileno())


def _joined_dimensions(words: Sequence[str]) -> list[str]:
    """Rewrite `run -d instance_id ami_id`, the old script's form, to `-d instance_id,ami_id`."""
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


def _sentence(error: click.ClickException, context: click.Context | None) -> str:
    words = error.format_message().rstrip(".")
    command = context.command_path if context is not None else PROGRAM_NAME
    return f"{' '.join(words.split())}. See {command} --help."
