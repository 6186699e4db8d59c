"""The JSON objects of a file: reports in any layout, log lines with what tools put before them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from emitter.reports.framing import MAX_REPORT_BYTES, Framer
from neuron_emf.reading.files import opened
from neuron_emf.scrub.line_members import LINE
from neuron_emf.scrub.report_members import REPORT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from neuron_emf.scrub.shapes import Members

_MARKS: Final = (b'"Schema"', b'"Kind"')


class Documents:
    """
    The documents of files, each with what may stay of it.

    Attributes:
        left_out: Pieces so far that are neither a report nor a log line.
    """

    def __init__(self) -> None:
        self.left_out = 0

    def of(self, path: Path) -> Iterator[tuple[dict[str, object], Members]]:
        """
        The documents of *path*, in their order.

        Raises:
            SettingsError: If the file cannot be opened.
            SourceError: If it cannot be read.
        """
        framer = Framer()
        framer.keeps_newest = True
        with opened(path) as (_, file):
            while piece := file.readline(MAX_REPORT_BYTES + 1):
                line = _log_line(piece)
                if line is not None:
                    yield line, LINE
                    continue
                for _ in framer.feed(piece):
                    yield json.loads(framer.newest), REPORT
            for _ in framer.end():
                yield json.loads(framer.newest), REPORT
        self.left_out += framer.malformed


def _log_line(piece: bytes) -> dict[str, object] | None:
    if not all(mark in piece for mark in _MARKS):
        return None
    try:
        line = json.loads(piece[piece.index(b"{") :], parse_constant=_refuse)
    except ValueError:  # broken UTF-8 is one, too
        return None
    return line if isinstance(line, dict) and {"Schema", "Kind"} <= line.keys() else None


def _refuse(constant: str) -> None:
    """No JSON has NaN or Infinity, though Python reads them."""
    raise ValueError(constant)
