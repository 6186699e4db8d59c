"""
A stack as CloudFormation has it, and a change set from its making to its end.

The stack holds the choices: of a parameter that is not named the value stays.
Nothing here deletes a stack, and nothing is executed that was not described.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from emitter.errors import SettingsError, SourceError
from neuron_emf.account import documented, error_code

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

CAPABILITIES: Final = ("CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND")
"""Roles without names of their own, and SAM's transform."""

NEW: Final = "REVIEW_IN_PROGRESS"  # a change set was made for it, and nothing of it yet
POLL_S: Final = 2.0
PATIENCE_S: Final = 3600.0

_ABSENT: Final = "ValidationError"  # of DescribeStacks, for a name that no stack has
_USABLE: Final = frozenset(
    {NEW, "CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE"}
)
_DONE: Final = frozenset({"CREATE_COMPLETE", "UPDATE_COMPLETE"})
_UNCHANGED: Final = ("didn't contain changes", "No updates are to be performed")


@dataclass(frozen=True, slots=True)
class Stack:
    """
    One stack as it is now.

    Attributes:
        name: Its name.

        status: As CloudFormation calls it, such as `UPDATE_COMPLETE`.

        parameters: What it was deployed with.

        outputs: By their keys.
    """

    name: str
    status: str
    parameters: Mapping[str, str]
    outputs: Mapping[str, str]

    @classmethod
    def read(cls, cloudformation: Any, name: str) -> Stack | None:  # noqa: ANN401 - boto3 publishes no types
        """
        The stack of that *name*; None when there is none.

        Raises:
            SourceError: If CloudFormation refuses to say.
        """
        with documented("cloudformation:DescribeStacks"):
            try:
                (found,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
            except Exception as error:
                if error_code(error) == _ABSENT and "does not exist" in str(error):
                    return None
                raise
            return cls(
                name=name,
                status=str(found["StackStatus"]),
                parameters={
                    one["ParameterKey"]: one.get("ParameterValue", "")
                    for one in found.get("Parameters", ())
                },
                outputs={one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", ())},
            )


@dataclass(frozen=True, slots=True)
class Change:
    """
    What would happen to one resource.

    Attributes:
        action: `Add`, `Modify` or `Remove`.

        resource: Its logical id.

        kind: Its type, such as `AWS::Lambda::Function`.

        is_replaced: It would be made anew, or may be.

        is_kept: CloudFormation would let the old one stand.
    """

    action: str
    resource: str
    kind: str
    is_replaced: bool
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """A change set that CloudFormation has reckoned and nobody has executed."""

    stack_name: str
    name: str
    changes: tuple[Change, ...]
    parameters: Mapping[str, str]


def given_parameters(
    declared: Sequence[str], named: Mapping[str, str], stack: Stack | None
) -> list[dict[str, object]]:
    """
    What CloudFormation is told: the *named*, and that the others keep what *stack* has.

    A parameter that the stack does not know yet is left out and takes its default.

    Raises:
        SettingsError: If the template has no parameter of a name.
    """
    unknown = sorted(named.keys() - set(declared))
    if unknown:
        msg = f"The template has no parameter {unknown[0]}. It has {', '.join(declared)}."
        raise SettingsError(msg)
    kept = stack.parameters if stack is not None and stack.status != NEW else {}
    return [
        {"ParameterKey": name, "ParameterValue": named[name]}
        if name in named
        else {"ParameterKey": name, "UsePreviousValue": True}
        for name in declared
        if name in named or name in kept
    ]


def require_usable(stack: Stack | None) -> None:
    """
    Make sure that *stack* can be changed.

    Raises:
        SourceError: If it is being changed, or has failed in a way that comes first.
    """
    if stack is None or stack.status in _USABLE:
        return
    advice = "Wait until it has finished."
    if stack.status == "ROLLBACK_COMPLETE":
        advice = f"Its first deployment failed: see its events, then delete the stack {stack.name}."
    elif not stack.status.endswith("IN_PROGRESS"):
        advice = "See the stack's events in the console of CloudFormation."
    msg = f"The stack {stack.name} cannot be changed: it is in {stack.status}. {advice}"
    raise SourceError(msg)


def make_change_set(
    cloudformation: Any,  # noqa: ANN401 - boto3 publishes no types
    stack: Stack | None,
    name: str,
    template_url: str,
    parameters: Sequence[Mapping[str, object]],
) -> ChangeSet | None:
    """
    Have CloudFormation reckon what would change; None when nothing would.

    Raises:
        SourceError: If it refuses the template or a value.
    """
    is_new = stack is None or stack.status == NEW
    change_set = f"neuron-emf-{secrets.token_hex(8)}"
    with documented("cloudformation:CreateChangeSet"):
        cloudformation.create_change_set(
            StackName=name,
            ChangeSetName=change_set,
            ChangeSetType="CREATE" if is_new else "UPDATE",
            TemplateURL=template_url,
            Parameters=parameters,
            Capabilities=list(CAPABILITIES),
        )
    answer = _described(cloudformation, name, change_set)
    if answer["Status"] == "FAILED":
        drop_change_set(cloudformation, name, change_set)
        reason = str(answer.get("StatusReason", ""))
        if any(words in reason for words in _UNCHANGED):
            return None
        msg = f"CloudFormation rejected the change: {' '.join(reason.split())[:500]}"
        raise SourceError(msg)
    return ChangeSet(
        stack_name=name,
        name=change_set,
        changes=tuple(_change(one["ResourceChange"]) for one in answer["Changes"]),
        parameters=_after(answer.get("Parameters", ()), parameters, stack),
    )


def drop_change_set(cloudformation: Any, stack_name: str, name: str) -> None:  # noqa: ANN401 - as above
    """Delete a change set that nobody will execute; the stack stays as it is."""
    with documented("cloudformation:DeleteChangeSet"):
        cloudformation.delete_change_set(StackName=stack_name, ChangeSetName=name)


def execute(
    cloudformation: Any,  # noqa: ANN401 - as above
    change_set: ChangeSet,
    say: Callable[[str], None],
) -> Stack:
    """
    Execute *change_set* and wait for its end; *say* hears why something failed.

    Raises:
        SourceError: If the stack did not get there.
    """
    since = time.time()
    with documented("cloudformation:ExecuteChangeSet"):
        cloudformation.execute_change_set(
            StackName=change_set.stack_name, ChangeSetName=change_set.name
        )
    stack = wait_until_done(cloudformation, change_set.stack_name)
    if stack.status in _DONE:
        return stack
    for reason in _failures(cloudformation, change_set.stack_name, since):
        say(reason)
    msg = (
        f"The stack {stack.name} was not deployed: it is in {stack.status}. "
        "The first failure is above."
    )
    raise SourceError(msg)


def wait_until_done(cloudformation: Any, name: str) -> Stack:  # noqa: ANN401 - as above
    """
    The stack of that *name* when nothing is being done to it.

    Raises:
        SourceError: If that takes longer than `PATIENCE_S`.
    """
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        stack = Stack.read(cloudformation, name)
        if stack is not None and stack.status != NEW and not stack.status.endswith("_IN_PROGRESS"):
            return stack
        time.sleep(POLL_S)
    msg = f"The stack {name} was not ready after {PATIENCE_S / 60:.0f} minutes. See its events."
    raise SourceError(msg)


def _described(cloudformation: Any, stack_name: str, name: str) -> dict[str, Any]:  # noqa: ANN401 - as above
    """The change set with all its pages, when CloudFormation has reckoned it."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with documented("cloudformation:DescribeChangeSet"):
            answer = dict(
                cloudformation.describe_change_set(StackName=stack_name, ChangeSetName=name)
            )
            if str(answer["Status"]) in {"CREATE_COMPLETE", "FAILED"}:
                token = answer.get("NextToken")
                while token:
                    page = cloudformation.describe_change_set(
                        StackName=stack_name, ChangeSetName=name, NextToken=token
                    )
                    answer["Changes"] = [*answer["Changes"], *page["Changes"]]
                    token = page.get("NextToken")
                return answer
        time.sleep(POLL_S)
    msg = f"The change set {name} was not ready after {PATIENCE_S / 60:.0f} minutes."
    raise SourceError(msg)


def _after(
    answered: Sequence[Mapping[str, str]],
    given: Sequence[Mapping[str, object]],
    stack: Stack | None,
) -> dict[str, str]:
    """Values after the change; those that stay are the stack's own, whatever the answer has."""
    before = stack.parameters if stack is not None else {}
    kept = {str(one["ParameterKey"]) for one in given if one.get("UsePreviousValue")}
    return {
        name: before[name] if name in kept else one.get("ParameterValue", "")
        for one in answered
        for name in (one["ParameterKey"],)
    }


def _change(row: Mapping[str, Any]) -> Change:
    return Change(
        action=str(row["Action"]),
        resource=str(row["LogicalResourceId"]),
        kind=str(row["ResourceType"]),
        is_replaced=str(row.get("Replacement", "False")) != "False",
        is_kept="Retain" in str(row.get("PolicyAction")),
    )


def _failures(cloudformation: Any, name: str, since: float) -> list[str]:  # noqa: ANN401 - as above
    """What failed since *since*, the first first; what was only cancelled is left out."""
    with documented("cloudformation:DescribeStackEvents"):
        events = cloudformation.describe_stack_events(StackName=name)["StackEvents"]
        rows = [
            f"{row['LogicalResourceId']} ({row['ResourceType']}): {row.get('ResourceStatusReason')}"
            for row in events
            if row["ResourceStatus"].endswith("_FAILED")
            and row["Timestamp"].timestamp() >= since - 60
            and "cancelled" not in str(row.get("ResourceStatusReason"))
        ]
    return rows[::-1][:5]
