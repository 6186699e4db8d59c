"""Open findings as a table for people and as JSON for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from neuron_wire.findings import IDLE_CORES
from neuron_wire.names import MINUTE_MS
from neuron_wire.phrases import counted, iso_minute, moment, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from neuron_emf.findings.reading import ListedFinding


def shown(findings: Sequence[ListedFinding], waiting: int) -> list[RenderableType]:
    """A row for each of *findings*, and what was not sent yet."""
    parts: list[RenderableType] = []
    if findings:
        table = Table(box=None, pad_edge=False)
        for head in ("Kind", "Cluster", "Instance or owner", "Since", "Steps"):
            table.add_column(head, justify="right" if head == "Steps" else "left")
        for one in findings:
            table.add_row(
                one.key.kind,
                printable(one.key.cluster),
                printable(one.key.subject),
                moment(one.finding.since * MINUTE_MS),
                str(one.finding.step),
            )
        parts.append(table)
    said = f"{counted(len(findings), 'finding')} open."
    if waiting:
        said += f" {counted(waiting, 'event')} not sent yet."
    return [*parts, Text(said, no_wrap=True)]


def members(findings: Sequence[ListedFinding], waiting: int) -> dict[str, object]:
    """The same for a program, by the names that events have."""
    return {
        "findings": [
            {
                "Id": one.id,
                "Step": one.finding.step,
                "Kind": one.key.kind,
                "ClusterName": one.key.cluster,
                "Owner" if one.key.kind == IDLE_CORES else "InstanceId": one.key.subject,
                "Opened": iso_minute(one.finding.opened),
                "Since": iso_minute(one.finding.since),
                "LastStep": iso_minute(one.finding.stepped),
            }
            for one in findings
        ],
        "eventsNotSent": waiting,
    }
