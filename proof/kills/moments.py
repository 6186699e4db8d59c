"""The moments at which an emitter is killed. Each waits for its condition."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

from proof.emitter_process import HUNG_AFTER_S, wait_until

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from proof.kills.lives import Life, Lives
    from proof.logs.logs_service import LogsService

ENOUGH_REPORTS = 15
MOST_PASSING = 2  # calls of one life that pass before one is held


class Moments:
    """
    The moments of an emitter's lives, which send to one service.

    Attributes:
        unanswered: Kills after a call's events were stored and before its answer.
    """

    def __init__(
        self, service: LogsService, lives: Lives, rng: random.Random, *, speed: float
    ) -> None:
        self.unanswered = 0
        self._service = service
        self._lives = lives
        self._rng = rng
        self._speed = speed

    def starting(self, life: Life) -> None:
        """Kill before anything is certain to have happened."""
        time.sleep(self._rng.uniform(0.0, 0.8))
        life.kill()

    def anywhere(self, life: Life) -> None:
        """Kill while reports come in."""
        self._wait_for_reports(life, self._rng.randint(1, 70))
        time.sleep(self._rng.uniform(0.0, 0.1))
        life.kill()

    def closing(self, life: Life) -> None:
        """Kill around the end of a minute."""
        self._wait_for_reports(life, self._rng.randint(1, ENOUGH_REPORTS))
        left_s = 60.0 - self._lives.clock() % 60.0 + self._rng.uniform(-1.0, 5.0)
        time.sleep(max(0.0, left_s / self._speed))
        life.kill()

    def writing(self, life: Life) -> None:
        """Kill during a commit: at the first byte that changes in the spool, or just after."""
        self._wait_for_reports(life, self._rng.randint(1, ENOUGH_REPORTS))
        before = self._lives.changed_at()
        wait_s = self._rng.choice([0.0, self._rng.uniform(0.0, 0.002)])
        deadline_s = time.monotonic() + HUNG_AFTER_S
        while self._lives.changed_at() == before and not life.has_ended:
            assert time.monotonic() < deadline_s, "the spool does not change"
            time.sleep(0.0002)
        time.sleep(wait_s)
        life.kill()

    def sending(self, life: Life) -> None:
        """Kill when a call has reached the service and no event was stored yet."""
        with self._held("before_taking"):
            life.kill()

    def answering(self, life: Life) -> None:
        """Kill when the events were stored and the answer was not sent."""
        with self._held("before_answering"):
            life.kill()
        self.unanswered += 1

    def _wait_for_reports(self, life: Life, count: int) -> None:
        wait_until(lambda: len(life.reports()) >= count or life.has_ended, HUNG_AFTER_S)

    @contextlib.contextmanager
    def _held(self, moment: str) -> Iterator[None]:
        """Let up to `MOST_PASSING` calls pass, and hold the next at *moment* during the block."""
        passing = self._rng.randint(0, MOST_PASSING)
        reached = threading.Event()
        go_on = threading.Event()

        def hold() -> None:
            nonlocal passing
            passing -= 1
            if passing >= 0:
                return
            reached.set()
            go_on.wait(HUNG_AFTER_S)

        setattr(self._service, moment, hold)
        try:
            assert reached.wait(HUNG_AFTER_S), f"no call came to {moment}"
            yield
        finally:
            setattr(self._service, moment, lambda: None)
            go_on.set()
