"""
A stack as CloudFormation has it: its state, the end of what is done to it, what failed first.

Nothing here deletes a stack.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from emitter.errors import SourceError
from neuron_emf.account import documented, error_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

NEW: Final = "REVIEW_IN_PROGRESS"  # a change set was made for it, and nothing of it yet
_DELETING: Final = "DELETE_IN_PROGRESS"
POLL_S: Final = 2.0
PATIENCE_S: Final = 3600.0

_ABSENT: Final = "ValidationError"  # of DescribeStacks, for a name that no stack has
_USABLE: Final = frozenset(
    {NEW, "CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE"}
)
_DONE: Final = frozenset({"CREATE_COMPLETE", "UPDATE_COMPLETE"})
_BEGINS: Final = frozenset({"CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS"})
"""Of the stack itself: the event with which a deployment begins."""

_SHOWN_FAILURES: Final = 5
_Value = TypeVar("_Value")


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

    @property
    def is_changing(self) -> bool:
        """CloudFormation works on it, and it will be there afterwards."""
        return self.status.endswith("_IN_PROGRESS") and self.status not in {NEW, _DELETING}

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
                parameters=values_of(found.get("Parameters", ())),
                outputs={one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", ())},
            )


def values_of(parameters: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """What CloudFormation answers of *parameters*, by their names."""
    return {one["ParameterKey"]: one.get("ParameterValue", "") for one in parameters}


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


def wait_until_deployed(cloudformation: Any, name: str) -> Stack:  # noqa: ANN401 - as above
    """
    The stack of that *name* after its deployment; what failed first goes to standard error.

    Raises:
        SourceError: If the stack did not get there.
    """
    stack = wait_until_done(cloudformation, name)
    if stack.status in _DONE:
        return stack
    failures = _first_failures(cloudformation, name)
    for reason in failures:
        click.echo(reason, err=True)
    advice = "Correct the first failure above" if failures else "See its events"
    if stack.status == "ROLLBACK_COMPLETE":
        advice += ", delete the stack"
    msg = f"The stack {name} was not deployed: it is in {stack.status}. {advice}, then try again."
    raise SourceError(msg)


def wait_until_done(cloudformation: Any, name: str) -> Stack:  # noqa: ANN401 - as above
    """
    The stack of that *name* when nothing is being done to it.

    Who stops waiting, by Ctrl-C too, stops nothing, and reads that on standard error.

    Raises:
        SourceError: If that takes longer than `PATIENCE_S`, or CloudFormation does not say.
    """
    try:
        return until(partial(_read_done, cloudformation, name), f"The stack {name}")
    except (KeyboardInterrupt, SourceError):
        click.echo(f"CloudFormation goes on with the stack {name}: see its events.", err=True)
        raise


def _read_done(cloudformation: Any, name: str) -> Stack | None:  # noqa: ANN401 - as above
    stack = Stack.read(cloudformation, name)
    return None if stack is None or stack.status == NEW or stack.is_changing else stack


def until(read: Callable[[], _Value | None], what: str) -> _Value:
    """
    What *read* gives once it gives something; *what* is that, for a person.

    Raises:
        SourceError: If that takes longer than `PATIENCE_S`.
    """
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if (value := read()) is not None:
            return value
        time.sleep(POLL_S)
    msg = f"{what} was not ready after {PATIENCE_S / 60:.0f} minutes. Try again later."
    raise SourceError(msg)


def _first_failures(cloudformation: Any, name: str) -> list[str]:  # noqa: ANN401 - as above
    """
    What failed first in the newest deployment; what was only cancelled is left out.

    Events come newest first, a hundred a page: those of going back are before what went wrong.
    """
    request, failures = {"StackName": name}, []
    with suppress(SourceError), documented("cloudformation:DescribeStackEvents"):
        while True:
            page = cloudformation.describe_stack_events(**request)
            for row in page["StackEvents"]:
                status, reason = row["ResourceStatus"], str(row.get("ResourceStatusReason", ""))
                if status.endswith("_FAILED") and "cancelled" not in reason.lower():
                    place = f"{row['LogicalResourceId']} ({row['ResourceType']})"
                    failures.append(f"{place}: {' '.join(reason.split())}")
                if row["LogicalResourceId"] == name and status in _BEGINS:
                    return failures[: -_SHOWN_FAILURES - 1 : -1]
            if not page.get("NextToken"):
                break
            request["NextToken"] = page["NextToken"]
    return failures[: -_SHOWN_FAILURES - 1 : -1]
