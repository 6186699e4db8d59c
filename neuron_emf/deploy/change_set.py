"""
Create, show and execute a change set.

Only a change set that was shown is executed; any other is deleted.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from rich.table import Table
from rich.text import Text

from neuron_emf.account import documented
from neuron_emf.command_output import escaped
from neuron_emf.deploy.stack import NEW, poll_until_ready, values_of
from neuron_emitter.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from neuron_emf.deploy.stack import Stack
    from neuron_wire.line_members import Entries, JsonObject, Texts

STORES: Final = frozenset(
    {"AWS::Logs::LogGroup", "AWS::DynamoDB::Table", "AWS::Kinesis::Stream", "AWS::SQS::Queue"}
)
"""Resources whose data is lost if they are removed or replaced."""

_UNCHANGED: Final = ("didn't contain changes", "No updates are to be performed")


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """
    A change set that CloudFormation has computed and that is not executed yet.

    Attributes:
        changes: A ResourceChange of CloudFormation for each resource.

        parameters: The parameters after the change.
    """

    changes: Entries
    parameters: Texts
    _client: Any
    _place: Texts

    def drop(self) -> None:
        """Delete it; the stack does not change."""
        _drop(self._client, self._place)

    def execute(self) -> None:
        """
        Start its execution.

        Raises:
            SourceError: If CloudFormation refuses.
        """
        with documented("cloudformation:ExecuteChangeSet"):
            token = self._place["ChangeSetName"]
            self._client.execute_change_set(**self._place, ClientRequestToken=token)


@contextmanager
def new_change_set(
    cloudformation: Any,  # noqa: ANN401 - boto3 publishes no types
    stack: Stack,
    parameters: Sequence[JsonObject],
    request: JsonObject,
) -> Iterator[ChangeSet | None]:
    """
    Create a change set; it is None, with nothing left behind, if nothing would change.

    It is deleted if the block raises anything, Ctrl-C included. *request* has the template, the
    capabilities, and optionally `Tags` and `RoleARN`.

    Raises:
        SourceError: If CloudFormation rejects the template or a value.
    """
    name = f"neuron-emf-{secrets.token_hex(8)}"
    place = {"StackName": stack.name, "ChangeSetName": name}
    try:
        with documented("cloudformation:CreateChangeSet"):
            cloudformation.create_change_set(
                **place,
                ClientToken=name,  # so that a repetition after a lost answer creates only one
                ChangeSetType="CREATE" if stack.status in ("", NEW) else "UPDATE",
                Parameters=parameters,
                **request,
            )
        yield _computed(cloudformation, place, stack, parameters)
    except BaseException:
        with suppress(SourceError):
            _drop(cloudformation, place)
        raise


def _computed(
    cloudformation: Any,  # noqa: ANN401 - as above
    place: Texts,
    stack: Stack,
    parameters: Sequence[JsonObject],
) -> ChangeSet | None:
    answer = poll_until_ready(partial(_described, cloudformation, place), "The change set")
    if answer["Status"] == "FAILED":
        reason = " ".join(str(answer.get("StatusReason") or "").split())[:500]
        if not any(words in reason for words in _UNCHANGED):
            msg = f"CloudFormation rejected the change: {reason.rstrip('.')}. Correct it."
            raise SourceError(msg)
        _drop(cloudformation, place)
        return None
    with documented("cloudformation:DescribeChangeSet"):
        changes = [change["ResourceChange"] for change in answer["Changes"]]
    # A parameter that keeps its value has the value of the stack, not of the answer.
    kept = {row["ParameterKey"] for row in parameters if "UsePreviousValue" in row}
    after = values_of(answer.get("Parameters") or ())
    after |= {key: stack.parameters[key] for key in after if key in kept}
    return ChangeSet(changes, after, cloudformation, place)


def _drop(cloudformation: Any, place: Texts) -> None:  # noqa: ANN401 - as above
    with documented("cloudformation:DeleteChangeSet"):
        cloudformation.delete_change_set(**place)


def change_listing(change_set: ChangeSet, stack: Stack) -> Iterator[RenderableType]:
    """Yield tables of the changes that *change_set* makes to *stack*."""
    before = stack.parameters
    after = change_set.parameters
    parameters = Table("parameter", "before", "after", title="Parameters", title_justify="left")
    # A value that an older release does not know is lost: the next upgrade would use its default.
    for name in {**after, **before}:
        if before.get(name) != after.get(name):
            was = escaped(before.get(name, "new"))
            becomes = escaped(after.get(name, "forgotten"))
            parameters.add_row(name, was or "empty", becomes or "empty")
    is_unchanged = before and not parameters.row_count
    yield Text("Parameters: unchanged.") if is_unchanged else parameters
    table = Table("action", "resource", "type", title="Resources", title_justify="left")
    losses = []
    for row in sorted(change_set.changes, key=itemgetter("Action", "LogicalResourceId")):
        action = row["Action"]
        resource = row["LogicalResourceId"]
        resource_type = row["ResourceType"]
        is_replaced = row.get("Replacement", "False") != "False"
        table.add_row(f"{action} (replacement)" if is_replaced else action, resource, resource_type)
        is_kept = "Retain" in str(row.get("PolicyAction"))
        if resource_type in STORES and (is_replaced or action == "Remove") and not is_kept:
            losses.append(Text(f"{resource} stores data that may be lost.", "bold red"))
    yield table
    yield from losses


def output_listing(stack: Stack) -> RenderableType:
    """Return the outputs of the stack as a table."""
    table = Table("output", "value", title="Outputs", title_justify="left")
    for name, value in stack.outputs.items():
        table.add_row(name, Text(escaped(value), no_wrap=False, overflow="fold"))
    return table


def _described(cloudformation: Any, place: Texts) -> JsonObject | None:  # noqa: ANN401 - as above
    """Return the change set with all its pages; None while CloudFormation computes it."""
    with documented("cloudformation:DescribeChangeSet"):
        pages = cloudformation.get_paginator("describe_change_set").paginate(**place)
        answer: JsonObject = pages.build_full_result()
        is_computed = answer["Status"].startswith(("CREATE_COMPLETE", "FAILED"))
        return answer if is_computed else None
