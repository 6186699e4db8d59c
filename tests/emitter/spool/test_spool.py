"""
The spool: nothing lost without a count, whatever happens to the process.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.spool import NewRecord, Spool, SpoolFailedError, SpoolHeldError, SpoolUnusableError
from emitter.spool.layout import FILE_NAME, LAYOUT_VERSION
from emitter.spool.ledger import Ledger, cost_bytes

NOW_S = 1_795_000_000.0
NOW_MS = 1_795_000_000_000
BOOT = "019aa3c5d2f04f1e2d3c"


class Clock:
    """
    A clock that moves when it is told to.
    """

    def __init__(self, now_s: float = NOW_S) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        """
        Seconds since the epoch.
        """
        return self.now_s


def lines(*texts: str, at_ms: int = NOW_MS) -> list[NewRecord]:
    """
    Records to append.
    """
    return [NewRecord(at_ms, text) for text in texts]


def held(spool: Spool) -> list[str]:
    """
    The lines in the spool, in order of arrival.
    """
    return [record.line for record in spool.oldest(1000, 1 << 30)]


def balance(spool: Spool, boot: str | None = None) -> int:
    """
    What the identity leaves over: 0, or a record was lost or invented.
    """
    health = spool.health(boot)
    return health.produced - health.delivered - health.records - sum(health.dropped.values())


@pytest.fixture
def clock():
    """
    A clock at a fixed moment.
    """
    return Clock()


@pytest.fixture
def spool(tmp_path, clock):
    """
    A spool on disk.
    """
    with Spool.open(tmp_path / "spool", clock=clock) as opened:
        yield opened


def test_a_record_comes_back_as_it_went_in(spool):
    """
    With its boot, its number, its time and its line, whatever characters are in it.
    """
    first = spool.append([NewRecord(NOW_MS, "a\x00é😀"), NewRecord(NOW_MS - 5, "b")])
    assert 1 == first
    assert [(spool.boot, 1, NOW_MS, "a\x00é😀"), (spool.boot, 2, NOW_MS - 5, "b")] == [
        (record.boot, record.seq, record.timestamp_ms, record.line)
        for record in spool.oldest(10, 1000)
    ]


@given(st.lists(st.text(), max_size=5))
def test_any_line_comes_back(texts):
    """
    Byte for byte; half a surrogate pair, which is no text, is dropped as invalid.
    """
    with Spool.open(None, max_age_s=None) as spool:
        spool.append(lines(*texts, "\ud800"))
        assert texts == held(spool)
        assert {"invalid": 1} == spool.health().dropped
        assert 0 == balance(spool)


def test_numbers_count_from_1_without_gaps(spool):
    """
    The next number is known before the line that carries it is made.
    """
    seqs = []
    for batch in (1, 3, 0, 2):
        assert spool.next_seq == spool.append(lines(*["x"] * batch))
        seqs = [record.seq for record in spool.oldest(100, 1000)]
    assert [1, 2, 3, 4, 5, 6] == seqs
    assert 7 == spool.next_seq


def test_a_boot_is_its_start_time_and_a_random_part(spool):
    """
    12 hexadecimal digits of epoch milliseconds, then 8 that differ.
    """
    assert f"{NOW_MS:012x}" == spool.boot[:12]
    assert 20 == len(spool.boot)


def test_every_open_is_a_new_boot(tmp_path, clock):
    """
    Greater than the one before, even when the clock was set back; numbers start again.
    """
    boots = []
    for now_s in (NOW_S, NOW_S, NOW_S - 86_400, NOW_S + 1):
        clock.now_s = now_s
        with Spool.open(tmp_path, clock=clock) as spool:
            assert 1 == spool.append(lines("x"))
            boots.append(spool.boot)
    assert sorted(set(boots)) == boots


def test_a_boot_can_be_given(tmp_path):
    """
    The same input replayed has the same identity; opened again it counts on.
    """
    for first in (1, 3):
        with Spool.open(tmp_path, boot=BOOT, max_age_s=None) as spool:
            assert first == spool.append(lines("x", "y"))
            assert BOOT == spool.boot


@pytest.mark.parametrize("boot", ["", "xyz", BOOT + "0", BOOT.upper()])
def test_a_boot_has_one_form(boot):
    """
    20 lower-case hexadecimal digits: it is compared as text.
    """
    with pytest.raises(ValueError, match="20 lower-case hexadecimal digits"):
        Spool.open(None, boot=boot)


def test_oldest_stops_at_either_limit(spool):
    """
    Events or UTF-8 bytes, both inclusive; one record comes even if it is larger.
    """
    spool.append(lines("aa", "é", "bbb", "c"))
    assert ["aa", "é"] == [record.line for record in spool.oldest(2, 100)]
    assert ["aa", "é"] == [record.line for record in spool.oldest(9, 4)]
    assert ["aa"] == [record.line for record in spool.oldest(9, 3)]
    assert ["aa"] == [record.line for record in spool.oldest(9, 1)]


def test_what_was_answered_for_leaves_once(spool):
    """
    An id that is gone changes no counter, and is never given to another record.
    """
    spool.append(lines("a", "b", "c"))
    ids = [record.id for record in spool.oldest(10, 100)]
    assert 2 == spool.delivered(ids[:2])
    assert 0 == spool.delivered(ids[:2])
    assert 1 == spool.dropped(ids, "invalid")
    assert 0 == spool.dropped([*ids, 999], "invalid")
    spool.append(lines("d"))
    assert 0 == spool.delivered(ids)
    health = spool.health()
    assert (2, {"invalid": 1}, 1) == (health.delivered, health.dropped, health.records)
    assert ["d"] == held(spool)


def test_one_answer_is_one_transaction(spool):
    """
    Some of a batch taken, some refused: both counters change together.
    """
    spool.append(lines("a", "b", "c"))
    one, two, three = (record.id for record in spool.oldest(10, 100))
    assert 3 == spool.settle([two], {"too_old": [one], "too_new": [three]})
    assert {"too_old": 1, "too_new": 1} == spool.health().dropped


def test_still_held_gives_what_is_left(spool):
    """
    In the order asked for, without what has gone.
    """
    spool.append(lines("a", "b", "c"))
    one, two, three = (record.id for record in spool.oldest(10, 100))
    spool.delivered([two])
    assert ["c", "a"] == [record.line for record in spool.still_held([three, two, one, 999])]


def test_health_says_what_became_of_every_record(spool):
    """
    Bytes are the UTF-8 of what waits.
    """
    spool.append(lines("é", "bb", "c"))
    spool.delivered([spool.oldest(1, 10)[0].id])
    health = spool.health()
    assert (3, 1, 2, 3, 0) == (
        health.produced,
        health.delivered,
        health.records,
        health.bytes,
        health.older_records,
    )


def test_full_drops_the_oldest_first(clock, caplog):
    """
    A spool of room for three keeps the newest three and counts the rest.
    """
    with Spool.open(None, max_bytes=3 * cost_bytes(1), clock=clock) as spool:
        spool.append(lines("a", "b", "c"))
        assert {} == spool.health().dropped
        with caplog.at_level(logging.WARNING):
            spool.append(lines("d", "e"))
        assert ["c", "d", "e"] == held(spool)
        assert {"spool_full": 2} == spool.health().dropped
        assert 0 == balance(spool)
    (said,) = caplog.records
    assert ("records dropped", 2, "spool_full") == (said.getMessage(), said.count, said.reason)


def test_one_append_may_be_more_than_fits(clock):
    """
    The newest of it stay.
    """
    with Spool.open(None, max_bytes=2 * cost_bytes(1), clock=clock) as spool:
        spool.append(lines(*"abcdef"))
        assert ["e", "f"] == held(spool)
        assert {"spool_full": 4} == spool.health().dropped
        assert 7 == spool.next_seq


@pytest.mark.parametrize(("more", "kept", "dropped"), [(0, 1, {}), (1, 0, {"too_large": 1})])
def test_a_record_larger_than_the_spool_is_dropped(clock, more, kept, dropped):
    """
    It would push out everything else and then itself; what fits exactly is kept.
    """
    with Spool.open(None, max_bytes=cost_bytes(1600), clock=clock) as spool:
        spool.append(lines("x" * (1600 + more)))
        assert kept == spool.health().records
        assert dropped == spool.health().dropped
        assert 0 == balance(spool)


def test_old_age_is_counted(clock):
    """
    Exactly 13 days is kept; a millisecond more is dropped, on disk or just appended.
    """
    with Spool.open(None, clock=clock) as spool:
        spool.append(lines("old", at_ms=NOW_MS) + lines("young", at_ms=NOW_MS + 1))
        clock.now_s = NOW_S + 13 * 86_400
        spool.append([])
        assert ["old", "young"] == held(spool)
        clock.now_s += 0.001
        spool.append(lines("late", at_ms=NOW_MS))
        assert ["young"] == held(spool)
        assert {"too_old": 2} == spool.health().dropped
        assert 0 == balance(spool)


def test_no_age_bound_when_none_is_asked_for(clock):
    """
    A replay of last year's file is not dropped for its age.
    """
    with Spool.open(None, max_age_s=None, clock=clock) as spool:
        spool.append(lines("x", at_ms=0))
        assert ["x"] == held(spool)


def test_the_file_stays_within_the_bound(tmp_path):
    """
    The bound is of the disk, not of the lines: the file never grows beyond it.
    """
    rng = random.Random(1)
    max_bytes = 1 << 20
    with Spool.open(tmp_path, max_bytes=max_bytes, max_age_s=None) as spool:
        for size in (300, 520, 989, 2400, 3600, 8300, 20_000, 200_000):
            for _ in range(12):
                count = min(200, max(1, 300_000 // size))
                spool.append(lines(*("x" * rng.randint(size // 2, size) for _ in range(count))))
        assert 0 == balance(spool)
    assert (tmp_path / FILE_NAME).stat().st_size <= max_bytes


def test_state_and_records_change_together(spool, monkeypatch):
    """
    If the state cannot be written, no record is kept and no number is used.
    """
    spool.append(lines("a"), b"one")

    def fail(*_):
        message = "no"
        raise sqlite3.OperationalError(message)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "keep_state", fail)
        with pytest.raises(SpoolFailedError, match="could not be read or written"):
            spool.append(lines("b"), b"two")
    assert ["a"] == held(spool)
    assert b"one" == spool.state
    assert 2 == spool.append(lines("c"), b"three")


def test_a_full_disk_loses_nothing_that_was_kept(spool):
    """
    SQLite says full, the append fails as a whole, the next one works when there is room.
    """
    spool.append(lines("a"), b"one")
    database = spool._transactions._database
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    database.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(SpoolFailedError, match="full"):
        spool.append(lines("x" * 50_000), b"two")
    assert ["a"] == held(spool)
    assert b"one" == spool.state
    assert 0 == balance(spool)
    database.execute("PRAGMA max_page_count = 1000000")
    assert 2 == spool.append(lines("b"))


def test_state_survives_a_restart(tmp_path):
    """
    None before the first; None given leaves the last as it is.
    """
    with Spool.open(tmp_path) as spool:
        assert spool.state is None
        spool.append([], b"\x00state")
        spool.append([])
    with Spool.open(tmp_path) as spool:
        assert b"\x00state" == spool.state


def test_older_boots_are_counted_apart(tmp_path, clock):
    """
    Their records are still sent, their counters stay exact, and then they are forgotten.
    """
    with Spool.open(tmp_path, clock=clock) as spool:
        older = spool.boot
        spool.append(lines("a", "b", "c"))
        spool.delivered([spool.oldest(1, 10)[0].id])
    with Spool.open(tmp_path, clock=clock) as spool:
        spool.append(lines("d"))
        assert (1, 1, 2) == (
            spool.health().produced,
            spool.health().records,
            spool.health().older_records,
        )
        assert (older,) == spool.older_boots
        assert [older, older, spool.boot] == [record.boot for record in spool.oldest(9, 99)]
        spool.dropped([spool.oldest(1, 10)[0].id], "invalid")
        health = spool.health(older)
        assert (3, 1, 1, {"invalid": 1}) == (
            health.produced,
            health.delivered,
            health.records,
            health.dropped,
        )
        spool.delivered([spool.oldest(1, 10)[0].id])
        assert () == spool.older_boots
        assert 0 == spool.health().older_records
        with pytest.raises(KeyError):
            spool.health(older)
        drops = spool._transactions._database.execute("SELECT count(*) FROM drops").fetchone()
        assert (0,) == drops


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
        st.tuples(st.just("pass"), st.integers(0, 60)),
        st.tuples(st.just("reopen"), st.just(0)),
    ),
    max_size=25,
)


class Model:
    """
    What the spool promises, in lists and counters: 3,000 bytes, 100 seconds.
    """

    MAX_BYTES = 3000
    MAX_AGE_S = 100

    def __init__(self) -> None:
        self.waiting: list[tuple[str, int, int, int]] = []  # boot, seq, timestamp_ms, bytes
        self.produced: Counter[str] = Counter()
        self.delivered: Counter[str] = Counter()
        self.dropped: dict[str, Counter[str]] = {}

    def drop(self, record, reason):
        """
        Count a loss.
        """
        self.dropped.setdefault(record[0], Counter())[reason] += 1

    def append(self, boot, now_ms, sizes):
        """
        What an append must do, one record after the other.
        """
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
        """
        Every counter of every boot, and every record in its place.
        """
        taken = spool.oldest(1000, 1 << 30)
        assert self.waiting == [
            (record.boot, record.seq, record.timestamp_ms, len(record.line)) for record in taken
        ]
        older = {record[0] for record in self.waiting} - {spool.boot}
        assert older == set(spool.older_boots)
        for boot in (spool.boot, *older):
            health = spool.health(boot)
            records = sum(record[0] == boot for record in self.waiting)
            assert self.produced[boot] == health.produced
            assert self.delivered[boot] == health.delivered
            assert self.dropped.get(boot, {}) == health.dropped
            assert records == health.records
            assert len(self.waiting) - sum(r[0] == spool.boot for r in self.waiting) == (
                health.older_records
            )
            assert sum(record[3] for record in self.waiting) == health.bytes
            assert 0 == balance(spool, boot)


@settings(max_examples=60)
@given(STEPS)
def test_produced_is_delivered_and_spooled_and_dropped(steps):
    """
    After any sequence of appends, answers, restarts and time, exactly.
    """
    model, clock, settled = Model(), Clock(), []
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)

        def opened():
            return Spool.open(
                directory, max_bytes=Model.MAX_BYTES, max_age_s=Model.MAX_AGE_S, clock=clock
            )

        spool = opened()
        try:
            for step, value in steps:
                if step == "append":
                    new = [
                        NewRecord(round(clock.now_s * 1000) + age_s * 1000, "x" * size)
                        for size, age_s in value
                    ]
                    spool.append(new)
                    model.append(spool.boot, round(clock.now_s * 1000), value)
                elif step in ("deliver", "drop"):
                    ids = [record.id for record in spool.oldest(value, 1 << 30)] if value else []
                    settled += ids
                    if step == "deliver":
                        spool.delivered(ids)
                    else:
                        spool.dropped(ids, "invalid")
                    for record in model.waiting[: len(ids)]:
                        if step == "deliver":
                            model.delivered[record[0]] += 1
                        else:
                            model.drop(record, "invalid")
                    model.waiting = model.waiting[len(ids) :]
                elif step == "again":
                    spool.delivered(settled[-value:])  # an answer that comes twice
                elif step == "pass":
                    clock.now_s += value
                else:
                    spool.close()
                    spool = opened()
                model.check(spool)
        finally:
            spool.close()


def test_two_threads_keep_the_identity(spool):
    """
    One appends while the other delivers and drops: nothing is counted twice or not at all.
    """
    rounds = 60
    done = threading.Event()
    failures: list[BaseException] = []

    def deliver():
        try:
            while not done.is_set() or spool.health().records:
                ids = [record.id for record in spool.oldest(3, 1000)]
                spool.settle(ids[1:], {"invalid": ids[:1]})
                assert 0 == balance(spool)
        except BaseException as error:  # noqa: BLE001 shown by the test below
            failures.append(error)

    sender = threading.Thread(target=deliver)
    sender.start()
    for number in range(rounds):
        assert 2 * number + 1 == spool.append(lines("x", "y"), b"%d" % number)
    done.set()
    sender.join()
    health = spool.health()
    assert [] == failures
    assert 2 * rounds == health.produced == health.delivered + health.dropped["invalid"]


VICTIM = """
import sys, threading, time
from pathlib import Path
from emitter.spool import NewRecord, Spool

