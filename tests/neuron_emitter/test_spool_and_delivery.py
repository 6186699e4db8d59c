"""
Spool and delivery against a failing service, a full disk and kill -9.

A model keeps appended records, the service's answers and the disk's last state, to which a kill
returns.
"""

from __future__ import annotations

import copy
import os
import random
import shutil
import tempfile
from collections import Counter
from contextlib import contextmanager, nullcontext
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from neuron_emitter.delivery.delivery import Delivery
from neuron_emitter.spool import NewRecord, Spool
from neuron_emitter.spool.spool_records import cost_bytes
from tests.neuron_emitter.in_process_service import POISON, InProcessService, SenderKilledError
from tests.neuron_emitter.spool_parts import (
    SpoolClock,
    Ticks,
    balance,
    counters_of,
    crash,
    full_disk,
    older_boots,
)

HOUR_S = 3600.0

# The text of a record, and the seconds by which it is ahead of the clock.
RECORD_KINDS = {
    "plain": ("x" * 40, 0.0),
    "late": ("x" * 40, -30 * HOUR_S),  # more than 24 h from a plain record
    "long": ("é" * 3_000, 0.0),
    "future": ("x" * 40, 3 * HOUR_S),
    "poison": (POISON, 0.0),
}


def record_of(kind, boot, seq, now_s):
    """Return a record of a kind in RECORD_KINDS, or an empty line. Its identity is in its line."""
    text, ahead_s = RECORD_KINDS.get(kind, ("", 0.0))
    return NewRecord(round((now_s + ahead_s) * 1000), f"{boot} {seq} {text}" if kind else "")


class Model:
    """The expected state of one spool."""

    def __init__(self) -> None:
        self.produced: Counter[str] = Counter()
        self.waiting: dict[tuple[str, int], NewRecord] = {}
        self.delivered: Counter[str] = Counter()
        self.lost: dict[tuple[str, int], NewRecord] = {}
        self.rejected: dict[tuple[str, int], str] = {}  # reason of the service for a lost record
        self.state = None

    def keys(self):
        """Return the keys of all records ever appended."""
        return {
            (boot, seq)
            for boot, produced in self.produced.items()
            for seq in range(1, produced + 1)
        }

    def append(self, boot, records, state):
        """Note records that the spool got."""
        for record in records:
            self.produced[boot] += 1
            self.waiting[boot, self.produced[boot]] = record
        self.state = state

    def observe(self, there, answered, rejected):
        """Note each record that is not in *there* as answered or lost."""
        assert there <= self.waiting.keys(), "a removed record came back"
        for key in [key for key in self.waiting if key not in there]:
            record = self.waiting.pop(key)
            if key in answered:
                self.delivered[key[0]] += 1
            else:
                self.lost[key] = record
                if key in rejected:
                    self.rejected[key] = rejected[key]


SMALL_SPOOL_BYTES = 24_000

SMALL_MEMORY_BYTES = 9_000

MAX_AGE_S = 13 * 86_400.0

# A file system in memory, if available: a commit does not wait.
QUICK_DISK = next((path for path in ("/dev/shm",) if os.access(path, os.W_OK)), None)

NO_LIMITS = (100_000, 1 << 30)

# Failures of a call.
MOODS = (
    "throttled",
    "lost before",
    "lost after",
    "denied",
    "gone",
    "killed before",
    "killed after",
)

# Seconds by which the service's clock is ahead, and the retention of its log group in days.
SERVICE_CLOCKS = {
    "as it should be": (0.0, 9999),
    "ahead": (2 * 86_400.0, 9999),
    "behind": (-3 * 3600.0, 9999),
    "forgetful": (0.0, 1),
}

ANY_MOODS = st.lists(st.sampled_from([*MOODS, *[None] * len(MOODS)]), max_size=6)


