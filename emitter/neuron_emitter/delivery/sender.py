"""
Send records in a thread of its own, so that no response delays the reading of reports.

Every instance of a fleet closes its minute in the same second. Each sends at its own moment in the
*spread_s* seconds after it. The moment comes from a hash of the instance, so instances do not have
to agree on it.
"""

from __future__ import annotations

import logging
import time
from hashlib import blake2b
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from neuron_emitter.delivery.delivery import PROBLEM_LOG_INTERVAL_S, Flushed
from neuron_emitter.delivery.destination import Retry
from neuron_emitter.logs import Backoff, Repeats
from neuron_emitter.spool import SpoolFailedError

if TYPE_CHECKING:
    import random

    from neuron_emitter.delivery.delivery import Delivery
    from neuron_emitter.logs import Clock

_HASH_BYTES: Final = 8

_log = logging.getLogger(__name__)


class Waiter:
    """
    A wait of one thread for another: for work, for a time, or for the end.

    One thread waits; any other thread calls `wake` and `stop`.
    """

    def __init__(self) -> None:
        self._work = Event()
        self._end = Event()

    @property
    def stopped(self) -> bool:
        """True if `stop` was called. It never becomes False again."""
        return self._end.is_set()

    def wake(self) -> None:
        """End the current or the next `idle`, because there is work. A `pause` does not end."""
        self._work.set()

    def stop(self) -> None:
        """End every wait, now and later."""
        self._end.set()
        self._work.set()

    def idle(self) -> None:
        """Wait until `wake` or `stop`."""
        if not self.stopped:
            self._work.wait()
            self._work.clear()

    def pause(self, seconds: float) -> None:
        """Wait *seconds*, or until `stop`."""
        self._end.wait(seconds)


def offset_s(instance: str, spread_s: float) -> float:
    """
    Return the moment of *instance* in the spread: at least 0, less than *spread_s*.

    The same on every machine and Python, and evenly spread over instances.
    """
    digest = blake2b(instance.encode(), digest_size=_HASH_BYTES).digest()
    return spread_s * int.from_bytes(digest, "big") / 256**_HASH_BYTES


class Sender:
    """
    Sends the records in the spool after `start`, and new records after each `wake`.

    Attributes:
        delivery: The delivery that sends the records.
    """

    def __init__(
        self,
        delivery: Delivery,
        *,
        instance: str,
        spread_s: float,
        clock: Clock = time.time,
        monotonic: Clock = time.monotonic,
        waiter: Waiter | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self.delivery = delivery
        self._spread_s = spread_s
        self._offset_s = offset_s(instance, spread_s)
        self._clock = clock
        self._monotonic = monotonic
        self._waiter = waiter or Waiter()
        self._trouble_backoff = Backoff(shortest_s=1.0, rng=rng)
        self._trouble_log = Repeats(PROBLEM_LOG_INTERVAL_S, monotonic)
        # A daemon thread: a call that hangs must not keep the process from ending.
        self._thread = Thread(target=self.run, name="sender", daemon=True)
        self._deadline_s = 0.0  # deadline on the monotonic clock, set by `stop`
        self._flushed: Flushed | None = None
        self._flush_problem: Retry | None = None
        self._is_replaced = False

    def start(self) -> None:
        """Start to send."""
        self._thread.start()

    def wake(self) -> None:
        """Send the appended records at this instance's moment of the minute."""
        self._waiter.wake()

    def rename(self, instance: str) -> None:
        """Change the instance's name, and with it its moment of the minute."""
        self._offset_s = offset_s(instance, self._spread_s)

    def stop(self, deadline_s: float, *, is_replaced: bool = False) -> Flushed:
        """
        Send the remaining records for at most *deadline_s* seconds, and keep the rest.

        A call that still runs at the deadline is abandoned: its records are kept too, and may
        arrive twice. Otherwise its connections are closed. With *is_replaced*, another sender sends
        the remaining records.
        """
        self._is_replaced = is_replaced
        self._deadline_s = self._monotonic() + deadline_s
        self._waiter.stop()
        if self._thread.ident is None:
            self._end()
        else:
            self._thread.join(deadline_s)
        if self._flushed is not None:
            return self._flushed
        problem = self._flush_problem or Retry(
            "timeout", f"No response within {deadline_s:g} s of shutdown."
        )
        return Flushed(self.delivery.remaining(), problem)

    def run(self) -> None:
        """Run the thread until `stop`."""
        # A fleet that is deployed at the same time must not send at the same time either.
        self._waiter.pause(self._offset_s)
        while not self._waiter.stopped:
            wait_s = self._attempt()
            if wait_s is None:
                self._waiter.idle()
                wait_s = self._offset_s - self._clock() % 60.0  # below 0: the moment has passed
            if wait_s > 0:
                self._waiter.pause(wait_s)
        self._end()

    def _attempt(self) -> float | None:
        """Make one attempt. Return the seconds to wait after it, or None if no record is left."""
        try:
            outcome, wait_s = self.delivery.attempt()
        except Exception as error:  # noqa: BLE001 a bug in one answer must not end delivery for good
            wait_s = self._trouble_backoff.next_s()
            why = f"unexpected {type(error).__name__}"
            if attempts := self._trouble_log.due(why):
                extra = {"why": why, "attempts": attempts, "wait_s": round(wait_s, 1)}
                _log.error("delivery failed", extra=extra, exc_info=True)
            return wait_s
        self._trouble_backoff.reset()
        return None if outcome is None else wait_s

    def _end(self) -> None:
        try:
            if not self._is_replaced:
                self._flushed = self.delivery.flush(self._deadline_s - self._monotonic())
        except SpoolFailedError as error:
            # The spool is also closed if the caller stopped waiting.
            self._flush_problem = Retry("spool", str(error))
        self.delivery.close()
