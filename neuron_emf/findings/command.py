"""The command `neuron-emf findings`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import click

from emitter.command_line import Command
from emitter.errors import SettingsError
from emitter.settings.declaration import setting
from emitter.settings.options import options
from neuron_emf.options import (
    AccountSettings,
    AnswerSettings,
    ClusterSettings,
    PaymentSettings,
    payment,
)

EXIT_HELD_BACK: Final = 1
_INSTANCE_ID: Final = re.compile(r"i-[0-9a-z]{1,17}")
_EPILOG: Final = (
    "Of an INSTANCE it costs nothing: FilterLogEvents and the questions to EC2, Auto Scaling, "
    "ECS and Systems Manager are free. Exit codes: 0 success, or the instance may be stopped, "
    "1 it may not, 2 usage error, 3 AWS rejected the request or did not answer, or there are no "
    "lines of the instance, 4 standard output takes nothing."
)


@dataclass(frozen=True, kw_only=True)
class FindingsSettings(AccountSettings, AnswerSettings, PaymentSettings, ClusterSettings):
    """Which findings, how an instance is paid, and how both are shown."""

    kind: str = setting("", "Only findings of this kind, such as idle-instance.", metavar="KIND")


@click.command(name="findings", cls=Command, epilog=_EPILOG)
@click.argument("instance", required=False)
@options(FindingsSettings)
def command(instance: str | None, **values: object) -> int:
    """
    List open findings, or say whether an idle INSTANCE may be given back.

    Without INSTANCE it reads the stack's table (dynamodb:Query) and its name
    (cloudformation:DescribeStacks). Of an INSTANCE it looks at an hour of its
    lines, at its cluster and at the account: each guard is listed with what was
    found. What cannot be told never passes. It acts with your AWS credentials
    and changes nothing: the command to stop is printed for you.
    """
    settings = FindingsSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    if instance is None:
        return _list_findings(settings)
    if not _INSTANCE_ID.fullmatch(instance):
        msg = f"{instance[:40]!a} is no id of an EC2 instance. Write it as i-0123456789abcdef0."
        raise SettingsError(msg)
    if settings.cluster or settings.kind:
        msg = "--cluster and --kind choose findings of the list. Omit them with an INSTANCE."
        raise SettingsError(msg)
    return _judge_instance(settings, instance)


def _list_findings(settings: FindingsSettings) -> int:
    from neuron_emf import printing  # noqa: PLC0415 - --help needs none
    from neuron_emf.account import account  # noqa: PLC0415 - as above
    from neuron_emf.findings.listing import members, shown  # noqa: PLC0415 - as above
    from neuron_emf.findings.reading import read_findings  # noqa: PLC0415 - as above

    found, waiting = read_findings(account(settings))
    chosen = [
        (key, one)
        for key, one in found
        if settings.cluster in ("", key.cluster) and settings.kind in ("", key.kind)
    ]
    if settings.json:
        printing.show_json(members(chosen, waiting))
    else:
        printing.show(*shown(chosen, waiting))
    return 0


def _judge_instance(settings: FindingsSettings, instance: str) -> int:
    # --help needs none of these
    from neuron_emf.account import account  # noqa: PLC0415
    from neuron_emf.check.aws_client import AwsClient  # noqa: PLC0415
    from neuron_emf.findings.account_guards import ACCOUNT_GUARDS  # noqa: PLC0415
    from neuron_emf.findings.account_reading import read_account_facts  # noqa: PLC0415
    from neuron_emf.findings.line_guards import LINE_GUARDS  # noqa: PLC0415
    from neuron_emf.findings.line_reading import read_line_facts  # noqa: PLC0415
    from neuron_emf.findings.listing import shown_verdict, verdict_members  # noqa: PLC0415
    from neuron_emf.findings.verdict import verdict  # noqa: PLC0415
    from neuron_emf.printing import progress, show, show_json  # noqa: PLC0415
    from neuron_emf.reading.periods import now_ms  # noqa: PLC0415

    looked_at, paid_by_type = account(settings), payment(settings.paid_by_type)
    with progress("Reading lines"):
        lines = read_line_facts(looked_at, instance, now_ms(), paid_by_type)
        facts = read_account_facts(AwsClient(looked_at), instance)
        found = verdict(lines, facts, (*LINE_GUARDS, *ACCOUNT_GUARDS))
    if settings.json:
        show_json(verdict_members(found))
    else:
        show(*shown_verdict(found))
    return 0 if found.is_stoppable else EXIT_HELD_BACK
