"""
Write records to a file, one line each, and rotate it by size: `--output file:PATH`.

PATH is the newest; PATH.1 to PATH.N are older ones, the highest number the
oldest, which rotation removes. logrotate may do the same: a file that was moved
away is left alone and a new one begun. A record counts as delivered when it is on
the disk. One emitter per file: two would rotate it away from each other.
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emitter.delivery.batches import MAX_BATCH_BYTES, BatchLimits
from emitter.delivery.destination import Delivered, Outcome, Refused, Retry
from emitter.delivery.whole_lines import NotAFileError, WholeLines, sync_directory
from emitter.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.spool.records import SpooledRecord

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# Nothing of these changes by waiting: somebody must act.
_REFUSED: Final = frozenset({
    errno.EACCES, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR,
    errno.ENXIO, errno.EPERM, errno.EROFS,
})  # fmt: skip


class RotatingFile:
    """
    A `Destination` that is a file and its older ones.

    Attributes:
        limits: One write per batch, never above the size of a file; no limit on
            age or order.

    Raises:
        SettingsError:
            If *path* cannot be a file's.
    """

    def __init__(self, path: Path, *, max_bytes: int, keep: int) -> None:
        if not path.name or "\0" in str(path):
            msg = f"--output file:PATH names no file: {str(path)[:80]!r}. Give the path of a file."
            raise SettingsError(msg)
        self.limits = BatchLimits(
            max_bytes=min(MAX_BATCH_BYTES, max_bytes),
            event_overhead_bytes=1,  # the line end
        )
        self._path = path
        self._max_bytes = max_bytes
        self._keep = keep
        self._lines: WholeLines | None = None

    def send(self, batch: Sequence[SpooledRecord]) -> Outcome:
        """Append *batch*, to a new file when this one would become too large."""
        data = "".join(f"{record.line}\n" for record in batch).encode()
        try:
            lines = self._opened()
            if lines.size_bytes and lines.size_bytes + len(data) > self._max_bytes:
                lines = self._rotated()
            lines.append(data)
        except OSError as error:
            self.close()
            return self._failed(error)
        return Delivered()

    def close(self) -> None:
        """Close the file. The next send opens it again."""
        if self._lines is not None:
            self._lines.close()
            self._lines = None

    def _opened(self) -> WholeLines:
        if self._lines is not None and not self._lines.is_at_its_path():
            self.close()  # logrotate, or a person, has moved it away
        if self._lines is None:
            self._lines = WholeLines(self._path)
        return self._lines

    def _rotated(self) -> WholeLines:
        """
        A new file; the old ones one number higher, the last one gone.

        A crash in between leaves a number free, which the next rotation fills.
        """
        self.close()
        for number in range(self._keep, 0, -1):
            older, newer = self._numbered(number), self._numbered(number - 1)
            if newer.exists():
                newer.replace(older)
        if not self._keep:
            self._path.unlink(missing_ok=True)
        sync_directory(self._path.parent)
        return self._opened()

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}") if number else self._path

    def _failed(self, error: OSError) -> Outcome:
        where, words = self._path, error.strerror or type(error).__name__
        if error.errno in _FULL:
            return Retry("disk_full", f"Cannot write {where}: {words}. Free some space.")
        if isinstance(error, NotAFileError):
            return Refused("not_a_file", f"{where} is not a regular file. Use another --output.")
        if error.errno == errno.ENOENT:
            return Refused("no_folder", f"Folder {where.parent} does not exist. Create it.")
        if error.errno in _REFUSED:
            return Refused(
                "not_writable",
                f"Cannot write {where}: {words}. Give this user write access, or use "
                "another --output.",
            )
        return Retry("file_failed", f"Cannot write {where}: {words}.")


def file_of(output: str, prefix: str) -> Path:
    """The path in `file:PATH`."""
    return Path(output.removeprefix(prefix)).expanduser()
