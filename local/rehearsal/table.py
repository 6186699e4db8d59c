"""
The figures of the clusters, for people.

Plain text and no colour: the same table is redrawn in place on a terminal and
printed as blocks into a pipe. What is not known is a dash, never a zero.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TextIO

from neuron_wire.phrases import dollars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_UNKNOWN: Final = "-"
_MINUTE_S: Final = 60
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
    minute_s: int | None
    figures: Mapping[str, float] = field(default_factory=dict)
    alarm: str = _UNKNOWN
    notes: tuple[str, ...] = ()


FIGURES: Final = (
    "Instances", "SilentInstances", "NeuronCores", "BusyCores", "AttachedIdleCores",
    "UnattachedCores", "UnknownCores", "NeuronCoreUtilization", "IdleCores", "IdleCostPerHour",
    "UnpricedCores",
)  # fmt: skip
"""The gauges that a row shows."""

_COLUMNS: Final = (
    # two lines of title, alignment
    ("", "cluster", "<"), ("", "instances", ">"), ("", "cores", ">"), ("", "busy", ">"),
    ("attached", "idle", ">"), ("unatt-", "ached", ">"), ("", "unknown", ">"),
    ("utili-", "zation", ">"), ("idle", "cores", ">"), ("idle cost", "USD/hour", ">"),
    ("", "alarm", "<"), ("last rollup", "minute, UTC", "<"),
)  # fmt: skip


def render(rows: Sequence[ClusterRow], now_s: float) -> str:
    """The table as text, without a line end after the last line."""
    cells = [[title for _, title, _ in _COLUMNS], *(_cells(row, now_s) for row in rows)]
    cells.insert(0, [title for title, _, _ in _COLUMNS])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(2, ["-" * width for width in widths])
    lines = [
        "  ".join(
            f"{cell:{align}{width}}"
            for cell, (_, _, align), width in zip(line, _COLUMNS, widths, strict=True)
        ).rstrip()
        for line in cells
    ]
    for row in rows:
        notes = [*row.notes]
        if row.figures.get("UnpricedCores"):
            notes.append(f"{_number(row, 'UnpricedCores')} cores have no list price")
        for note in notes:
            lines += textwrap.wrap(f"{row.cluster}: {note}", WIDE, subsequent_indent="  ")
    return "\n".join(lines)


def _cells(row: ClusterRow, now_s: float) -> list[str]:
    silent = row.figures.get("SilentInstances")
    return [
        row.cluster,
        _number(row, "Instances") + (f" +{silent:.0f} silent" if silent else ""),
        _number(row, "NeuronCores"),
        _number(row, "BusyCores"),
        _number(row, "AttachedIdleCores"),
        _number(row, "UnattachedCores"),
        _number(row, "UnknownCores"),
        _number(row, "NeuronCoreUtilization", "{:.1f} %"),
        _number(row, "IdleCores"),
        _dollars(row.figures.get("IdleCostPerHour")),
        row.alarm,
        _age(row.minute_s, now_s),
    ]


def _number(row: ClusterRow, name: str, form: str = "{:.0f}") -> str:
    value = row.figures.get(name)
    return _UNKNOWN if value is None else form.format(value)


def _dollars(value: float | None) -> str:
    return _UNKNOWN if value is None else dollars(value)


def _age(minute_s: int | None, now_s: float) -> str:
    if minute_s is None:
        return "none yet"
    at = time.strftime("%H:%M", time.gmtime(minute_s))
    return f"{at}, {max(0.0, now_s - minute_s - _MINUTE_S):.0f} s ago"


class Screen:
    """Where the table is shown again and again."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._drawn_lines = 0
        self._last = ""
        self.live = self._stream.isatty()

    def show(self, text: str, *, key: str | None = None) -> None:
        """
        Draw *text* over the last one, or print it below when *key* has changed.

        On a terminal it is always drawn. In a pipe only a new *key* is worth a
        block, or the log would be a table a second.
        """
        if not self.live:
            if key is None or key != self._last:
                self._last = key or ""
                print(text, end="\n\n", file=self._stream, flush=True)
            return
        size = shutil.get_terminal_size()
        lines = text.splitlines()[: size.lines - 1]  # a frame that scrolls cannot be redrawn
        back = f"\x1b[{self._drawn_lines}F" if self._drawn_lines else ""
        body = "".join(f"{line[: size.columns - 1]}\x1b[K\n" for line in lines)
        print(f"{back}{body}\x1b[J", end="", file=self._stream, flush=True)
        self._drawn_lines = len(lines)

    def release(self) -> None:
        """Leave what is drawn where it is."""
        self._drawn_lines = 0
