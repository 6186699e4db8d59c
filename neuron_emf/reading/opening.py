"""
A file as it lies there, and what is in it: plain or gzip, told apart by its first two bytes.

`-` is standard input.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final

from emitter.errors import SettingsError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STANDARD_INPUT: Final = "-"
_GZIP: Final = b"\x1f\x8b"


@contextmanager
def opened(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """
    The file as it lies there, whose position says how far it is, and what is in it.

    Raises:
        SettingsError: If it cannot be opened.
        SourceError: If it cannot be read to its end, or standard input is closed.
    """
    name = "standard input" if is_standard_input(path) else str(path)
    file = _open(path)
    try:
        yield file, _unpacked(file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        msg = f"{name} was expected to be whole gzip and is not ({error}): copy it again"
        raise SourceError(msg) from error
    except OSError as error:
        msg = f"{name} was expected to hold log lines and cannot be read: {error.strerror or error}"
        raise SourceError(msg) from error
    finally:
        if not is_standard_input(path):
            file.close()


def is_standard_input(path: Path) -> bool:
    """Whether *path* is `-`."""
    return str(path) == STANDARD_INPUT


def _open(path: Path) -> IO[bytes]:
    if is_standard_input(path):
        if sys.stdin is None:
            msg = "lines were expected on standard input and it is closed: name a file"
            raise SourceError(msg)
        return sys.stdin.buffer
    try:
        return path.open("rb")
    except OSError as error:
        msg = f"{path} was expected to be a file of log lines: {error.strerror}; check the name"
        raise SettingsError(msg) from error


def _unpacked(file: IO[bytes]) -> IO[bytes]:
    peek = getattr(file, "peek", None)
    first = peek(2)[:2] if peek is not None else b""
    return gzip.open(file, "rb") if first == _GZIP else file  # type: ignore[return-value]
