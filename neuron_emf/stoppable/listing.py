"""The verdict, for people as a table with what no guard can see, for programs as one document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.table import Table
from rich.text import Text

from neuron_emf.figures import name
from neuron_emf.stoppable.guard import FAILED, PASSED, UNKNOWN
from neuron_emf.stoppable.verdict import UNSEEN
from neuron_wire.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from neuron_emf.stoppable.verdict import Verdict

_STYLES: Final[Mapping[str, str]] = {PASSED: "green", FAILED: "bold red", UNKNOWN: "yellow"}


def parts(found: Verdict) -> Iterator[RenderableType]:
    """What a person reads, from the top."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for guard, judgement in found.judgements:
        said = Text(guard.sentence)
        said.append(f" Found: {name(judgement.value)}.", style=_STYLES[judgement.state])
        state = Text(judgement.state, style=_STYLES[judgement.state])
        table.add_row(state, Text(guard.name), said)
    yield table
    yield Text()
    yield Text(f"Not seen by any guard: {'; '.join(UNSEEN)}.")
    yield Text()
    yield Text(summary(found), style="bold")
    if found.command is not None:
        yield Text("Nothing was stopped. Look at the instance, then type:")
        yield Text(found.command, no_wrap=True)


def summary(found: Verdict) -> str:
    """The verdict in one sentence."""
    if found.is_stoppable:
        return f"{found.instance_id} may be stopped: all {len(found.judgements)} guards passed."
    names = found.held_back_by
    return (
        f"{found.instance_id} may not be stopped: {', '.join(names)} "
        f"({counted(len(names), 'guard')} of {len(found.judgements)})."
    )


def document(found: Verdict) -> dict[str, Any]:
    """The same for a program."""
    return {
        "instance_id": found.instance_id,
        "stoppable": found.is_stoppable,
        "held_back_by": found.held_back_by,
        "guards": [
            {
                "guard": guard.name,
                "state": judgement.state,
                "value": judgement.value,
                "must_hold": guard.sentence,
            }
            for guard, judgement in found.judgements
        ],
        "not_seen": list(UNSEEN),
        "command": found.command,
    }
