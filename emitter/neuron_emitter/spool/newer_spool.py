"""
The spool of a newer version, set aside in the spool's directory until that version runs again.

The rename of the database is the commit. The next start moves the files that a kill left behind,
the log and the state, before it creates its own database. A removal also begins with the database:
a log without a database belongs to no spool. Callers hold the directory's lock.

It does not know which version is newer (`neuron_emitter.spool.layout`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from neuron_emitter.spool.directory import STATE_NAME
from neuron_emitter.spool.layout import FILE_NAME, database_files

if TYPE_CHECKING:
    from pathlib import Path

NEWER_PREFIX: Final = "newer-"


@final
class NewerSpool:
    """
    The copy that is set aside in *directory*, at most one.

    Attributes:
        path: The database of the copy, if there is a copy.

        state_path: The state file of the copy.

        size_bytes: Room that the copy took at the last `complete_move`.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / f"{NEWER_PREFIX}{FILE_NAME}"
        self.state_path = directory / f"{NEWER_PREFIX}{STATE_NAME}"
        self.size_bytes = 0
        self._database = directory / FILE_NAME
        self._copies = {
            source: source.with_name(f"{NEWER_PREFIX}{source.name}")
            for source in (*database_files(self._database), directory / STATE_NAME)
        }

    def move_here(self) -> None:
        """
        Set the spool's own files aside, in place of an earlier copy.

        Raises:
            OSError: If the directory does not take it.
        """
        self.remove()
        self._database.replace(self.path)
        self.complete_move()

    def complete_move(self) -> None:
        """
        Complete a move or a removal that a kill interrupted.

        Raises:
            OSError: If the directory does not take it.
        """
        if not self.path.exists():
            self.remove()
            return
        if not self._database.exists():
            for source, copy in self._copies.items():
                if source.exists() and not copy.exists():
                    source.replace(copy)
        self.size_bytes = stored_bytes(self.path)

    def remove(self) -> None:
        """
        Remove the copy, if there is one.

        Raises:
            OSError: If the directory does not take it.
        """
        for copy in self._copies.values():
            copy.unlink(missing_ok=True)
        self.size_bytes = 0


def stored_bytes(database: Path) -> int:
    """Return the size of *database* and its log; 0 if there is none."""
    return sum(path.stat().st_size for path in database_files(database) if path.exists())
