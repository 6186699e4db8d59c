"""
Read lines of files that `neuron-emf run --output stdout` or an export wrote.

A file is plain or gzip, by its first two bytes; `-` is standard input. Text before the JSON of a
line, such as the time from `aws logs tail` or from an export to S3, is removed. Only the current
line is in memory.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final

from neuron_emitter.errors import SettingsError, SourceError
from neuron_wire.line import MAX_LINE_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from neuron_emitter.command_line import Advance

STDIN_PATH: Final = "-"
_LONGEST_PREFIX: Final = 1024  # a time, and the name of a stream of at most 512 characters
_LINES_PER_ADVANCE: Final = 1000


def lines_in(paths: Sequence[Path], advance: Advance | None = None) -> Iterator[str]:
    """
    Yield the lines of *paths* in order, without empty lines.

    A line longer than a log event is cut, so that its parser rejects it.

    Raises:
        SettingsError: If one cannot be opened.
        SourceError: If one cannot be read.
    """
    for _, _, line in numbered_lines(paths, advance):
        if line.strip():
            yield _without_prefix(line.decode("utf-8", "replace"))


def numbered_lines(
    paths: Sequence[Path], advance: Advance | None = None
) -> Iterator[tuple[Path, int, bytes]]:
    """
    Yield every line of every file with its number from 1; a longer line is cut as in `lines_in`.

    Raises:
        SettingsError: If a file cannot be opened.
        SourceError: If one cannot be read.
    """
    total = _bytes_of(paths)
    done = 0
    for path in paths:
        with opened(path) as (raw, lines):
            for number, line in enumerate(_bounded(lines), 1):
                yield path, number, line
                if advance is not None and number % _LINES_PER_ADVANCE == 1 and total:
                    advance(done + _position(raw), total)
            done += _position(raw)


def _bounded(file: IO[bytes]) -> Iterator[bytes]:
    """Yield lines of at most one character more than a log event can have."""
    while line := file.readline(MAX_LINE_CHARS + 1):
        yield line
        while len(line) > MAX_LINE_CHARS and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_CHARS + 1)


def _without_prefix(line: str) -> str:
    text = line.strip()
    start = text.find("{", 0, _LONGEST_PREFIX)
    return text[start:] if start > 0 else text


def _bytes_of(paths: Sequence[Path]) -> int:
    """Return the total size of *paths* in bytes; 0 if unknown."""
    if any(is_standard_input(path) for path in paths):
        return 0
    try:
        return sum(path.stat().st_size for path in paths)
    except OSError:  # opening the file reports the reason
        return 0


def _position(file: IO[bytes]) -> int:
    try:
        return file.tell()
    except OSError:  # a pipe has no size
        return 0


@contextmanager
def opened(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """
    Yield the open file, whose position is the progress, and its unpacked content.

    Raises:
        SettingsError: If it cannot be opened.
        SourceError: If it cannot be read to its end, or standard input is closed.
    """
    name = source_name(path)
    file = _open(path)
    try:
        yield file, _unpacked(file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        msg = f"Cannot unpack {name}: damaged or cut gzip ({error}). Copy it again."
        raise SourceError(msg) from error
    except OSError as error:
        msg = f"Cannot read {name}: {error.strerror or error}. Check the file."
        raise SourceError(msg) from error
    finally:
        if not is_standard_input(path):
            file.close()


def source_name(path: Path) -> str:
    """Return the name of *path* for people."""
    return "standard input" if is_standard_input(path) else str(path)


def is_standard_input(path: Path) -> bool:
    """Return True if *path* is `-`."""
    return str(path) == STDIN_PATH


def _open(path: Path) -> IO[bytes]:
    if is_standard_input(path):
        if sys.stdin is None:
            msg = "Standard input is closed. Name a file."
            raise SourceError(msg)
        return sys.stdin.buffer
    try:
        return path.open("rb")
    except OSError as error:
        msg = f"Cannot open {path}: {error.strerror}. Check the path."
        raise SettingsError(msg) from error


def _unpacked(file: IO[bytes]) -> IO[bytes]:
    peek = getattr(file, "peek", None)
    first = peek(2)[:2] if peek is not None else b""
    return gzip.open(file, "rb") if first == b"\x1f\x8b" else file  # type: ignore[return-value]
