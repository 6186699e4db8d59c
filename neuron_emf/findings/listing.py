"""Open findings, and the verdict on an instance: as text for people, as JSON for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.table import Table
from rich.text import Text

from neuron_emf.figures import name
from neuron_emf.findings.verdict import FAILED, PASSED, UNKNOWN, UNSEEN
from neuron_wire.findings import OWNER_KINDS, finding_id
from neuron_wire.names import MINUTE_MS
from neuron_wire.phrases import counted, iso_minute, moment, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from neuron_emf.findings.verdict import Verdict
    from neuron_wire.findings import FindingKey, OpenFinding

    Listed = Sequence[tuple[FindingKey, OpenFinding]]

_STYLES: Final[Mapping[str, str]] = {PASSED: "green", FAILED: "bold red", UNKNOWN: "yellow"}


def shown(findings: Listed, waiting: int) -> list[RenderableType]:
    """A row for each of *findings*, and what was not sent yet."""
    parts: list[RenderableType] = []
    if findings:
        table = Table(box=None, pad_edge=False)
        for head in ("Kind", "Cluster", "Instance or owner", "Since", "Steps"):
            table.add_column(head, justify="right" if head == "Steps" else "left")
        for key, one in findings:
            since = moment(one.since * MINUTE_MS)
            names = printable(key.cluster), printable(key.subject)
            table.add_row(key.kind, *names, since, str(one.step))
        parts.append(table)
    said = f"{counted(len(findings), 'finding')} open."
    if waiting:
        said += f" {counted(waiting, 'event')} not sent yet."
    return [*parts, Text(said, no_wrap=True)]


def members(findings: Listed, waiting: int) -> dict[str, object]:
    """The same for a program, by the names that events have."""
    return {
        "findings": [
            {
                "Id": finding_id(key, one.opened),
                "Step": one.step,
                "Kind": key.kind,
                "ClusterName": key.cluster,
                "Owner" if key.kind in OWNER_KINDS else "InstanceId": key.subject,
                "Opened": iso_minute(one.opened),
                "Since": iso_minute(one.since),
                "LastStep": iso_minute(one.stepped),
            }
            for key, one in findings
        ],
        "eventsNotSent": waiting,
    }


def shown_verdict(found: Verdict) -> Iterator[RenderableType]:
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


def verdict_members(found: Verdict) -> dict[str, Any]:
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
