"""
A deployed stack: the possible changes of one deployment, its end, and the first failure.

A parameter that is not named keeps the stack's value. UpdateShardCount, which CloudFormation calls,
at most doubles or halves the shards:
https://docs.aws.amazon.com/kinesis/latest/APIReference/API_UpdateShardCount.html
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from neuron_emf.account import documented, error_code, rows_of
from neuron_emitter.errors import SettingsError, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from neuron_wire.line_members import JsonObject, Members, Texts

NEW: Final = "REVIEW_IN_PROGRESS"  # it has a change set and no resources yet
DELETING: Final = "DELETE_IN_PROGRESS"
STACK_POLL_S: Final = 2.0
STACK_TIMEOUT_S: Final = 3600.0

_USABLE: Final = frozenset(
    {"", NEW, "CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE"}
)
_BEGINS: Final = frozenset({"CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", DELETING})
"""Statuses of the stack itself: an operation begins with an event that has one of these."""

OF_FUNCTIONS: Final = "Mode"
"""The parameter that only the template with functions has, not the one for emitters only."""

_SHOWN_FAILURES: Final = 5
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Stack:
    """
    One stack as it is now.

    Attributes:
        name: Its name.

        status: The status as CloudFormation names it, such as `UPDATE_COMPLETE`; empty if there is
            no stack with the name.

        parameters: The parameters of its last deployment.

        outputs: The outputs by key.

        is_protected: True if the stack has termination protection.
    """

    name: str
    status: str
    parameters: Texts
    outputs: Texts
    is_protected: bool = False

    @property
    def is_busy(self) -> bool:
        """True if an operation on the stack is in progress."""
        return self.status.endswith("_IN_PROGRESS") and self.status != NEW

    @classmethod
    def describe(cls, cloudformation: Any, name: str) -> Stack:  # noqa: ANN401 - boto3 publishes no types
        """
        Return the stack with that *name*; its status is empty if there is none.

        Raises:
            SourceError: If CloudFormation refuses.
        """
        with documented("cloudformation:DescribeStacks"):
            try:
                (found,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
            except Exception as error:
                if error_code(error) == "ValidationError" and "does not exist" in str(error):
                    return cls(name, "", {}, {})
                raise
            return cls(
                name=name,
                status=str(found["StackStatus"]),
                parameters=values_of(found.get("Parameters", ())),
                outputs=values_of(found.get("Outputs", ()), "Output"),
                is_protected=bool(found.get("EnableTerminationProtection")),
            )


def values_of(rows: Iterable[Texts], kind: str = "Parameter") -> dict[str, str]:
    """Return the values of CloudFormation's *rows*, its parameters or another *kind*, by name."""
    return {row[f"{kind}Key"]: row.get(f"{kind}Value", "") for row in rows}


def require_usable(stack: Stack) -> None:
    """
    Check that *stack* can be changed.

    Raises:
        SourceError: If it is being changed, or failed in a way that must be fixed first.
    """
    if stack.status in _USABLE:
        return
    advice = "Wait until it has finished."
    if not stack.status.endswith("IN_PROGRESS"):
        first = "; delete it after a first deployment that failed"
        advice = f"See its events{first if stack.status == 'ROLLBACK_COMPLETE' else ''}."
    msg = f"The stack {stack.name} cannot be changed: it is in {stack.status}. {advice}"
    raise SourceError(msg)


def require_same_kind(stack: Stack, parameters: Collection[str]) -> None:
    """
    Check that *stack* was made from the kind of template that has these *parameters*.

    Raises:
        SettingsError: If one has functions and the other is for the emitters only.
    """
    is_changed = (OF_FUNCTIONS in stack.parameters) != (OF_FUNCTIONS in parameters)
    if stack.parameters and is_changed:
        msg = (
            f"The stack {stack.name} cannot get functions or lose them. Deploy "
            "a second stack, with another --stack-name and AdoptLogGroup=true."
        )
        raise SettingsError(msg)


def given_parameters(declared: Iterable[str], named: Texts, stack: Stack) -> list[Members]:
    """
    Return the parameters of the request: the *named* values, and the others as *stack* has them.

    A parameter that the stack does not have yet is omitted and takes its default.
    """
    kept = {} if stack.status == NEW else stack.parameters
    return [
        {"ParameterKey": name, "ParameterValue": named[name]}
        if name in named
        else {"ParameterKey": name, "UsePreviousValue": True}
        for name in declared
        if name in named or name in kept
    ]