class SpoolAndDelivery(RuleBasedStateMachine):
    """Append, send, wait, break the service, fill the disk, stop, kill and recover."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="spool-", dir=QUICK_DISK))
        self.lives = 0
        self.clock = SpoolClock()
        self.service = InProcessService(self.clock)
        self.model = Model()
        self.is_full = False
        self.vanished: set[tuple[str, int]] = set()  # killed while only in memory
        self.on_disk = Model()
        self.begin(self.folder / "0")

    def begin(self, directory):
        """Start an emitter."""
        with self.disk():
            self.spool = Spool(
                directory,
                max_bytes=SMALL_SPOOL_BYTES,
                max_age_s=MAX_AGE_S,
                memory_bytes=SMALL_MEMORY_BYTES,
                clock=self.clock,
                monotonic=Ticks(),
            )
        self.delivery = Delivery(
            self.spool,
            self.service,
            clock=self.clock,
            monotonic=self.clock,
            sleep=self.clock.sleep,
            rng=random.Random(1),
        )

    def disk(self):
        """Return a context with the current state of the disk."""
        return full_disk() if self.is_full else nullcontext()

    @contextmanager
    def observed(self):
        """Check that each record that leaves the spool in the block was answered or dropped."""
        self.service.answered.clear()
        self.service.rejected.clear()
        with self.disk():
            yield
            now = {(record.boot, record.seq) for record in self.spool.oldest(*NO_LIMITS)}
        self.model.observe(now, self.service.answered, self.service.rejected)
        if self.is_written:
            self.on_disk = copy.deepcopy(self.model)

    @property
    def is_written(self):
        """Return True if the spool reports that the disk has all records."""
        return self.spool._file.refused is None and not self.spool._backlog.changed

    @rule(
        kinds=st.lists(
            st.sampled_from([*RECORD_KINDS, "plain", "plain", ""]), min_size=1, max_size=6
        ),
        moods=ANY_MOODS,
        disk=st.sampled_from([None, None, "full", "not full"]),
        service=st.sampled_from([None, None, *SERVICE_CLOCKS]),
    )
    def minute(self, kinds, moods, disk, service):
        """Close a minute and send; the disk and the service may change."""
        self.clock.now_s += 60.0
        if disk is not None:
            self.is_full = disk == "full"
        if service is not None:
            self.service.skew_s, self.service.retention_days = SERVICE_CLOCKS[service]
        self.append(kinds)
        self.offer(moods)

    def append(self, kinds):
        """Append a record of each kind, with its number in its line as in the service."""
        boot = self.spool.boot
        first = self.spool.next_seq
        assert self.model.produced[boot] + 1 == first
        records = [
            record_of(kind, boot, seq, self.clock()) for seq, kind in enumerate(kinds, first)
        ]
        state = f"{boot} {first}".encode()
        self.model.append(boot, records, state)
        before = sum(cost_bytes(len(r.line.encode())) for r in self.model.waiting.values())
        lost_before = len(self.model.lost)
        with self.observed():
            assert first == self.spool.append(records, state)
        if len(self.model.lost) > lost_before and before <= SMALL_MEMORY_BYTES:
            newly_lost = list(self.model.lost.values())[lost_before:]
            earliest_ms = (self.clock() - MAX_AGE_S) * 1000
            assert all(record.timestamp_ms < earliest_ms for record in newly_lost)
        assert self.is_full or self.is_written, "the disk accepts writes and has no record"

    @rule(moods=ANY_MOODS)
    def offer(self, moods):
        """Make an attempt for each mood of the service."""
        killed = False
        with self.observed():
            try:
                for self.service.mood in moods:
                    self.delivery.attempt()
            except SenderKilledError:
                killed = True
        if killed:
            self.kill()

    @rule(seconds=st.sampled_from([HOUR_S, 25 * HOUR_S, 12.5 * 86_400.0]))
    def wait(self, seconds):
        """Move the clock."""
        self.clock.now_s += seconds

    @rule()
    def kill(self):
        """Kill the process: the disk's last state is left, and other records may be sent again."""
        self.lives += 1
        left = crash(self.spool, self.folder / str(self.lives))
        gone = self.spool
        self.vanished |= self.model.waiting.keys() - self.on_disk.waiting.keys()
        self.service.repeatable |= self.on_disk.waiting.keys()
        self.model = copy.deepcopy(self.on_disk)
        with full_disk():
            gone.close()  # closes its files only
        shutil.rmtree(gone.directory)
        self.begin(left)
        with self.observed():
            pass

    @rule()
    def restart(self):
        """Stop as planned, and keep undelivered records."""
        directory = self.spool.directory
        with self.disk():
            self.spool.close()
        if self.is_full:
            self.vanished |= self.model.waiting.keys() - self.on_disk.waiting.keys()
            self.service.repeatable |= self.on_disk.waiting.keys()
            self.model = copy.deepcopy(self.on_disk)
        self.begin(directory)
        with self.observed():
            pass

    @rule()
    def recover(self):
        """
        Recover disk and service, and deliver all records.

        A record is sent again only if an answer was lost. A record that did not arrive was dropped
        with a reason.
        """
        self.is_full = False
        self.service.mood = None
        self.service.skew_s, self.service.retention_days = SERVICE_CLOCKS["as it should be"]
        with self.observed():
            flushed = self.delivery.flush(HOUR_S)
        assert 0 == flushed.remaining
        assert flushed.problem is None
        assert not self.model.waiting
        arrived = {key for key, times in self.service.received.items() if times}
        assert set() == self.model.keys() - arrived - self.model.lost.keys()

    @invariant()
    def produced_is_delivered_and_spooled_and_dropped(self):
        """The identity holds for each known boot, by the spool's numbers and by the model's."""
        for boot in (self.spool.boot, *older_boots(self.spool)):
            counters = counters_of(self.spool, boot)
            assert 0 == balance(self.spool, boot)
            assert self.model.produced[boot] == counters.produced
            assert self.model.delivered[boot] == counters.delivered
            lost = [record for (of, _), record in self.model.lost.items() if of == boot]
            assert len(lost) == sum(counters.dropped.values())
            assert sum(of == boot for of, _ in self.model.waiting) == counters.records
        assert self.spool.health().set_aside == 0
        assert self.model.state == self.spool.state

    @invariant()
    def numbers_have_no_gap(self):
        """
        Each number of each boot, also of forgotten boots, arrived, waits, or was dropped or killed.

        Numbers start at 1, and only records in memory can be killed.
        """
        known = (
            self.service.received.keys()
            | self.model.waiting.keys()
            | self.model.lost.keys()
            | self.vanished
        )
        assert set() == self.model.keys() - known

    @invariant()
    def every_drop_has_its_reason(self):
        """
        An invalid record is poison or empty, and the service's rejections have their reasons.

        Other drops are for age or space.
        """
        for boot in (self.spool.boot, *older_boots(self.spool)):
            dropped = counters_of(self.spool, boot).dropped
            mine = {key: r for key, r in self.model.lost.items() if key[0] == boot}
            bad = sum(POISON in record.line or not record.line for record in mine.values())
            assert dropped.get("invalid", 0) <= bad
            by_service = Counter(why for (of, _), why in self.model.rejected.items() if of == boot)
            assert by_service["expired"] == dropped.get("expired", 0)
            assert by_service["too_old"] <= dropped.get("too_old", 0)
            assert by_service["too_new"] <= dropped.get("too_new", 0)

    @invariant()
    def no_call_breaks_a_rule(self):
        """No call breaks a rule, and no answered record is sent again."""
        assert [] == self.service.violations

    def teardown(self):
        """Recover, and check that all records arrived."""
        try:
            self.recover()
            self.produced_is_delivered_and_spooled_and_dropped()
            self.no_call_breaks_a_rule()
        finally:
            self.spool.close()
            shutil.rmtree(self.folder)


# Hypothesis stops looking for a smaller failure after five minutes.
TestSpoolAndDelivery = SpoolAndDelivery.TestCase

TestSpoolAndDelivery.settings = settings(
    max_examples=80,
    stateful_step_count=30,
)
