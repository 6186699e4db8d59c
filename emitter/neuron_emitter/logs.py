"""
Log to standard error, send events to the log group, and limit how often both repeat.

Standard error gets one event a line, followed by key=value pairs. If it is the journal, each line
begins with its priority, which the journal removes:
https://www.freedesktop.org/software/systemd/man/latest/sd-daemon.html
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Clock = Callable[[], float]
    """A clock: seconds since any fixed moment."""
    OnEvent = Callable[["Event"], None]
    """A function that takes an event for the lines."""

_LOG_RECORD_FIELDS: Final = frozenset(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
}
_JOURNAL_VARIABLE: Final = "JOURNAL_STREAM"  # device and inode of the socket that systemd connected
_PRIORITIES: Final = {"DEBUG": 7, "INFO": 6, "WARNING": 4, "ERROR": 3, "CRITICAL": 2}  # syslog(3)


class _KeyValueFormatter(logging.Formatter):
    """Formats `neuron-emf: warning: records dropped count=12 reason=too_old`."""

    def __init__(self, *, is_journal: bool) -> None:
        super().__init__()
        self._is_journal = is_journal

    def format(self, record: logging.LogRecord) -> str:
        """Return the event, then the values of `extra`."""
        pairs = (
            f"{name}={value}"
            for name, value in vars(record).items()
            if name not in _LOG_RECORD_FIELDS
        )
        event = f"neuron-emf: {record.levelname.lower()}: {record.getMessage()}"
        line = " ".join((event, *pairs))
        if record.exc_info:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        if not self._is_journal:
            return line
        priority = f"<{_PRIORITIES.get(record.levelname, 6)}>"
        return "\n".join(f"{priority}{part}" for part in line.split("\n"))


def log_to_stderr(*, verbose: bool) -> None:
    """Send our own events to standard error; events of libraries only from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_KeyValueFormatter(is_journal=_is_journal()))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("neuron_emitter").setLevel(logging.DEBUG if verbose else logging.INFO)


def _is_journal() -> bool:
    """Return True if standard error is the socket that systemd connected to the journal."""
    with suppress(OSError):
        found = os.fstat(2)
        return os.environ.get(_JOURNAL_VARIABLE) == f"{found.st_dev}:{found.st_ino}"
    return False


class Repeats:
    """
    A rate limit by key: each key is reported at most once per interval. Thread-safe.

    A log that repeats itself hides new events; a log that stays silent hides that a problem
    continues. So the first occurrence is reported at once, and later the number since then.
    """

    def __init__(self, interval_s: float, clock: Clock = time.monotonic) -> None:
        self._interval_s = interval_s
        self._clock = clock
        self._lock = Lock()
        self._said_at: dict[str, float] = {}
        self._unsaid: dict[str, int] = {}

    def due(self, key: str, count: int = 1) -> int:
        """Count *count* more of *key*. Return the number to report now, 0 to stay silent."""
        with self._lock:
            now = self._clock()
            unsaid = self._unsaid.get(key, 0) + count
            said_at = self._said_at.get(key)
            # If the clock was set back, report now instead of waiting until it catches up.
            if said_at is not None and 0 <= now - said_at < self._interval_s:
                self._unsaid[key] = unsaid
                return 0
            self._said_at[key] = now
            self._unsaid.pop(key, None)
            return unsaid


SHORTEST_S: Final = 0.2
LONGEST_S: Final = 60.0
BACKOFF_GROWTH: Final = 1.5


class Backoff:
    """
    The wait after failures in a row: exponential, with equal jitter.

    Each step is half as long again as the step before, and each wait is drawn from the upper half
    of its step. So waits always grow, and instances that failed together do not return together,
    even if all wait the longest time. From
    https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
    """

    def __init__(
        self,
        shortest_s: float = SHORTEST_S,
        longest_s: float = LONGEST_S,
        rng: Random | None = None,
    ) -> None:
        self._shortest_s = shortest_s
        self._first_step_s = min(2 * shortest_s, longest_s)
        self._longest_s = longest_s
        self._rng = rng or Random()
        self._step_s = self._first_step_s

    def next_s(self) -> float:
        """Return the seconds to wait after one more failure, within the limits."""
        wait_s = max(self._shortest_s, self._rng.uniform(self._step_s / 2, self._step_s))
        self._step_s = min(self._longest_s, BACKOFF_GROWTH * self._step_s)
        return wait_s

    def reset(self) -> None:
        """Start again from the shortest wait, after a success."""
        self._step_s = self._first_step_s


MAX_WAITING_EVENTS: Final = 100
"""Events that may wait until the instance has a name; the oldest are dropped and counted."""


@dataclass(frozen=True, slots=True)
class Event:
    """
    One `event` line before it has an identity.

    Attributes:
        name: The event's name, such as `MonitorDied`; one of a few.

        at_s: The event's time, seconds since the Unix epoch.

        message: One sentence for a person, without payload.

        details: Further members of the line, named as in the catalogue.
    """

    name: str
    at_s: float
    message: str
    details: Mapping[str, str | int | float] = field(default_factory=dict)


class EventQueue:
    """
    Events that wait to be written to the spool. Any thread may add events.

    Attributes:
        dropped: Events lost because too many were waiting.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._waiting: deque[Event] = deque()

    def add_event(self, event: Event) -> None:
        """Queue *event*. If too many wait, the oldest is dropped."""
        self._waiting.append(event)
        while len(self._waiting) > MAX_WAITING_EVENTS:
            self._waiting.popleft()
            self.dropped += 1

    def take_events(self) -> list[Event]:
        """Take all waiting events, the oldest first."""
        return [self._waiting.popleft() for _ in range(len(self._waiting))]
