"""The command `neuron-emf findings`: the stack's open findings, or a verdict on an instance."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Final

import click
from rich.table import Table
from rich.text import Text

from neuron_accounts.findings import IDLE_OWNER, PARTITION, FindingsState, finding_id
from neuron_emf import command_output
from neuron_emf.account import account, documented, rows_of, stack_output
from neuron_emf.check.aws_client import AwsClient
from neuron_emf.command_options import (
    AccountSettings,
    AnswerSettings,
    ClusterSettings,
    PaymentSettings,
    flag,
    payment,
)
from neuron_emf.command_output import progress, show_answer
from neuron_emf.reading.log_group import ReadLimit
from neuron_emf.reading.periods import now_ms
from neuron_emf.verdict import instance_verdict
from neuron_emf.verdict.account_guards import ACCOUNT_GUARDS
from neuron_emf.verdict.account_reading import read_account_facts
from neuron_emf.verdict.line_guards import LINE_GUARDS
from neuron_emf.verdict.line_reading import read_line_facts, read_other_streams
from neuron_emitter.command_line import Command
from neuron_emitter.errors import EXIT_DESTINATION_REFUSED, EmitterError, SettingsError, SourceError
from neuron_emitter.settings.minute_settings import setting
from neuron_emitter.settings.options import options
from neuron_wire.line_members import iso_minute
from neuron_wire.names import EC2_INSTANCE_ID, MINUTE_MS
from neuron_words.name_words import safe_name
from neuron_words.quantity_words import counted, moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from neuron_accounts.findings import FindingKey, OpenFinding
    from neuron_accounts.payment import PaidByType
    from neuron_emf.account import Account
    from neuron_emf.verdict.instance_verdict import Verdict
    from neuron_wire.line_members import Members

    Listed = Sequence[tuple[FindingKey, OpenFinding]]

READ_TABLE: Final = "dynamodb:Query"
_OF_LINES: Final = ("stack_name", "log_group", "rollups_log_group", "paid_by_type")


class NotLookedUpError(EmitterError):
    """AWS rejected the request or did not answer, or there are no lines of the instance."""

    exit_code = EXIT_DESTINATION_REFUSED


@dataclass(frozen=True, kw_only=True)
class FindingsSettings(AccountSettings, AnswerSettings, PaymentSettings, ClusterSettings):
    """The findings to list, how an instance is paid, and the form of the answer."""

    kind: str = setting("", "Only findings of this kind, such as idle-instance.", metavar="KIND")
    all: bool = flag("With INSTANCE, also show every condition of the verdict.")


@click.command(
    name="findings",
    cls=Command,
    epilog=(
        "With INSTANCE it costs nothing: FilterLogEvents and the calls to EC2, Auto Scaling, "
        "ECS, SageMaker and Systems Manager are free. Exit codes: 0 findings are listed, "
        "or release; 1 ask; 2 usage error; 3 keep; 4 the lookup failed, "
        "or standard output takes nothing."
    ),
)
@click.argument("instance", required=False)
@options(FindingsSettings)
def command(instance: str | None, **values: object) -> int:
    """
    List open findings, or report what can be done about an idle INSTANCE.

    Without INSTANCE it reads the stack's table (dynamodb:Query) and its name
    (cloudformation:DescribeStacks). With INSTANCE it reads an hour of the
    instance's lines, its cluster and the account, and answers: release it, ask
    its owner, or keep it, with the commands for you to type. An unknown fact
    never releases it. It uses your AWS credentials and changes nothing.

    Before a release it reads all log streams of the log group, at most 300
    calls or 60 s. It does not see other log groups and regions.
    """
    settings = FindingsSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    try:
        if instance is None:
            return _list_findings(settings)
        return _judge_instance(settings, instance)
    except SourceError as error:
        raise NotLookedUpError(str(error)) from error


def _list_findings(settings: FindingsSettings) -> int:
    findings, waiting = read_findings(account(settings))
    chosen = [
        (key, finding)
        for key, finding in findings
        if settings.cluster in ("", key.cluster) and settings.kind in ("", key.kind)
    ]
    command_output.show_answer(
        chosen,
        partial(for_programs, waiting=waiting),
        partial(for_people, waiting=waiting),
        as_json=settings.json,
    )
    return 0


def read_findings(account: Account) -> tuple[list[tuple[FindingKey, OpenFinding]], int]:
    """
    Return the open findings of *account*, longest open first, and the number of unsent events.

    They are read from the table and not from log lines: the event of a finding may be weeks old.

    Raises:
        SourceError: If the stack or its table cannot be read.
    """
    findings: list[tuple[FindingKey, OpenFinding]] = []
    waiting = 0
    advice = "Correct --stack-name, or wait until its deployment has finished."
    table = stack_output(account, "RecordsTableName", advice)
    with documented(READ_TABLE):
        items = rows_of(
            account.client("dynamodb"),
            "query",
            "Items",
            TableName=table,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": PARTITION}},
        )
        for item in items:
            state = FindingsState.unpacked(bytes(item["r"]["B"]))
            waiting += len(state.due)
            findings += state.findings.items()
    return sorted(findings, key=lambda pair: (pair[1].since, pair[0])), waiting


def for_people(findings: Listed, waiting: int) -> list[RenderableType]:
    """Return the lines for people: a row for each of *findings*, and how many events wait."""
    table = Table(
        "Kind", "Cluster", "Instance or owner", "Since", "Steps", box=None, pad_edge=False
    )
    table.columns[-1].justify = "right"
    for key, finding in findings:
        names = safe_name(key.cluster), safe_name(key.subject)
        table.add_row(key.kind, *names, moment(finding.since * MINUTE_MS), str(finding.step))
    summary = f"{counted(len(findings), 'finding')} open."
    if waiting:
        summary += f" {counted(waiting, 'event')} not sent yet."
    return [*([table] if findings else []), Text(summary, no_wrap=True)]


def for_programs(findings: Listed, waiting: int) -> Members:
    """Return the members for programs, with the names that events have."""
    return {
        "findings": [
            {
                "Id": finding_id(key, finding.opened),
                "Step": finding.step,
                "Kind": key.kind,
                "ClusterName": key.cluster,
                "Owner" if key.kind == IDLE_OWNER else "InstanceId": key.subject,
                "Opened": iso_minute(finding.opened),
                "Since": iso_minute(finding.since),
                "LastStep": iso_minute(finding.stepped),
            }
            for key, finding in findings
        ],
        "events_not_sent": waiting,
    }


def _judge_instance(settings: FindingsSettings, instance: str) -> int:
    if not EC2_INSTANCE_ID.fullmatch(instance):
        msg = f"Invalid instance ID {instance[:40]!a}. Use one such as i-0123456789abcdef0."
        raise SettingsError(msg)
    if settings.cluster or settings.kind:
        msg = "--cluster and --kind choose findings of the list. Omit them with an INSTANCE."
        raise SettingsError(msg)
    looked_at = account(settings)
    paid_by_type = payment(settings.paid_by_type)
    with progress("Reading lines") as advance:
        limit = ReadLimit(advance)
        verdict = judge(
            looked_at,
            instance,
            now_ms(),
            limit,
            paid_by_type=paid_by_type,
            options=_options_again(settings),
        )
    for_people = partial(instance_verdict.for_people, is_whole=settings.all)
    show_answer(verdict, instance_verdict.for_programs, for_people, as_json=settings.json)
    return instance_verdict.EXIT_CODES[verdict.answer]


def judge(
    looked_at: Account,
    instance: str,
    now_ms: int,
    limit: ReadLimit,
    *,
    paid_by_type: PaidByType | None = None,
    options: str = "",
) -> Verdict:
    """
    Return the verdict on *instance*; its commands to ask again have *options*.

    Raises:
        SourceError: If the lines cannot be read, or not within *limit*.
    """
    guards = (*LINE_GUARDS, *ACCOUNT_GUARDS)
    lines = read_line_facts(looked_at, instance, now_ms, paid_by_type or {}, limit)
    facts = read_account_facts(AwsClient(looked_at), instance)
    verdict = instance_verdict.verdict(lines, facts, guards, options)
    if instance_verdict.needs_other_streams(verdict):
        lines = read_other_streams(looked_at, lines, limit)
        verdict = instance_verdict.verdict(lines, facts, guards, options)
    return verdict


def _options_again(settings: FindingsSettings) -> str:
    """Return the options that select the account and the stack, as text to type again."""
    return "".join(
        f" --{field.name.replace('_', '-')} {shlex.quote(getattr(settings, field.name))}"
        for field in fields(settings)
        if field.name in _OF_LINES and getattr(settings, field.name) != field.default
    )
