"""What a person reads before saying yes: the parameters that change, and the resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from neuron_emf.printing import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from neuron_emf.deploy.change_set import ChangeSet
    from neuron_emf.deploy.stack import Stack

STORES: Final = frozenset(
    {"AWS::Logs::LogGroup", "AWS::DynamoDB::Table", "AWS::Kinesis::Stream", "AWS::SQS::Queue"}
)
"""What keeps something that goes when it is removed or made anew."""


def change_listing(change_set: ChangeSet, stack: Stack | None) -> Iterator[RenderableType]:
    """What executing *change_set* does to *stack*."""
    kept = stack.parameters if stack is not None else {}
    yield _parameters(change_set.parameters, kept)
    table = Table("action", "resource", "type", title="Resources", title_justify="left")
    for change in sorted(change_set.changes, key=lambda one: (one.action, one.resource)):
        replaced = " (replacement)" if change.is_replaced else ""
        table.add_row(f"{change.action}{replaced}", change.resource, change.kind)
    yield table
    for change in change_set.changes:
        is_gone = change.action == "Remove" or change.is_replaced
        if change.kind in STORES and is_gone and not change.is_kept:
            yield Text(f"{change.resource} stores data that may be lost.", "bold red")


def output_listing(stack: Stack) -> RenderableType:
    """What the stack answers."""
    table = Table("output", "value", title="Outputs", title_justify="left")
    for name, value in stack.outputs.items():
        table.add_row(name, Text(escaped(value), no_wrap=False, overflow="fold"))
    return table


def _parameters(after: Mapping[str, str], before: Mapping[str, str]) -> RenderableType:
    rows = [
        (name, before.get(name, "new"), value)
        for name, value in after.items()
        if before.get(name) != value
    ]
    # An older release forgets them: the next upgrade would give them their defaults.
    rows += [(name, was, "forgotten") for name, was in before.items() if name not in after]
    if before and not rows:
        return Text("Parameters: unchanged.")
    table = Table("parameter", "before", "after", title="Parameters", title_justify="left")
    for name, was, becomes in rows:
        table.add_row(name, escaped(was) or "empty", escaped(becomes) or "empty")
    return table