def shard_steps(now: int, wanted: int) -> tuple[int, ...]:
    """Return the shards after each deployment from *now* to *wanted*; empty if they are equal."""
    numbers = []
    while now != wanted:
        now = min(wanted, 2 * now) if wanted > now else max(wanted, (now + 1) // 2)
        numbers.append(now)
    return tuple(numbers)


def require_one_step(parameters: Texts, named: Texts) -> None:
    """
    Check that a stack with *parameters* reaches the *named* shards in one deployment.

    The shards of a stream on demand (0) are in no parameter.

    Raises:
        SettingsError: If Kinesis would refuse, which takes minutes of deployment and rollback.
    """
    before = {"Mode": "direct", "StreamShards": "0", **parameters}
    after = {**before, **named}
    now = before["StreamShards"]
    wanted = after["StreamShards"]
    if "direct" in (before["Mode"], after["Mode"]) or "0" in (now, wanted):
        return
    if not (now + wanted).isdigit():
        return  # CloudFormation reports the error
    counts = shard_steps(int(now), int(wanted))
    if len(counts) > 1:
        others = ", then ".join(f"StreamShards={shards}" for shards in counts)
        msg = (
            f"Kinesis at most doubles or halves the shards of a stream, and StreamShards goes from "
            f"{now} to {wanted}. Deploy {others}."
        )
        raise SettingsError(msg)


def wait_until_deployed(cloudformation: Any, name: str) -> Stack:  # noqa: ANN401 - as above
    """
    Wait for the deployment of the stack *name*, and print its first failure on standard error.

    Raises:
        SourceError: If the deployment failed.
    """
    stack = wait_until_done(cloudformation, name)
    if stack.status not in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
        raise _failure(cloudformation, stack, "deployed")
    return stack


def delete_stack(cloudformation: Any, name: str, request: JsonObject) -> None:  # noqa: ANN401 - as above
    """
    Delete the stack *name*, wait, and print the first failure on standard error.

    *request* optionally has `RoleARN`.

    Raises:
        SourceError: If CloudFormation refuses, or the deletion failed.
    """
    with documented("cloudformation:DeleteStack"):
        cloudformation.delete_stack(StackName=name, **request)
    stack = wait_until_done(cloudformation, name)
    if stack.status:
        raise _failure(cloudformation, stack, "deleted")


def _failure(cloudformation: Any, stack: Stack, aim: str) -> SourceError:  # noqa: ANN401 - as above
    """Return the error of a failed operation, and print the first failure."""
    failures = _first_failures(cloudformation, stack.name)
    for reason in failures:
        click.echo(reason, err=True)
    advice = "Correct the first failure above" if failures else "See its events"
    if stack.status == "ROLLBACK_COMPLETE":
        advice += ", delete the stack"
    return SourceError(
        f"The stack {stack.name} was not {aim}: it is in {stack.status}. {advice}, then try again."
    )


def wait_until_done(cloudformation: Any, name: str) -> Stack:  # noqa: ANN401 - as above
    """
    Wait until no operation on the stack *name* is in progress.

    A stack that was deleted has an empty status.

    If the wait ends early, also by Ctrl-C, the operation in CloudFormation continues; standard
    error has a line about it.

    Raises:
        SourceError: If that takes longer than `STACK_TIMEOUT_S`, or CloudFormation refuses.
    """
    try:
        return poll_until_ready(partial(_read_done, cloudformation, name), f"The stack {name}")
    except (KeyboardInterrupt, SourceError):
        click.echo(f"CloudFormation continues with the stack {name}: see its events.", err=True)
        raise


def _read_done(cloudformation: Any, name: str) -> Stack | None:  # noqa: ANN401 - as above
    stack = Stack.describe(cloudformation, name)
    return None if stack.status == NEW or stack.is_busy else stack


def poll_until_ready(read: Callable[[], _Value | None], what: str) -> _Value:
    """
    Poll *read* until it returns a value; *what* names it in the error.

    Raises:
        SourceError: If that takes longer than `STACK_TIMEOUT_S`.
    """
    deadline = time.monotonic() + STACK_TIMEOUT_S
    while time.monotonic() < deadline:
        if (value := read()) is not None:
            return value
        time.sleep(STACK_POLL_S)
    msg = f"{what} was not ready after {STACK_TIMEOUT_S / 60:.0f} minutes. Try again later."
    raise SourceError(msg)


def _first_failures(cloudformation: Any, name: str) -> list[str]:  # noqa: ANN401 - as above
    """
    Return the first failures of the newest deployment, without cancelled resources.

    Events come newest first, a hundred per page: those of the rollback come before the failure.
    """
    failures: list[str] = []
    with suppress(SourceError), documented("cloudformation:DescribeStackEvents"):
        for row in rows_of(cloudformation, "describe_stack_events", "StackEvents", StackName=name):
            status = row["ResourceStatus"]
            reason = str(row.get("ResourceStatusReason", ""))
            if status.endswith("_FAILED") and "cancelled" not in reason.lower():
                place = f"{row['LogicalResourceId']} ({row['ResourceType']})"
                failures.append(f"{place}: {' '.join(reason.split())}")
            if row["LogicalResourceId"] == name and status in _BEGINS:
                break
    return failures[::-1][:_SHOWN_FAILURES]
