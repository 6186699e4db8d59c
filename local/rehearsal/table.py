"""
The figures of the clusters, for people.

Plain text and no colour. What is not known is a dash, never a zero.
"""

from __future__ import annotations

import textwrap
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from neuron_wire.names import MINUTE_S
from neuron_wire.phrases import dollars

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_UNKNOWN: Final = "-"
WIDE: Final = 160


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """
    One cluster as its newest rollup shows it.

    Attributes:
        minute_s: Start of the rollup's minute, seconds since the epoch, or None
            before the first.

        figures: Values by metric, for example `BusyCores`; what nobody reported
            is not in it.

        alarm: Which of the template's alarms ring by the evaluator, or `OK`.

        notes: Why, as sentences without a full stop.
    """

    cluster: str
    minute_s: int | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    alarm: str = _UNKNOWN
    notes: tuple[str, ...] = ()


_COLUMNS: Final[tuple[tuple[str, str, str, Callable[[float], str]], ...]] = (
    # two lines of title, gauge of the rollup, how it is written
    ("", "instances", "Instances", "{:.0f}".format),
    ("", "cores", "NeuronCores", "{:.0f}".format),
    ("", "busy", "BusyCores", "{:.0f}".format),
    ("attached", "idle", "AttachedIdleCores", "{:.0f}".format),
    ("unatt-", "ached", "UnattachedCores", "{:.0f}".format),
    ("", "unknown", "UnknownCores", "{:.0f}".format),
    ("utili-", "zation", "NeuronCoreUtilization", "{:.1f} %".format),
    ("idle", "cores", "IdleCores", "{:.0f}".format),
    ("idle cost", "USD/hour", "IdleCostPerHour", dollars),
)


def render(rows: Sequence[ClusterRow], now_s: float) -> str:
    """The table as text, without a line end after the last line."""
    cells = [
        ["", *(first for first, *_ in _COLUMNS), "", "last rollup"],
        ["cluster", *(second for _, second, *_ in _COLUMNS), "alarm", "minute, UTC"],
        *(_cells(row, now_s) for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(2, ["-" * width for width in widths])
    aligns = ["<", *(">" for _ in _COLUMNS), "<", "<"]
    lines = [
        "  ".join(
            f"{cell:{align}{width}}"
            for cell, align, width in zip(line, aligns, widths, strict=True)
        ).rstrip()
        for line in cells
    ]
    for row in rows:
        notes = [*row.notes]
        if unpriced := row.figures.get("UnpricedCores"):
            notes.append(f"{unpriced:.0f} cores have no list price")
        for note in notes:
            lines += textwrap.wrap(f"{row.cluster}: {note}", WIDE, subsequent_indent="  ")
    return "\n".join(lines)


def _cells(row: ClusterRow, now_s: float) -> list[str]:
    figures = [
        written(row.figures[name]) if name in row.figures else _UNKNOWN
        for _, _, name, written in _COLUMNS
    ]
    if silent := row.figures.get("SilentInstances"):
        figures[0] += f" +{silent:.0f} silent"
    age = "none yet"
    if row.minute_s is not None:
        at = time.strftime("%H:%M", time.gmtime(row.minute_s))
        age = f"{at}, {max(0.0, now_s - row.minute_s - MINUTE_S):.0f} s ago"
    return [row.cluster, *figures, row.alarm, age]
