"""The thread that reads the kernel log, and which log it reads."""

from __future__ import annotations

import logging
import threading

import pytest

from emitter.kernel import watch as watching
from emitter.kernel import watch_of
from emitter.kernel.kmsg import opener
from emitter.kernel.message import UnreadableLogError
from emitter.kernel.position import LogState, Position
from emitter.kernel.watch import KernelWatch
from proof.emitter_process import wait_until
from tests.emitter.kernel.kernel_logs import BOOT, BOOTED_S, REAL, Machine, fault

NOW_S = BOOTED_S + 60.0


@pytest.fixture
def machine(tmp_path):
    """A machine that has just begun."""
    (tmp_path / "root").mkdir()
    return Machine(tmp_path / "root")


@pytest.fixture
def watched(machine):
    """Begins to read the machine's log; all are closed in the end."""
    begun = []

    def begin(choice="auto", state=None, *, is_asked_for=True):
        open_log = opener(choice, root=machine.root, clock=lambda: NOW_S, since_boot_s=lambda: 60.0)
        watch = KernelWatch(open_log, state, is_asked_for=is_asked_for, clock=lambda: NOW_S)
        begun.append(watch)
        return watch

    yield begin
    for watch in begun:
        watch.close()


def found(watch, count):
    """The next faults, when there are *count*."""
    faults = []
    wait_until(lambda: faults.extend(watch.take().faults) or len(faults) >= count)
    return faults


def test_a_fault_is_there_soon_after_the_kernel_said_so(machine, watched):
    """Those from before as well as those that follow."""
    machine.write(1, REAL)
    watch = watched("kmsg")
    assert [1] == [fault.position.seq for fault in found(watch, 1)]
    assert watch.is_reading
    machine.write(2, REAL)
    assert [2] == [fault.position.seq for fault in found(watch, 1)]


@pytest.mark.parametrize("choice", ["auto", "kmsg", "journal"])
def test_every_choice_reads_the_ring(choice, machine, watched):
    """Also that of the journal, which earlier versions read."""
    machine.write(1, REAL)
    assert 1 == len(found(watched(choice), 1))


def test_a_journal_that_is_asked_for_warns_and_goes_on(monkeypatch, caplog):
    """A configuration of an earlier version starts as it did."""
    monkeypatch.setattr("emitter.kernel.opener", lambda _choice: None)
    assert watch_of("journal", LogState()) is None
    (warning,) = caplog.records
    assert ("WARNING", True) == (warning.levelname, "/dev/kmsg" in warning.getMessage())


def test_a_file_that_speaks_like_the_ring_is_read_by_name(machine, tmp_path, watched):
    """Such as that of a host, mounted elsewhere in a container."""
    machine.write(1, REAL)
    machine.ring.rename(tmp_path / "host-kmsg")
    assert 1 == len(found(watched(f"file:{tmp_path / 'host-kmsg'}"), 1))


@pytest.mark.parametrize(("is_asked_for", "level"), [(True, "WARNING"), (False, "INFO")])
def test_a_log_that_cannot_be_read_is_said_once(machine, watched, is_asked_for, level, caplog):
    """
    In one sentence, louder when the operator asked for it; and nothing is counted.
    """
    caplog.set_level(logging.INFO)
    machine.ring.unlink()
    watch = watched(is_asked_for=is_asked_for)
    wait_until(lambda: caplog.records)
    watch._thread.join(5)
    (said,) = caplog.records
    assert level == said.levelname
    for words in ("Hardware faults are not counted", "kmsg", "CAP_SYSLOG"):
        assert words in said.getMessage()
    assert not watch.is_reading
    assert watch.take().position is None


def test_a_log_that_fails_while_it_is_read_is_said_once(caplog):
    """Nobody reads from then on, so nothing is counted as 0."""

    class Failing:
        name = "failing"
        is_open = True

        def read(self, _timeout_s):
            message = "it is gone"
            raise UnreadableLogError(message)

        def close(self):
            pass

    watch = KernelWatch(Failing)
    watch._thread.join(5)
    assert ["Hardware faults are not counted. it is gone"] == caplog.messages
    assert not watch.is_reading
    watch.close()


def test_a_flood_waits_where_it_is(monkeypatch):
    """Nothing is read ahead without bound; all of it is there when it is taken."""
    monkeypatch.setattr(watching, "MAX_WAITING", 5)
    reads = threading.Semaphore(0)

    class Flood:
        name = "flood"
        is_open = True
        seq = 0

        def read(self, _timeout_s):
            self.seq += 1
            reads.release()
            return [fault(self.seq, seq=self.seq)]

        def close(self):
            pass

    state = LogState(Position(BOOT))
    flood = Flood()
    watch = KernelWatch(lambda: flood, state)
    for _ in range(5):
        assert reads.acquire(timeout=300)
    wait_until(watch._is_full)
    numbers = [fault.position.seq for fault in found(watch, 50)]
    watch.close()
    assert list(range(1, len(numbers) + 1)) == numbers
    assert flood.seq <= len(numbers) + 5


def test_a_close_ends_the_thread(machine, watched):
    """And closes the log."""
    machine.write(1, REAL)
    watch = watched()
    assert 1 == len(found(watch, 1))
    watch.close()
    assert not watch._thread.is_alive()
    assert not watch.is_reading


def test_messages_that_were_overwritten_meanwhile_are_counted(machine, watched):
    """A ring that went round between two runs may have held a fault."""
    for number in range(9):
        machine.write(number, "neuron: hello")
    state = LogState(Position.of(fault(0, seq=1)))
    machine.overwrite(5)
    watch = watched("kmsg", state)
    lost = []
    wait_until(lambda: lost.append(watch.take().lost) or sum(lost))
    assert 4 == sum(lost)
