"""
Kill -9 at random times loses no closed minute.

The processes are real: the emitter, with a simulated monitor as its child, sends with boto3 to a
CloudWatch Logs on loopback that fails in every way it can. Only the wall clock is simulated: it
runs 60 times as fast.
"""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING

import pytest

from proof.emitter_process import wait_until
from proof.kills.lives import Life, Lives
from proof.kills.moments import Moments
from proof.line_arrivals import Arrivals
from proof.logs.logs_service import LogsService
from proof.logs.service_faults import (
    ANSWER_LOST,
    DENIED_FAULT,
    INTERNAL,
    RESET,
    THROTTLED,
    UNAVAILABLE,
)
from proof.wall_clock import WallClock
from tests.neuron_emitter.neuron_reports import REPORTS_START_S

if TYPE_CHECKING:
    from collections.abc import Callable

SPEED = 60.0
KILLS = 12  # each time twice
KILLS_SEED = 50
FAULT_CHANCES = dict.fromkeys((THROTTLED, UNAVAILABLE, INTERNAL, RESET, ANSWER_LOST), 0.09)


class Killer:
    """Choose the times of kills and the service's behavior between them."""

    def __init__(self, service: LogsService, lives: Lives) -> None:
        self._service = service
        self._rng = random.Random(KILLS_SEED)
        self.moments = Moments(service, lives, self._rng, speed=SPEED)
        self._in_turn = [
            *(self.moments.starting, self.moments.anywhere, self.moments.closing),
            *(self.moments.writing, self.moments.sending, self.moments.answering),
        ]
        self._left: list[Callable[[Life], None]] = []

    def kill(self, life: Life) -> None:
        """Kill *life* at some time; each kind of time has the same chance."""
        if not self._left:
            self._left = self._rng.sample(self._in_turn, len(self._in_turn))
        end_life = self._left.pop()
        trouble = self._rng.random()
        needs_a_call = end_life in {self.moments.sending, self.moments.answering}
        if not needs_a_call and trouble < 0.2:
            self._service.vanish()
        elif not needs_a_call and trouble < 0.4:
            # And it is not asked again for a minute.
            self._service.next_faults["PutLogEvents"].append(DENIED_FAULT)
        end_life(life)
        self._service.next_faults["PutLogEvents"].clear()
        if not self._service.is_there:
            self._service.come_back()


@pytest.mark.proof
def test_kills_lose_no_closed_minute(tmp_path):
    """
    Every record that any life committed arrives, under Seq 1, 2, 3... of its Boot.

    Every minute that the monitor knows the emitter finished arrives, too. A record that arrives
    twice is the same line, no record is dropped, and no monitor outlives its emitter. The last life
    ends cleanly with an empty spool.
    """
    produced: dict[str, int] = {}
    closed: set[int] = set()
    read_something = 0
    with (
        WallClock(tmp_path / "clock") as clock,
        LogsService(clock, seed=KILLS_SEED) as service,
        Lives(tmp_path, clock, service.variables) as lives,
    ):
        clock.set(REPORTS_START_S, SPEED)
        killer = Killer(service, lives)
        service.chances = FAULT_CHANCES
        for _ in range(KILLS):
            life = lives.begin()
            killer.kill(life)
            life.leaves_no_orphan()
            kept = lives.kept()
            assert 0 == kept.dropped
            assert 1 >= len(kept.produced.keys() - produced.keys())
            produced |= kept.produced
            closed |= life.minutes_surely_closed()
            read_something += bool(life.reports())
        service.chances = {}
        last = lives.begin()
        wait_until(lambda: last.minutes_surely_closed() or last.has_ended)
        with contextlib.suppress(AssertionError):  # the asserts below name the missing record
            wait_until(lambda: not arrived(service).missing(produced))
        assert 0 == last.stop(), last.last_words()
        last.leaves_no_orphan()
        closed |= last.minutes_surely_closed()
        kept = lives.kept()
        produced |= kept.produced
        arrivals = arrived(service)

    assert 0 == kept.waiting
    assert 0 == kept.dropped
    assert [] == arrivals.missing(produced)
    assert sum(produced.values()) == len(arrivals.lines)
    assert () == arrivals.conflicts
    assert [] == sorted(closed - arrivals.minutes())
    assert [] == arrivals.unbalanced()
    assert 0 == arrivals.dropped()
    assert [document for document in arrivals.documents if document["Kind"] == "minute"][-1][
        "CleanShutdown"
    ]
    # The proof is empty if no record was at risk.
    assert len(closed) >= 4
    assert len(produced) > read_something > KILLS // 2
    assert arrivals.copies >= killer.moments.unanswered > 0


def arrived(service: LogsService) -> Arrivals:
    """Return what the service has accepted so far."""
    return Arrivals.of((event.timestamp_ms, event.message) for event in list(service.rules.applied))
