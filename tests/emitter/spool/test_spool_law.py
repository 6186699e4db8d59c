"""The identity, after any sequence of what can happen to a spool."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from spool_parts import Clock, Ticks, balance, counters_of, full_disk, older_boots

from emitter.spool import NewRecord, Spool
from emitter.spool.ledger import cost_bytes

STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("append"),
            st.lists(
                st.tuples(st.sampled_from([0, 50, 900, 2500]), st.integers(-120, 10)), max_size=4
            ),
        ),
        st.tuples(st.just("deliver"), st.integers(0, 4)),
        st.tuples(st.just("drop"), st.integers(0, 3)),
        st.tuples(st.just("again"), st.integers(0, 9)),
        st.tuples(st.just("wait"), st.integers(0, 60)),
        st.tuples(st.sampled_from(["refuse", "accept", "reopen", "reopen"]), st.just(0)),
    ),
    max_size=25,
)


class Model:
    """What the spool promises, in lists and counters: 3,000 bytes, 100 seconds."""

    MAX_BYTES = 3000
    MAX_AGE_S = 100

    def __init__(self) -> None:
        self.waiting: list[tuple[str, int, int, int]] = []  # boot, seq, timestamp_ms, bytes
        self.produced: Counter[str] = Counter()
        self.delivered: Counter[str] = Counter()
        self.dropped: dict[str, Counter[str]] = {}

    def drop(self, record, reason):
        """Count a loss."""
        self.dropped.setdefault(record[0], Counter())[reason] += 1

    def append(self, boot, now_ms, sizes):
        """What an append must do, one record after the other."""
        earliest_ms = now_ms - self.MAX_AGE_S * 1000
        for record in [each for each in self.waiting if each[2] < earliest_ms]:
            self.waiting.remove(record)
            self.drop(record, "too_old")
        for size, age_s in sizes:
            self.produced[boot] += 1
            record = (boot, self.produced[boot], now_ms + age_s * 1000, size)
            if record[2] < earliest_ms:
                self.drop(record, "too_old")
            elif cost_bytes(size) > self.MAX_BYTES:
                self.drop(record, "too_large")
            else:
                self.waiting.append(record)
                while sum(cost_bytes(each[3]) for each in self.waiting) > self.MAX_BYTES:
                    self.drop(self.waiting.pop(0), "spool_full")

    def check(self, spool):
        """Every counter of every boot, and every record in its place."""
        taken = spool.oldest(1000, 1 << 30)
        assert self.waiting == [
            (record.boot, record.seq, record.timestamp_ms, len(record.line)) for record in taken
        ]
        older = {record[0] for record in self.waiting} - {spool.boot}
        assert older == set(older_boots(spool))
        for boot in (spool.boot, *older):
            counters = counters_of(spool, boot)
            records = sum(record[0] == boot for record in self.waiting)
            assert self.produced[boot] == counters.produced
            assert self.delivered[boot] == counters.delivered
            assert self.dropped.get(boot, {}) == +counters.dropped
            assert records == counters.records
            assert len(self.waiting) - sum(r[0] == spool.boot for r in self.waiting) == (
                spool.health().older_records
            )
            assert sum(record[3] for record in self.waiting) == spool.health().bytes
            assert 0 == balance(spool, boot)


class Driven:
    """A spool on disk and the model of it, one step at a time."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.model = Model()
        self.clock = Clock()
        self.settled: list[int] = []
        self.is_refusing = False
        self.spool = self.opened()

    def opened(self) -> Spool:
        """The spool within the model's bounds."""
        return Spool.open(
            self.directory,
            max_bytes=Model.MAX_BYTES,
            max_age_s=Model.MAX_AGE_S,
            clock=self.clock,
            monotonic=Ticks(),
        )

    def take(self, step, value):
        """Do *step* to both and compare them."""
        if step in {"refuse", "accept", "reopen"}:
            self.is_refusing = step == "refuse"
        with full_disk() if self.is_refusing else nullcontext():
            getattr(self, step, lambda _: None)(value)
            self.model.check(self.spool)

    def append(self, sizes_and_ages):
        """Append records of these sizes and ages."""
        now_ms = round(self.clock.now_s * 1000)
        self.spool.append(
            [NewRecord(now_ms + age_s * 1000, "x" * size) for size, age_s in sizes_and_ages]
        )
        self.model.append(self.spool.boot, now_ms, sizes_and_ages)

    def deliver(self, count):
        """The destination took the first *count*."""
        for record in self.settle(count, self.spool.settle):
            self.model.delivered[record[0]] += 1

    def drop(self, count):
        """The first *count* are no good."""
        for record in self.settle(count, lambda ids: self.spool.settle(dropped={"invalid": ids})):
            self.model.drop(record, "invalid")

    def settle(self, count, answer):
        """Let *answer* take the first *count*; what the model has of them."""
        ids = [each.id for each in self.spool.oldest(count, 1 << 30)] if count else []
        answer(ids)
        self.settled += ids
        gone, self.model.waiting = self.model.waiting[:count], self.model.waiting[count:]
        return gone

    def again(self, count):
        """An answer that comes twice."""
        self.spool.settle(self.settled[-count:])

    def wait(self, seconds):
        """Time passes."""
        self.clock.now_s += seconds

    def reopen(self, _):
        """The next emitter start."""
        self.spool.close()
        self.spool, self.settled = self.opened(), []


@settings(max_examples=60)
@given(STEPS)
def test_produced_is_delivered_and_spooled_and_dropped(steps):
    """After any sequence of appends, answers, restarts, time and a disk that refuses, exactly."""
    with tempfile.TemporaryDirectory() as folder:
        driven = Driven(Path(folder))
        try:
            for step, value in steps:
                driven.take(step, value)
        finally:
            driven.spool.close()
