"""Files that commands write: whoever opens one meanwhile sees the one before, or the whole new."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from emitter.errors import DeliveryError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """
    Write *path* in this: it has all of it afterwards, or what it had before.

    Raises:
        DeliveryError: If it cannot be written.
    """
    temporary = ""
    try:
        if path.exists() and not path.is_file():  # /dev/stdout is written to, never replaced
            with path.open("wb") as file:
                yield file
            return
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as beside:
            temporary = beside.name
            yield beside
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
        temporary = ""
    except OSError as error:
        msg = f"Cannot write {path}: {error.strerror}."
        raise DeliveryError(msg) from error
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def _umask() -> int:
    umask = os.umask(0o022)
    os.umask(umask)
    return umask
