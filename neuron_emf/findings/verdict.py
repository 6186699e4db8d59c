"""Whether an instance may be given back: what guards say of its facts, and by which command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from neuron_emf.findings.facts import AccountFacts, LineFacts, Untold
from neuron_wire.payment import SPOT

if TYPE_CHECKING:
    from collections.abc import Sequence

PASSED: Final = "ok"
FAILED: Final = "no"
UNKNOWN: Final = "unknown"

UNSEEN: Final = (
    "logins that are no Session Manager session",
    "a job that starts now, or was submitted and waits",
    "data on its disks that somebody still needs",
    "lines that another machine writes under this InstanceId while its own emitter is down",
)
"""What no guard can see; a person looks before typing the command."""


class Judgement(NamedTuple):
    """
    How a guard ended.

    Attributes:
        state: `ok`, `no` or `unknown`.

        value: What was found, for a person.
    """

    state: str
    value: str


Judge: TypeAlias = Callable[[LineFacts, AccountFacts], Judgement]


@dataclass(frozen=True, slots=True)
class Guard:
    """
    One thing that must hold.

    Attributes:
        name: Of the guard, such as `no-holder`.

        sentence: What must hold.

        judge: Whether it does.
    """

    name: str
    sentence: str
    judge: Judge


def judged(holds: bool, value: str) -> Judgement:  # noqa: FBT001 - what a guard is about
    """Passed if it *holds*, else failed."""
    return passed(value) if holds else failed(value)


def passed(value: str) -> Judgement:
    """It holds."""
    return Judgement(PASSED, value)


def failed(value: str) -> Judgement:
    """It does not."""
    return Judgement(FAILED, value)


def unknown(why: str) -> Judgement:
    """No judgement, because of *why*."""
    return Judgement(UNKNOWN, why)


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    What the guards say.

    Attributes:
        instance_id: The instance.

        judgements: Each guard, and how it ended.

        command: What a person may type, None when the instance may not be stopped.
    """

    instance_id: str
    judgements: Sequence[tuple[Guard, Judgement]]
    command: str | None

    @property
    def is_stoppable(self) -> bool:
        """Whether every guard passed."""
        return not self.held_back_by

    @property
    def held_back_by(self) -> list[str]:
        """Names of the guards that did not pass."""
        return [guard.name for guard, found in self.judgements if found.state != PASSED]


def verdict(lines: LineFacts, account: AccountFacts, guards: Sequence[Guard]) -> Verdict:
    """What *guards* say of these facts; an instance may be stopped when each of them passes."""
    judgements = [(guard, guard.judge(lines, account)) for guard in guards]
    is_stoppable = all(found.state == PASSED for _, found in judgements)
    command = command_of(lines, account) if is_stoppable else None
    return Verdict(lines.instance_id, judgements, command)


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
