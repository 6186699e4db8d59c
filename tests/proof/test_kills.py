"""
Kill -9 at random moments, and not one closed minute less.

Real processes: the emitter with a simulated monitor as its child, sending with
boto3 to a CloudWatch Logs on loopback that fails in every way it can. Only the
wall clock is a test's: it runs sixty times as fast.
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
KILLS = 12  # each moment twice
KILLS_SEED = 50
FAULT_CHANCES = dict.fromkeys((THROTTLED, UNAVAILABLE, INTERNAL, RESET, ANSWER_LOST), 0.09)


class Killer:
    """Chooses the moments, and what the service does meanwhile."""

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
        """End *life* at some moment: each kind comes as often as any other."""
        if not self._left:
            self._left = self._rng.sample(self._in_turn, len(self._in_turn))
        kind = self._left.pop()
        trouble = self._rng.random()
        needs_a_call = kind in {self.moments.sending, self.moments.answering}
        if not needs_a_call and trouble < 0.2:
            self._service.vanish()
        elif not needs_a_call and trouble < 0.4:
            # And is not asked again for a minute.
            self._service.next_faults["PutLogEvents"].append(DENIED_FAULT)
        kind(life)
        self._service.next_faults["PutLogEvents"].clear()
        if not self._service.is_there:
            self._service.come_back()


@pytest.mark.proof
def test_kills_lose_no_closed_minute(tmp_path):
    """
    Every record that any life committed arrives, under Seq 1, 2, 3... of its Boot.

    So does every minute that the monitor knows was over for the emitter. What
    came twice is the same line; nothing was dropped; no monitor outlives its
    emitter. The last life ends in order, with an empty spool.
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
        with contextlib.suppress(AssertionError):  # then it is said below which record is missing
            wait_until(lambda: not arrived(service).missing(produced))
        assert 0 == last.stop(), last.last_words()
        last.leaves_no_orphan()
        closed |= last.minutes_surely_closed()
        kept = lives.kept()
        produced |= kept.produced
        found = arrived(service)

    assert 0 == kept.waiting
    assert 0 == kept.dropped
    assert [] == found.missing(produced)
    assert sum(produced.values()) == len(found.lines)
    assert () == found.conflicts
    assert [] == sorted(closed - found.minutes())
    assert [] == found.unbalanced()
    assert 0 == found.dropped()
    assert [document for document in found.documents if document["Kind"] == "minute"][-1][
        "CleanShutdown"
    ]
    # It was no proof if nothing was at stake.
    assert len(closed) >= 4
    assert len(produced) > read_something > KILLS // 2
    assert found.copies >= killer.moments.unanswered > 0


def arrived(service: LogsService) -> Arrivals:
    """What the service has taken so far."""
    return Arrivals.of((one.timestamp_ms, one.message) for one in list(service.rules.applied))
