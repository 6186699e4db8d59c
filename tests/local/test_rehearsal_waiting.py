"""Waiting ends as soon as all is right, and never later than it said."""

from __future__ import annotations

import pytest

from local.embedded_aws import EmbeddedAwsError
from local.rehearsal import waiting
from local.rehearsal.waiting import (
    CLOSE_AGAIN_S,
    INGEST_PATIENCE_S,
    SETTLED_S,
    close_until,
    wait_until_stored,
)

KEY = ("research", 1_799_999_940)


class World:
    """A stack and a stage on one clock; *plan* says what is right from which second on."""

    def __init__(self, monkeypatch, *, there_s=None, right_s=None, stored=()):
        self.now_s = 1_000.0
        self.there_s, self.right_s = there_s, right_s
        self.asked_s = []
        self.rollups = self
        self._stored = list(stored)
        self._was_there = False
        monkeypatch.setattr(waiting.time, "monotonic", lambda: self.now_s)
        monkeypatch.setattr(waiting, "against_truth", lambda *_: [] if self.right else ["wrong"])

    @property
    def passed_s(self):
        """Seconds since the beginning."""
        return self.now_s - 1_000.0

    @property
    def right(self):
        """Whether every rollup is right."""
        return self.right_s is not None and self.passed_s >= self.right_s

    @property
    def minutes(self):
        """The rollups that are there."""
        is_there = self.there_s is not None and self.passed_s >= self.there_s
        return {KEY: None} if is_there else {}

    def wait(self, seconds):
        """Let time pass."""
        self.now_s += seconds

    def look(self):
        """Whether a line is new."""
        is_new = bool(self.minutes) and not self._was_there
        self._was_there = bool(self.minutes)
        return int(is_new)

    def close_minutes(self):
        """Note when close was asked to run."""
        self.asked_s.append(self.passed_s)

    def stored_records(self):
        """One more answer each time."""
        return self._stored.pop(0) if len(self._stored) > 1 else self._stored[0]


def test_nothing_is_asked_for_when_all_is_right(monkeypatch):
    """No wait either."""
    world = World(monkeypatch, there_s=0, right_s=0)
    close_until(60, {KEY: None}, world, world)
    assert [] == world.asked_s
    assert 0 == world.passed_s


def test_close_is_asked_again_until_it_is_right(monkeypatch):
    """At once, and then at its interval."""
    world = World(monkeypatch, there_s=12, right_s=12)
    close_until(60, {KEY: None}, world, world)
    assert [0, CLOSE_AGAIN_S, 2 * CLOSE_AGAIN_S] == world.asked_s
    assert 12 == world.passed_s


def test_a_missing_rollup_is_waited_for_to_the_end(monkeypatch):
    """And no longer."""
    world = World(monkeypatch)
    close_until(60, {KEY: None}, world, world)
    assert 60 < world.passed_s <= 62


def test_a_wrong_rollup_is_given_time_to_be_restated_and_no_more(monkeypatch):
    """All are there and nothing new comes: it will not become right."""
    world = World(monkeypatch, there_s=5)
    close_until(60, {KEY: None}, world, world)
    assert 5 + SETTLED_S < world.passed_s <= 5 + SETTLED_S + 3


def test_ingest_is_waited_for(monkeypatch):
    """Until the table holds as many as were delivered."""
    world = World(monkeypatch, stored=[0, 40, 60])
    wait_until_stored(60, world, world)
    assert 0 < world.passed_s < 1


def test_an_ingest_that_does_not_store_is_told(monkeypatch):
    """One sentence after a bounded wait."""
    world = World(monkeypatch, stored=[59])
    with pytest.raises(EmbeddedAwsError, match="60 lines were delivered, but ingest did not"):
        wait_until_stored(60, world, world)
    assert INGEST_PATIENCE_S < world.passed_s < INGEST_PATIENCE_S + 1
