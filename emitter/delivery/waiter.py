"""How one thread waits for another: until there is work, for a time, or until the end."""

from __future__ import annotations

import threading
import time


class Waiter:
    """Wait in one thread; `wake` and `stop` from any other."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._work = False
        self._stopped = False

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called. It stays so."""
        return self._stopped

    def wake(self) -> None:
        """There is work: end `idle`, the running one or the next. Ends no `pause`."""
        with self._changed:
            self._work = True
            self._changed.notify_all()

    def stop(self) -> None:
        """End every wait, now and from now on."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def idle(self) -> None:
        """Wait until `wake` or `stop`."""
        with self._changed:
            self._changed.wait_for(lambda: self._work or self._stopped)
            self._work = False

    def pause(self, seconds: float) -> None:
        """Wait *seconds*, or until `stop`."""
        ends_s = time.monotonic() + seconds
        with self._changed:
            while not self._stopped and (left_s := ends_s - time.monotonic()) > 0:
                self._changed.wait(left_s)
