"""
Move a damaged file out of the way, under a name that says when.

For people: nothing reads it again. Only the newest few are kept, so that a disk
that damages file after file is not filled with them too.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

KEPT: Final = 2
_PREFIX: Final = "damaged-"
_COMPANIONS: Final = ("-wal", "-shm", "-journal")  # of SQLite, named after their file


def set_aside(path: Path, now_s: float) -> str | None:
    """
    Rename *path*; its new name, or None when it is not there.

    Raises:
        OSError:
            If it cannot be renamed.
    """
    at = datetime.fromtimestamp(now_s, timezone.utc)
    dated = f"{_PREFIX}{at:%Y%m%dT%H%M%S}.{at.microsecond // 1000:03d}Z-{path.name}"
    name = dated if path.exists() else None
    if name is not None:
        path.replace(path.with_name(name))
    for companion in _COMPANIONS:
        beside = path.with_name(path.name + companion)
        if not beside.exists():
            continue
        if name is None:
            beside.unlink()  # of a file that is gone: it belongs to none that comes after it
        else:
            beside.replace(path.with_name(name + companion))
    _prune(path)
    return name


def _prune(path: Path) -> None:
    # The dates sort as they passed.
    kept = sorted(path.parent.glob(f"{_PREFIX}*Z-{path.name}"))
    for old in kept[:-KEPT]:
        for companion in ("", *_COMPANIONS):
            with suppress(OSError):  # what was to be moved has been moved
                old.with_name(old.name + companion).unlink(missing_ok=True)
