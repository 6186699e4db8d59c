"""
Lines of files, as `neuron-emf run --output file:PATH` or an export leaves them.

What stands before the JSON of a line, such as the time that `aws logs tail` and an
export to S3 put there, is left out. Nothing is kept but the line that is read.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Final

from neuron_emf.reading.opening import is_standard_input, opened
from neuron_wire.line import MAX_LINE_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from neuron_emf.printing import Advance

_LONGEST_PREFIX: Final = 1024  # a time, and the name of a stream: at most 512 characters
_LINES_PER_ADVANCE: Final = 1000


def lines_in(paths: Sequence[Path], advance: Advance | None = None) -> Iterator[str]:
    """
    The lines of *paths*, one after the other, without empty ones.

    A line that is longer than a log event can be is cut, so that its reader
    refuses it.

    Raises:
        SettingsError: If one cannot be opened.
        SourceError: If one cannot be read.
    """
    total = _bytes_of(paths)
    done = 0
    for path in paths:
        with opened(path) as (raw, lines):
            for number, line in enumerate(_bounded(lines)):
                if line.strip():
                    yield _without_prefix(line.decode("utf-8", "replace"))
                if advance is not None and number % _LINES_PER_ADVANCE == 0 and total:
                    advance(done + _position(raw), total)
            done += _position(raw)


def _bounded(file: IO[bytes]) -> Iterator[bytes]:
    """Lines of at most one character more than a log event can have."""
    while line := file.readline(MAX_LINE_CHARS + 1):
        yield line
        while len(line) > MAX_LINE_CHARS and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_CHARS + 1)


def _without_prefix(line: str) -> str:
    text = line.strip()
    start = text.find("{", 0, _LONGEST_PREFIX)
    return text[start:] if start > 0 else text


def _bytes_of(paths: Sequence[Path]) -> int:
    """How much there is to read; 0 when nobody knows."""
    if any(is_standard_input(path) for path in paths):
        return 0
    try:
        return sum(path.stat().st_size for path in paths)
    except OSError:  # opening it says more
        return 0


def _position(file: IO[bytes]) -> int:
    try:
        return file.tell()
    except OSError:  # a pipe has none
        return 0
