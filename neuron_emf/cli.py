"""The command line. A command is imported only when it is called; its name needs no import."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final

import click

from neuron_emitter import __version__, command_line
from neuron_emitter.command_line import CONTEXT_SETTINGS, PROGRAM_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from neuron_emitter.command_line import Advance


COMMANDS_BY_ASKER: Final = {
    "On an instance": {
        "run": "Turn neuron-monitor reports into log lines, until stopped.",
        "replay": "Print the lines that would be sent for saved reports.",
        "check": "Check everything a first record needs, and what is missing.",
    },
    "See what is idle": {
        "top": "Show the current idle cores, their owners, their cost and firing alarms.",
        "page": "Serve a page on this machine: idle cores, who owns them, what they cost.",
        "report": "Idle hours and cost of a period: the idle report.",
        "findings": "List open findings, or report what can be done about an idle INSTANCE.",
    },
    "Install and pay": {
        "deploy": "Deploy the stack of this release, or change or upgrade an existing one.",
        "cost": "Estimate a fleet's monthly bill, and the cost of the alternatives.",
    },
    "Lines and profiles": {
        "lint": "Check whether CloudWatch would extract metrics from log lines, and why not.",
        "profile": "Turn a profiler's summary into log lines next to the fleet's metrics.",
    },
}
"""Commands by heading of `--help`; a test compares the sentences with the commands' own."""

COMMANDS: Final = dict(row for group in COMMANDS_BY_ASKER.values() for row in group.items())
_OF_EMITTER: Final = ("run", "replay")  # in neuron_emitter.cli


class CommandGroup(click.Group):
    """The commands of `COMMANDS`. Only the called command is imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return all names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command with the name *cmd_name*; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        if cmd_name in _OF_EMITTER:
            command: click.Command = getattr(import_module("neuron_emitter.cli"), cmd_name)
        else:
            command = import_module(f"neuron_emf.{cmd_name}.command").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, or raise an error that suggests the most similar name."""
        name = args[0]
        if name not in COMMANDS:
            from difflib import get_close_matches  # noqa: PLC0415 - 3 ms of each start, for a typo

            meant = "".join(get_close_matches(name, COMMANDS, 1))
            ctx.fail(f"No such command {name!r}" + (f" (did you mean {meant!r}?)" if meant else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands by the sentences of the table, without importing them."""
        width = max(map(len, COMMANDS))
        for heading, group in COMMANDS_BY_ASKER.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), text) for name, text in group.items()])


@click.group(
    cls=CommandGroup,
    context_settings=CONTEXT_SETTINGS,
    epilog=(
        "Exit codes: 0 success, 2 usage error, 3 the source of reports failed, "
        "4 the destination rejected the records (they stay in the spool); "
        "check and lint: 1 a problem was found; findings INSTANCE: 0 release it, 1 ask its owner, "
        "3 keep it; report --bill: 5 the month does not reconcile."
    ),
    no_args_is_help=False,
)
@click.version_option(__version__, prog_name=PROGRAM_NAME)
def cli() -> None:
    """
    See every Neuron cluster's utilization, and every idle core, in CloudWatch.

    Every option of a command can also be given as a variable
    (--log-group is NEURON_EMF_LOG_GROUP), those of run and replay also as a key
    of the TOML file (log-group = "..."); the flag wins over the variable, the
    variable over the file.
    """


def _progress(what: str) -> AbstractContextManager[Advance]:
    """Return a progress bar on standard error, unless the lines themselves are on the screen."""
    from neuron_emf import command_output  # noqa: PLC0415 - 22 ms and 2 MB that `run` saves

    return command_output.progress(
        what, is_wanted=sys.stdout is not None and not sys.stdout.isatty()
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and end the process with its exit code."""
    command_line.main(cli, arguments, _progress)
