"""
Fifty kill -9 at random moments, and not one closed minute less.

Real processes: the emitter with a simulated monitor as its child, sending with
boto3 to a CloudWatch Logs on loopback that fails in every way it can. Only the
wall clock is a test's: it runs sixty times as fast.
"""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time

import pytest
from arrivals import Arrivals
from emitter_process import wait_until
from lives import MINUTE_MS, PATIENCE_S, Life, Lives
from logs_service import (
    ANSWER_LOST,
    DENIED,
    INTERNAL,
    LATE,
    RESET,
    THROTTLED,
    UNAVAILABLE,
    LogsService,
)

START_S = 1_800_000_000.0
SPEED = 60.0
KILLS = 50
CHANCES = dict.fromkeys((THROTTLED, UNAVAILABLE, INTERNAL, RESET, ANSWER_LOST, LATE), 0.08)


class Killer:
    """
    Chooses the moments. Each waits for what must have happened first, then for chance.

    Attributes:
        unanswered: Kills after a call's events were taken and before its answer.
    """

    def __init__(self, service: LogsService, lives: Lives) -> None:
        self.unanswered = 0
        self._service = service
        self._lives = lives
        self._rng = random.Random(KILLS)
        self._kinds = [
            *(self.starting, self.anywhere, self.closing),
            *(self.writing, self.sending, self.answering),
        ]

    def kill(self, life: Life) -> None:
        """
        End *life* at some moment.
        """
        kind = self._rng.choice(self._kinds)
        trouble = self._rng.random()
        needs_a_call = kind in {self.sending, self.answering}
        if not needs_a_call and trouble < 0.2:
            self._service.vanish()
        elif not needs_a_call and trouble < 0.4:
            self._service.next_faults.append(DENIED)  # and is not asked again for a minute
        kind(life)
        self._service.next_faults.clear()
        if not self._service.is_there:
            self._service.come_back()

    def starting(self, life: Life) -> None:
        """
        Before anything is sure to have happened.
        """
        time.sleep(self._rng.uniform(0.0, 0.8))
        life.kill()

    def anywhere(self, life: Life) -> None:
        """
        While reports come in.
        """
        self._wait_for_reports(life, self._rng.randint(1, 70))
        time.sleep(self._rng.uniform(0.0, 0.1))
        life.kill()

    def closing(self, life: Life) -> None:
        """
        Around the end of a minute.
        """
        self._wait_for_reports(life, self._rng.randint(1, 15))
        left_s = 60.0 - self._lives.clock() % 60.0 + self._rng.uniform(-1.0, 5.0)
        time.sleep(max(0.0, left_s / SPEED))
        life.kill()

    def writing(self, life: Life) -> None:
        """
        In the middle of a commit: at the first byte that changes in the spool, or just after.
        """
        self._wait_for_reports(life, self._rng.randint(1, 15))
        before = self._lives.changed_at()
        wait_s = self._rng.choice([0.0, self._rng.uniform(0.0, 0.002)])
        deadline_s = time.monotonic() + PATIENCE_S
        while self._lives.changed_at() == before and not life.has_ended:
            assert time.monotonic() < deadline_s, "the spool does not change"
        time.sleep(wait_s)
        life.kill()

    def sending(self, life: Life) -> None:
        """
        When a call has come to the service, and nothing of it was taken yet.
        """
        with Held(self._service, "before_taking", self._rng.randint(0, 2)):
            life.kill()

    def answering(self, life: Life) -> None:
        """
        When the events were taken, and nobody has been told.
        """
        with Held(self._service, "before_answering", self._rng.randint(0, 2)):
            life.kill()
        self.unanswered += 1

    def _wait_for_reports(self, life: Life, count: int) -> None:
        wait_until(lambda: len(life.reports()) >= count or life.has_ended, PATIENCE_S)


