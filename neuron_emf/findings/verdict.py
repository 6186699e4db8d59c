"""Whether an instance may be given back: what guards say of its facts, and by which command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from neuron_emf import checks
from neuron_emf.findings.facts import AccountFacts, LineFacts, Untold
from neuron_wire.payment import SPOT
from neuron_wire.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from neuron_emf.checks import Check, CheckResult

UNSEEN: Final = (
    "logins that are no Session Manager session",
    "a job that starts now, or was submitted and waits",
    "data on its disks that somebody still needs",
    "lines that another machine writes under this InstanceId while its own emitter is down",
)
"""What no guard can see; a person looks before typing the command."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    What the guards say.

    Attributes:
        instance_id: The instance.

        results: How each guard ended.

        command: What a person may type, None when the instance may not be stopped.
    """

    instance_id: str
    results: Sequence[CheckResult]
    command: str | None

    @property
    def held_back_by(self) -> list[str]:
        """Names of the guards that did not pass; what nobody could tell never does."""
        return [one.check for one in checks.failures(self.results)]


def verdict(lines: LineFacts, account: AccountFacts, guards: Sequence[Check]) -> Verdict:
    """What *guards* say of these facts; an instance may be stopped when each of them passes."""
    results = [guard.result(lines, account) for guard in guards]
    command = None if checks.failures(results) else command_of(lines, account)
    return Verdict(lines.instance_id, results, command)


def command_of(lines: LineFacts, account: AccountFacts) -> str | None:
    """
    How the instance is given back: by its group, by its end, or by a stop.

    A group would start another instance for one that was stopped, and EC2 stops no spot
    instance that it was asked for once. None where the account tells neither.
    """
    ec2, group = account.ec2, account.group
    if isinstance(ec2, Untold) or isinstance(group, Untold):
        return None
    where = f" --region {lines.newest.region}" if lines.newest.region else ""
    if group is not None:
        return (
            "aws autoscaling terminate-instance-in-auto-scaling-group --instance-id "
            f"{lines.instance_id} --should-decrement-desired-capacity{where}"
        )
    action = "terminate-instances" if ec2.lifecycle == SPOT else "stop-instances"
    return f"aws ec2 {action} --instance-ids {lines.instance_id}{where}"


def for_people(found: Verdict) -> list[RenderableType]:
    """Each guard, what none of them sees, the verdict in one sentence, and the command."""
    from rich.text import Text  # noqa: PLC0415 - as `checks` does

    names, total = found.held_back_by, len(found.results)
    said = f"may be stopped: all {total} guards passed."
    if names:
        said = (
            f"may not be stopped: {', '.join(names)} ({counted(len(names), 'guard')} of {total})."
        )
    parts: list[RenderableType] = [
        *checks.for_people(found.results),
        f"Not seen by any guard: {'; '.join(UNSEEN)}.\n",
        Text(f"{found.instance_id} {said}", style="bold"),
    ]
    if found.command is not None:
        look = "Nothing was stopped. Look at the instance, then type:"
        parts += [look, Text(found.command, no_wrap=True)]
    return parts


def for_programs(found: Verdict) -> dict[str, Any]:
    """The same as one document."""
    return {
        "instance_id": found.instance_id,
        **checks.for_programs(found.results),
        "held_back_by": found.held_back_by,
        "not_seen": list(UNSEEN),
        "command": found.command,
    }
