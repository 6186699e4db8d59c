"""
What the spool reports about itself: in the log at once, as events when the caller is free.

A disk that fails and recovers each second must fill neither the log nor the
spool: each notice at most once per interval.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Final

from emitter.events import Event
from emitter.logs import Repeats
from neuron_wire.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from emitter.spool.records import DropReason

DROPS_LOG_INTERVAL_S: Final = 10.0
DISK_NOTICE_INTERVAL_S: Final = 600.0

_log = logging.getLogger(__name__)


class Notices:
    """
    Of one spool.

    Any thread may call `hand_over_events`, the rest is for one thread at a time.
    """

    def __init__(
        self,
        place: Path | None,
        memory_bytes: int,
        clock: Callable[[], float],
        monotonic: Callable[[], float],
        on_event: Callable[[Event], None] | None,
    ) -> None:
        self._place = place
        self._memory_bytes = memory_bytes
        self._clock = clock
        self._on_event = on_event
        self._unsaid: deque[Event] = deque()
        self._drops = Repeats(DROPS_LOG_INTERVAL_S, monotonic)
        self._disk = Repeats(DISK_NOTICE_INTERVAL_S, monotonic)
        self._has_said_memory = False

    def say_in_memory(self, why: str) -> None:
        """The disk refuses."""
        count = self._disk.due("SpoolInMemory")
        self._has_said_memory = bool(count)
        if not count:
            return
        message = (
            f"Cannot write the spool directory {self._place} ({why}): up to "
            f"{self._memory_bytes >> 20} MiB of records are kept in memory and lost "
            "if this process ends. Make it writable or free space (no restart "
            "needed), or use another --spool-dir."
        )
        _log.error(message)
        self._event("SpoolInMemory", message)

    def say_on_disk_again(self, records: int) -> None:
        """The disk took what had to wait."""
        if not self._has_said_memory:
            return
        self._has_said_memory = False
        message = f"The spool directory {self._place} is writable again. All records are on disk."
        _log.info(message, extra={"records": records})
        self._event("SpoolOnDiskAgain", message, Records=records)

    def say_set_aside(self, name: str | None, why: str, lost: int | None) -> None:
        """A damaged file was replaced by a new one. *lost* is None if it was never read."""
        if not self._disk.due("SpoolSetAside"):
            return
        what = "is gone" if name is None else f"was damaged ({why}) and moved to {name}"
        records = "its records" if lost is None else counted(lost, "waiting record")
        message = f"The spool file in {self._place} {what}: {records} lost. A new file was created."
        _log.error(message)
        details: dict[str, str | int] = {} if name is None else {"File": name}
        if lost is not None:
            details["RecordsLost"] = lost
        self._event("SpoolSetAside", message, **details)

    def say_dropped(self, dropped: Mapping[DropReason, int]) -> None:
        """Records were dropped here, not by the destination."""
        for reason, records in dropped.items():
            if records and (count := self._drops.due(reason, records)):
                _log.warning(
                    "records dropped", extra={"count": count, "reason": reason, "stage": "spooling"}
                )

    def say_lost(self, records: int) -> None:
        """The spool is closed and the disk did not take these."""
        if records:
            _log.error("records lost", extra={"count": records, "stage": "spooling"})

    def hand_over_events(self) -> None:
        """Give the waiting events to `on_event`, outside of the spool's lock."""
        while self._on_event is not None and self._unsaid:
            try:
                event = self._unsaid.popleft()
            except IndexError:  # another thread was faster
                return
            self._on_event(event)

    def _event(self, name: str, message: str, **details: str | int) -> None:
        if self._on_event is not None:
            self._unsaid.append(Event(name, self._clock(), message, details))
