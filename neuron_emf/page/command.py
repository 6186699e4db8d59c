"""The command `neuron-emf page`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from neuron_emf.account import account
from neuron_emf.command_options import FILE_PATH, AccountSettings, IdleSettings, flag
from neuron_emf.command_output import show_json, stop_event
from neuron_emf.page.server import HOST, PageServer
from neuron_emf.page.snapshot import write_snapshot
from neuron_emf.page.view import PageView, policy
from neuron_emf.reading.ledger_bucket import stack_ledger
from neuron_emitter.command_line import Command, print_lines
from neuron_emitter.errors import EmitterError, SettingsError
from neuron_emitter.settings.minute_settings import setting
from neuron_emitter.settings.options import options

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class PageSettings(AccountSettings, IdleSettings):
    """The address of the page, and the time after which it counts a core as idle."""

    port: int = setting(
        0, "Port on 127.0.0.1, 1 to 65535; 0 takes a free one.", kind=click.IntRange(0, 65_535)
    )
    policy: bool = flag("Print the IAM policy that the page needs and exit.")
    snapshot: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "Write the page with its current data to this file and exit: the file opens without a "
        "server and sends no request.",
        kind=FILE_PATH,
        metavar="FILE.html",
    )


@click.command(
    name="page",
    cls=Command,
    epilog=(
        "What looking costs: FilterLogEvents and DescribeAlarms are free; what they send over the "
        "internet is 0.09 USD per GB. A query of Logs Insights runs only when you press its "
        "button, which shows the price. Exit codes: 0 stopped by Ctrl-C or SIGTERM, 2 "
        "usage error, 3 no rehearsal runs, 4 standard output takes nothing."
    ),
)
@options(PageSettings)
def command(**values: object) -> int:
    """
    Serve a page on this machine: idle cores, who owns them, what they cost.

    Prints the address to open, with a token that only this run knows, and serves
    it on 127.0.0.1 until Ctrl-C. Reads the log groups and alarms of the stack
    with your AWS credentials and changes nothing.
    """
    settings = PageSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    looked_at = account(settings)
    if settings.policy:
        bucket = ""
        try:
            bucket = stack_ledger(looked_at).name
        except EmitterError as error:
            click.echo(f"{error} An adopted ledger bucket is not in this policy.", err=True)
        show_json(policy(looked_at, settings.region, bucket))
        return 0
    view = PageView(looked_at, idle_after_minutes=settings.idle_after)
    if settings.snapshot is not None:
        print_lines([write_snapshot(view, settings.snapshot)])
        return 0
    try:
        server = PageServer((HOST, settings.port), view)
    except OSError as error:
        msg = f"Cannot listen on {HOST}:{settings.port}: {error.strerror}. Use another --port."
        raise SettingsError(msg) from error
    stopped = stop_event()
    with server:
        print_lines([f"Open {server.url}"])
        stopped.wait()
    return 0
