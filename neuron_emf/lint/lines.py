"""The lines of a file, however long one is, in little memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

from neuron_emf.reading.files import is_standard_input, opened
from neuron_wire.extraction import MAX_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from neuron_emf.printing import Advance

KEPT_BYTES: Final = 2 * MAX_LINE_BYTES  # of a line that is too long its beginning is enough
_LINES_PER_ADVANCE: Final = 1000


@dataclass(frozen=True, slots=True)
class FileLine:
    """
    One line, without what ends it.

    Attributes:
        number: From 1, in its file.

        content: At most `KEPT_BYTES` of it.

        size: All its bytes.
    """

    number: int
    content: bytes
    size: int


def lines_of(path: Path, advance: Advance) -> Iterator[FileLine]:
    """
    The lines of *path*, one after the other.

    Raises:
        SettingsError: If it cannot be opened.
        SourceError: If it cannot be read, or standard input is closed.
    """
    with opened(path) as (raw, file):
        total = 0 if is_standard_input(path) else path.stat().st_size
        for line in _cut(file):
            if total and line.number % _LINES_PER_ADVANCE == 0:
                advance(raw.tell(), total)
            yield line


def _cut(file: IO[bytes]) -> Iterator[FileLine]:
    number = 0
    while piece := file.readline(KEPT_BYTES):
        number += 1
        content, size = piece, len(piece)
        while not piece.endswith(b"\n") and (piece := file.readline(KEPT_BYTES)):
            size += len(piece)
        end = len(piece) - len(piece.rstrip(b"\r\n"))
        yield FileLine(
            number, content.rstrip(b"\r\n") if size == len(content) else content, size - end
        )
