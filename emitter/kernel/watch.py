"""
The thread that reads the kernel log, so that nothing it waits for stops the reading of reports.

It reads ahead a little and no further: what nobody has taken yet waits in the
kernel's ring, which says what it lost.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Final

from emitter.kernel.detector import FaultDetector
from emitter.kernel.message import UnreadableLogError
from emitter.kernel.position import LogState

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.kernel.detector import Detection
    from emitter.kernel.kmsg import KernelRing

READ_WITHIN_S: Final = 0.5  # bounds how long a stop waits
CLOSE_WITHIN_S: Final = 2.5
MAX_WAITING: Final = 2000
"""Faults that may wait to be taken; a read more than that stays where it is."""

_log = logging.getLogger(__name__)


class KernelWatch:
    """Reads until it is closed or the log cannot be read. *state* is what an earlier run left."""

    def __init__(
        self,
        open_log: Callable[[], KernelRing],
        state: LogState | None = None,
        *,
        is_asked_for: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Begin to read. *is_asked_for* says whether the operator named the place to read from."""
        self._open_log = open_log
        self.state = state or LogState()
        self._is_asked_for = is_asked_for
        self._detector = FaultDetector(self.state, clock())
        self._lock = threading.Lock()
        self._taken = threading.Event()
        self._closed = threading.Event()
        self._ring: KernelRing | None = None
        self._thread = threading.Thread(target=self._watch, name="kernel-log", daemon=True)
        self._thread.start()

    @property
    def is_reading(self) -> bool:
        """Whether a fault would be seen now."""
        ring = self._ring
        return ring is not None and ring.is_open

    def take(self) -> Detection:
        """What was found since the last call."""
        with self._lock:
            detection = self._detector.take()
        self._taken.set()
        return detection

    def close(self) -> None:
        """Read no more; what was not taken is read again by the next run."""
        self._closed.set()
        self._taken.set()
        self._thread.join(CLOSE_WITHIN_S)

    def _watch(self) -> None:
        try:
            ring = self._open_log()
        except UnreadableLogError as error:
            self._say_unreadable(error)
            return
        self._ring = ring
        try:
            while not self._closed.is_set():
                messages = ring.read(READ_WITHIN_S)
                with self._lock:
                    self._detector.add(messages)
                while self._is_full() and not self._closed.is_set():
                    self._taken.clear()
                    if self._is_full():
                        self._taken.wait(READ_WITHIN_S)
        except UnreadableLogError as error:
            self._say_unreadable(error)
        finally:
            ring.close()
            self._ring = None

    def _is_full(self) -> bool:
        with self._lock:
            return self._detector.waiting >= MAX_WAITING

    def _say_unreadable(self, error: UnreadableLogError) -> None:
        if self._is_asked_for:
            _log.warning("Hardware faults are not counted. %s", error)
        else:
            _log.info("Hardware faults are not counted. %s", error)
