"""
Read the kernel log in a thread, so that waiting for it never delays the reading of reports.

It reads ahead at most `MAX_WAITING_FAULTS` faults. Further messages stay in the kernel's ring
buffer, whose numbers show lost messages.
"""

from __future__ import annotations

import logging
import time
from contextlib import closing
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final

from neuron_emitter.kernel.detector import FaultDetector, LogState
from neuron_emitter.kernel.kmsg import UnreadableLogError, log_opener
from neuron_emitter.settings.run_settings import AUTO

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuron_emitter.kernel.detector import Detection
    from neuron_emitter.kernel.kmsg import KernelRing
    from neuron_emitter.logs import Clock

KMSG_READ_TIMEOUT_S: Final = 0.5  # limits how long a stop waits
QUEUE_POLL_S: Final = 0.1  # how often to check for room while the queue is full
CLOSE_WITHIN_S: Final = 2.5
# Faults that may wait until the reading loop takes them.
MAX_WAITING_FAULTS: Final = 2000

_log = logging.getLogger(__name__)


def watch_of(choice: str, reports: str, state: LogState) -> KernelWatch | None:
    """
    Return a reader of the log that `log_opener` finds for *choice* and *reports*, from *state* on.

    The caller closes it.
    """
    open_log = log_opener(choice, reports)
    if open_log is None:
        return None
    return KernelWatch(open_log, state, is_asked_for=choice != AUTO)


class KernelWatch:
    """
    Reads the log until `close`, or until the log fails.

    Attributes:
        state: The state of an earlier run.

        is_reading: True if the log is being read now.
    """

    def __init__(
        self,
        open_log: Callable[[], KernelRing],
        state: LogState,
        *,
        is_asked_for: bool = True,
        clock: Clock = time.time,
    ) -> None:
        """Start to read. If *is_asked_for*, the operator named the log: a failure is a warning."""
        self._open_log = open_log
        self.state = state
        self._is_asked_for = is_asked_for
        self._detector = FaultDetector(self.state, clock())
        self._lock = Lock()
        self._closed = Event()
        self.is_reading = False
        self._thread = Thread(target=self._watch, name="kernel-log", daemon=True)
        self._thread.start()

    def take_detection(self) -> Detection:
        """Return the faults found since the last call."""
        with self._lock:
            return self._detector.take_detection()

    def close(self) -> None:
        """Stop reading. The next run reads again what was not taken."""
        self._closed.set()
        self._thread.join(CLOSE_WITHIN_S)

    def _watch(self) -> None:
        try:
            with closing(self._open_log()) as ring:
                self.is_reading = True
                while not self._closed.is_set():
                    messages = ring.read_messages(KMSG_READ_TIMEOUT_S)
                    with self._lock:
                        self._detector.read_messages(messages)
                    while self._detector.waiting >= MAX_WAITING_FAULTS:
                        if self._closed.wait(QUEUE_POLL_S):
                            break
        except UnreadableLogError as error:
            level = logging.WARNING if self._is_asked_for else logging.INFO
            _log.log(level, "Hardware faults are not counted. %s", error)
        finally:
            self.is_reading = False
