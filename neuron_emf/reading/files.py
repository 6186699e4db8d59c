"""
Lines of files, as `neuron-emf run --output stdout` or an export leaves them.

A file is plain or gzip, as its first two bytes say; `-` is standard input.
What stands before the JSON of a line, such as the time that `aws logs tail` and an
export to S3 put there, is left out. Nothing is kept but the line that is read.
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
    for _, _, line in numbered_lines(paths, advance):
        if line.strip():
            yield _without_prefix(line.decode("utf-8", "replace"))


def numbered_lines(
    paths: Sequence[Path], advance: Advance | None = None
) -> Iterator[tuple[Path, int, bytes]]:
    """
    Every line as it stands in its file, with its number from 1; a longer one is cut as above.

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


@contextmanager
def opened(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """
    The file as it lies there, whose position says how far it is, and what is in it.

    Raises:
        SettingsError: If it cannot be opened.
        SourceError: If it cannot be read to its end, or standard input is closed.
    """
    name, file = source_name(path), _open(path)
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
    """What people call *path*."""
    return "standard input" if is_standard_input(path) else str(path)


def is_standard_input(path: Path) -> bool:
    """Whether *path* is `-`."""
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
