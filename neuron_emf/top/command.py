"""The command `neuron-emf top`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from neuron_emf.account import account
from neuron_emf.command_options import AccountSettings, AnswerSettings, ClusterSettings, flag
from neuron_emf.command_output import show, show_json, stop_event
from neuron_emf.page.view import PageView
from neuron_emf.reading import periods
from neuron_emf.top.listing import answer_of_files, answer_of_view, parts_of, watch
from neuron_emitter.command_line import Command
from neuron_emitter.errors import SettingsError
from neuron_emitter.settings.options import options


@dataclass(frozen=True, kw_only=True)
class TopSettings(AccountSettings, AnswerSettings, ClusterSettings):
    """The stack or the files to show, and whether the answer is refreshed."""

    once: bool = flag("Print the answer once and exit; the default without a terminal.")


@click.command(
    name="top",
    cls=Command,
    epilog=(
        "Cost: FilterLogEvents and DescribeAlarms are free; their data transfer over the internet "
        "costs 0.09 USD per GB. Exit codes: 0 success or stopped by Ctrl-C or SIGTERM, 2 usage "
        "error, 3 AWS rejected the request or did not answer, 4 standard output cannot be written."
    ),
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@options(TopSettings)
def command(files: tuple[Path, ...], **values: object) -> int:
    """
    Show the current idle cores, their owners, their cost and firing alarms.

    It prints the first screen of neuron-emf page as text, from the rollups and
    alarms of the stack; without a stack, from the minute lines of the emitters.
    With FILES of rollup or minute lines it shows their newest lines and reads no
    account. On a terminal it refreshes each minute until Ctrl-C; without a
    terminal it prints once. It uses your AWS credentials and changes nothing.
    """
    settings = TopSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    if files and settings.rehearsal:
        msg = "FILES cannot be combined with --rehearsal. Omit one or the other."
        raise SettingsError(msg)
    if files:
        ask = partial(answer_of_files, files, settings.cluster)
    else:
        view = PageView(account(settings), now_ms=periods.now_ms)
        ask = partial(answer_of_view, view, settings.cluster)
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    if settings.json:
        show_json(ask())
    elif is_terminal and not settings.once and not files:
        watch(ask, stop_event().wait)
    else:
        show(*parts_of(ask()))
    return 0
