"""
A change set from its making to its execution.

Nothing is executed that was not described, and none is left that nobody executes.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from emitter.errors import SourceError
from neuron_emf.account import documented
from neuron_emf.deploy.stack import NEW, until, values_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from neuron_emf.deploy.stack import Stack

CAPABILITIES: Final = ("CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND")
"""Roles without names of their own, and SAM's transform."""

_UNCHANGED: Final = ("didn't contain changes", "No updates are to be performed")


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


def make_change_set(
    cloudformation: Any,  # noqa: ANN401 - boto3 publishes no types
    stack: Stack | None,
    name: str,
    template_url: str,
    parameters: Sequence[Mapping[str, object]],
    *,
    choices: Mapping[str, object],
) -> ChangeSet | None:
    """
    Have CloudFormation reckon what would change; None when nothing would, and nothing is left.

    *choices* are further members of the request: `Tags`, `RoleARN`.

    Raises:
        SourceError: If it refuses the template or a value.
    """
    is_new = stack is None or stack.status == NEW
    change_set = f"neuron-emf-{secrets.token_hex(8)}"
    with drop_on_error(cloudformation, name, change_set):
        with documented("cloudformation:CreateChangeSet"):
            cloudformation.create_change_set(
                StackName=name,
                ChangeSetName=change_set,
                ClientToken=change_set,  # so that asking again after a lost answer makes one
                ChangeSetType="CREATE" if is_new else "UPDATE",
                TemplateURL=template_url,
                Parameters=parameters,
                Capabilities=list(CAPABILITIES),
                **choices,
            )
        asked = partial(_described, cloudformation, StackName=name, ChangeSetName=change_set)
        answer = until(asked, "The change set")
        if answer["Status"] != "FAILED":
            with documented("cloudformation:DescribeChangeSet"):
                return ChangeSet(
                    stack_name=name,
                    name=change_set,
                    changes=tuple(_change(one["ResourceChange"]) for one in answer["Changes"]),
                    parameters=_after(answer.get("Parameters", ()), parameters, stack),
                )
        reason = " ".join(str(answer.get("StatusReason", "")).split())[:500]
        if not any(words in reason for words in _UNCHANGED):
            msg = f"CloudFormation rejected the change: {reason.rstrip('.')}. Correct it."
            raise SourceError(msg)
        drop_change_set(cloudformation, name, change_set)
        return None


def drop_change_set(cloudformation: Any, stack_name: str, name: str) -> None:  # noqa: ANN401 - as above
    """Delete a change set that nobody will execute; the stack stays as it is."""
    with documented("cloudformation:DeleteChangeSet"):
        cloudformation.delete_change_set(StackName=stack_name, ChangeSetName=name)


@contextmanager
def drop_on_error(cloudformation: Any, stack_name: str, name: str) -> Iterator[None]:  # noqa: ANN401 - as above
    """Whatever ends this early, also Ctrl-C, leaves no change set behind."""
    try:
        yield
    except BaseException:
        with suppress(SourceError):
            drop_change_set(cloudformation, stack_name, name)
        raise


def execute(cloudformation: Any, change_set: ChangeSet) -> None:  # noqa: ANN401 - as above
    """
    Have CloudFormation begin with *change_set*.

    Raises:
        SourceError: If it refuses.
    """
    with documented("cloudformation:ExecuteChangeSet"):
        cloudformation.execute_change_set(
            StackName=change_set.stack_name,
            ChangeSetName=change_set.name,
            ClientRequestToken=change_set.name,
        )


def _described(cloudformation: Any, **asked: str) -> dict[str, Any] | None:  # noqa: ANN401 - as above
    """The change set with all its pages; None as long as CloudFormation reckons."""
    with documented("cloudformation:DescribeChangeSet"):
        answer = page = dict(cloudformation.describe_change_set(**asked))
        if str(answer["Status"]) not in {"CREATE_COMPLETE", "FAILED"}:
            return None
        while page.get("NextToken"):
            page = cloudformation.describe_change_set(**asked, NextToken=page["NextToken"])
            answer["Changes"] = [*answer["Changes"], *page["Changes"]]
        return answer


def _after(
    answered: Sequence[Mapping[str, str]],
    given: Sequence[Mapping[str, object]],
    stack: Stack | None,
) -> dict[str, str]:
    """Values after the change; those that stay are the stack's own, whatever the answer has."""
    before = stack.parameters if stack is not None else {}
    kept = {str(one["ParameterKey"]) for one in given if one.get("UsePreviousValue")}
    after = values_of(answered)
    return after | {name: before[name] for name in after if name in kept}


def _change(row: Mapping[str, Any]) -> Change:
    return Change(
        action=str(row["Action"]),
        resource=str(row["LogicalResourceId"]),
        kind=str(row["ResourceType"]),
        is_replaced=str(row.get("Replacement", "False")) != "False",
        is_kept="Retain" in str(row.get("PolicyAction")),
    )