spool = Spool.open(Path(sys.argv[1]), max_bytes=60_000)

def deliver():
    while True:
        ids = [record.id for record in spool.oldest(5, 1 << 20)]
        spool.settle(ids[1:4], {"invalid": ids[:1]})

threading.Thread(target=deliver, daemon=True).start()
print(spool.boot, flush=True)
while True:
    now_ms = int(time.time() * 1000)
    last = spool.next_seq + 3
    records = [NewRecord(now_ms, f"{last - 3 + i} " + "x" * 2000) for i in range(4)]
    spool.append(records, b"%d" % last)
    print(last, flush=True)
"""


def test_kill_9_between_any_two_instructions_keeps_the_identity(tmp_path, repository):
    """
    What was acknowledged is there, counters and state belong to the same append, the lock is free.
    """
    for appends in (1, 7, 13, 20):
        process = subprocess.Popen(
            [sys.executable, "-c", VICTIM, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": f"{repository}:{repository / 'lambda'}"},
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            boot = process.stdout.readline().strip()
            acknowledged = [int(process.stdout.readline()) for _ in range(appends)]
            process.send_signal(signal.SIGKILL)
            acknowledged += [int(each) for each in process.stdout.read().splitlines()]
        with Spool.open(tmp_path, max_bytes=60_000) as spool:
            produced = int(spool.state)
            # The line about the last append may be the one the kill took.
            assert produced in (acknowledged[-1], acknowledged[-1] + 4)
            if boot in spool.older_boots:
                assert produced == spool.health(boot).produced
                assert 0 == balance(spool, boot)
            mine = [record for record in spool.oldest(1000, 1 << 20) if record.boot == boot]
            assert [record.seq for record in mine] == [
                int(record.line.split()[0]) for record in mine
            ]


def test_one_emitter_per_directory(spool):
    """
    The second is told the directory and who holds it; it ends as a failed source.
    """
    with pytest.raises(SpoolHeldError) as caught:
        Spool.open(spool.directory)
    assert str(spool.directory) in str(caught.value)
    assert f"process {os.getpid()}:" in str(caught.value)
    assert 3 == caught.value.exit_code
    spool.close()
    (spool.directory / "lock").write_text("12345678901234567890\n")  # of one that died
    with Spool.open(spool.directory):
        assert f"{os.getpid()}\n" == (spool.directory / "lock").read_text()


def test_a_directory_that_cannot_be_made_is_said_in_one_sentence(tmp_path):
    """
    With what to pass instead; it ends as wrong use.
    """
    (tmp_path / "file").write_text("")
    for directory in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/neuron-emf")):
        with pytest.raises(SpoolUnusableError, match="--spool-dir") as caught:
            Spool.open(directory)
        assert str(directory) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert 2 == caught.value.exit_code


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory_is_said_in_one_sentence(tmp_path):
    """
    As on a read-only root file system.
    """
    tmp_path.chmod(0o500)
    with pytest.raises(SpoolUnusableError, match="cannot be written"):
        Spool.open(tmp_path)


def test_a_newer_layout_is_left_alone(tmp_path):
    """
    After a downgrade the records of the newer version are not touched.
    """
    Spool.open(tmp_path).close()
    path = tmp_path / FILE_NAME
    with sqlite3.connect(path) as database:
        database.execute(f"PRAGMA user_version = {LAYOUT_VERSION + 1}")
    database.close()
    before = path.read_bytes()
    with pytest.raises(
        SpoolUnusableError, match=f"layout {LAYOUT_VERSION + 1}.*up to {LAYOUT_VERSION}"
    ):
        Spool.open(tmp_path)
    assert before == path.read_bytes()


def test_a_damaged_file_is_said_and_the_lock_is_let_go(tmp_path):
    """
    What is no database is not overwritten.
    """
    path = tmp_path / FILE_NAME
    path.write_bytes(b"not a database at all" * 100)
    for _ in range(2):
        with pytest.raises(SpoolUnusableError, match="damaged"):
            Spool.open(tmp_path)
    assert path.read_bytes().startswith(b"not a database")


def test_files_are_private(tmp_path):
    """
    Lines name instances and processes: the directory is 0700, every file in it 0600.
    """
    directory = tmp_path / "state" / "spool"
    with Spool.open(directory) as spool:
        spool.append(lines("x"))
        assert 0o700 == stat.S_IMODE(directory.stat().st_mode)
        files = list(directory.iterdir())
        assert {FILE_NAME, f"{FILE_NAME}-wal", "lock"} <= {path.name for path in files}
        assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in files}


def test_closed_is_closed(spool):
    """
    A sender that is still in a call when the spool is closed gets an error, not a crash.
    """
    spool.close()
    spool.close()
    with pytest.raises(SpoolFailedError, match="closed"):
        spool.delivered([1])


def test_health_is_a_value(spool):
    """
    What was read does not change under the reader.
    """
    health = spool.health()
    spool.append(lines("x"))
    assert 0 == health.produced
    with pytest.raises(dataclasses.FrozenInstanceError):
        health.produced = 1