class Held:
    """
    A call, the first after *passing* others, is held at *moment* while the block lasts.
    """

    def __init__(self, service: LogsService, moment: str, passing: int) -> None:
        self._service = service
        self._moment = moment
        self._passing = passing
        self._reached = threading.Event()
        self._go_on = threading.Event()

    def __enter__(self) -> None:
        setattr(self._service, self._moment, self._hold)
        assert self._reached.wait(PATIENCE_S), f"no call came to {self._moment}"

    def __exit__(self, *_error: object) -> None:
        setattr(self._service, self._moment, lambda: None)
        self._go_on.set()

    def _hold(self) -> None:
        self._passing -= 1
        if self._passing >= 0:
            return
        self._reached.set()
        self._go_on.wait(PATIENCE_S)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_fifty_kills_lose_no_closed_minute(tmp_path, clock):
    """
    Every record that any life committed arrives, under Seq 1, 2, 3... of its Boot.

    So does every minute that the monitor knows was over for the emitter. What
    came twice is the same line; nothing was dropped; no monitor outlives its
    emitter. The last life ends in order, with an empty spool.
    """
    clock.set(START_S, SPEED)
    produced: dict[str, int] = {}
    closed: set[int] = set()
    read_something = 0
    with (
        LogsService(clock, seed=KILLS) as service,
        Lives(tmp_path, clock, service.variables, ("--runtime-lines", "all")) as lives,
    ):
        killer = Killer(service, lives)
        service.chances = CHANCES
        for _ in range(KILLS):
            life = lives.begin()
            killer.kill(life)
            life.leaves_no_orphan()
            kept = lives.kept()
            assert 0 == kept.drops
            assert 1 >= len(kept.produced.keys() - produced.keys())
            produced |= kept.produced
            closed |= life.minutes_surely_closed()
            read_something += bool(life.reports())
        service.chances = {}
        last = lives.begin()
        wait_until(lambda: last.minutes_surely_closed() or last.has_ended, PATIENCE_S)
        with contextlib.suppress(AssertionError):  # then it is said below which record is missing
            wait_until(lambda: not arrived(service).missing(produced), PATIENCE_S)
        assert 0 == last.stop(), last.last_words()
        last.leaves_no_orphan()
        closed |= last.minutes_surely_closed()
        kept = lives.kept()
        produced |= kept.produced
        found = arrived(service)

    print(  # noqa: T201 - the figures, with pytest -s
        f"{KILLS} kills, {len(produced)} boots, {sum(produced.values())} records,"
        f" {len(closed)} minutes surely closed, {found.copies} copies; calls: {service.happened}"
    )
    assert (0, 0) == (kept.records, kept.drops)
    assert [] == found.missing(produced)
    assert sum(produced.values()) == len(found.lines)
    assert () == found.conflicts
    assert [] == sorted(closed - found.minutes())
    assert ([], 0) == (found.unbalanced(), found.dropped())
    assert [one for one in found.documents if one["Kind"] == "minute"][-1]["Bye"]
    # It was no proof if nothing was at stake.
    assert len(closed) >= 10
    assert len(produced) > read_something > KILLS // 2
    assert found.copies >= killer.unanswered > 0


def arrived(service: LogsService) -> Arrivals:
    """
    What the service has taken so far.
    """
    return Arrivals.of((one.timestamp_ms, one.message) for one in list(service.rules.applied))


def event(boot: str, seq: int, minute: int = 0, **members: int) -> tuple[int, str]:
    """
    A minute line with what is looked at, and its timestamp.
    """
    document = {"Kind": "minute", "Boot": boot, "Seq": seq, **members}
    return minute * MINUTE_MS, json.dumps(document)


def test_a_lost_record_is_found():
    """
    In the middle by the gap; at the end by what the spool said it had produced.
    """
    found = Arrivals.of([event("a", 1), event("a", 3), event("b", 1)])
    assert ["a 2"] == found.gaps()
    assert ["a 2", "b 2"] == found.missing({"a": 3, "b": 2})


def test_a_copy_is_no_conflict_and_another_line_is():
    """
    The same identity must be the same line for ever.
    """
    found = Arrivals.of([event("a", 1), event("a", 1), event("a", 1, minute=1)])
    assert (1, (("a", 1),)) == (found.copies, found.conflicts)
    assert {0} == found.minutes()


def test_an_account_that_does_not_add_up_is_found():
    """
    Produced is delivered, spooled or dropped.
    """
    account = {"RecordsProduced": 5, "RecordsDelivered": 3, "RecordsDropped": 1}
    found = Arrivals.of([event("a", 1, SpoolRecords=1, **account),
                         event("a", 2, SpoolRecords=2, **account)])  # fmt: skip
    assert (["a 2"], 1) == (found.unbalanced(), found.dropped())
