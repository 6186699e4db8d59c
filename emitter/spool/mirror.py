"""
Keep the disk's copy of what the spool holds, and say when it cannot be kept.

A disk that refuses is asked again, a file that is damaged is replaced. What that
means for the records is decided by whoever made us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.errors import EmitterError
from emitter.spool.transactions import DiskDamagedError, DiskRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.spool.boot_counters import BootCounters, PendingChanges
    from emitter.spool.disk import Disk
    from emitter.spool.ledger import Contents, Ledger
    from emitter.spool.notices import Notices

RETRY_INTERVAL_S: Final = 1.0  # how often a disk that refuses is asked again, at most

_FILES_A_CALL: Final = 2  # a new one when the first is damaged; a disk that spoils that too refuses


class Mirror:
    """
    One disk. Not thread-safe.

    Attributes:
        disk: What can be read, also while nothing can be written.

        refused: Why the disk does not take anything now, None while it does.

        set_aside: Damaged files that were replaced.
    """

    def __init__(
        self,
        disk: Disk,
        notices: Notices,
        *,
        on_contents: Callable[[Contents], None],
        on_lost: Callable[[], int],
        clock: Callable[[], float],
        monotonic: Callable[[], float],
    ) -> None:
        """
        Open the file, or find out why not.

        *on_contents* is given what a file holds when it was opened. *on_lost* is told
        that the file cannot be read any more, and answers how many records it cost.
        """
        self.refused: str | None = None
        self.set_aside = 0
        self.disk = disk
        self._notices = notices
        self._on_contents = on_contents
        self._on_lost = on_lost
        self._clock = clock
        self._monotonic = monotonic
        self._ask_again_s = 0.0  # on the monotonic clock, while refused
        self._is_read = False  # whether we know what the file held
        self._spoiled: tuple[str, int | None] | None = None  # why, and the records it cost
        self._try(self._attach, is_start=True)

    def write(
        self,
        pending: PendingChanges,
        counters: Mapping[str, BootCounters],
        *,
        at_once: bool = False,
    ) -> bool:
        """
        Bring the disk up to date; whether it is.

        Not tried when the disk refused a moment ago, unless *at_once*.
        """
        if self.refused is not None and not at_once and self._monotonic() < self._ask_again_s:
            return False
        records = 0

        def write() -> None:
            nonlocal records
            ledger = self._attach()
            self.disk.require_file()
            records = len(pending.added)
            ledger.write(pending, counters)

        if not self._try(write):
            return False
        self.disk.state_file.reserve()
        if self.refused is not None:
            self.refused = None
            self._notices.on_disk_again(records)
        return True

    def spoil(self, error: DiskDamagedError) -> None:
        """The file cannot be read: give it up, replace it with the next `write`."""
        self.disk.detach()
        if self._spoiled is None:
            lost = self._on_lost()
            self._spoiled = (str(error), lost if self._is_read else None)

    def close(self) -> None:
        """Close the file and let the next emitter in. May be called twice."""
        self.disk.close()

    def _attach(self) -> Ledger:
        if self._spoiled is not None:
            name = self.disk.set_aside(self._clock())
            self._notices.set_aside(name, *self._spoiled)
            self.set_aside += 1
            self._spoiled, self._is_read = None, False
        if self.disk.ledger is None:
            contents = self.disk.attach()
            self._on_contents(contents)
            self._is_read = True
        ledger = self.disk.ledger
        assert ledger is not None  # noqa: S101 - attached above
        return ledger

    def _try(self, step: Callable[[], object], *, is_start: bool = False) -> bool:
        for _ in range(_FILES_A_CALL):
            try:
                step()
            except DiskDamagedError as error:  # noqa: PERF203 - once an hour, not once a record
                self.spoil(error)
            except DiskRefusedError as error:
                self._refuse(str(error))
                return False
            except EmitterError as error:
                if is_start:
                    self.disk.close()
                    raise
                self._refuse(str(error))
                return False
            else:
                return True
        self._refuse("a new file was damaged at once")
        return False

    def _refuse(self, why: str) -> None:
        if self.refused is None:
            self._notices.in_memory(why)
        self.refused = why
        self._ask_again_s = self._monotonic() + RETRY_INTERVAL_S
