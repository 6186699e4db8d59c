"""Reading the kernel log: record by record, in a thread, with bounded memory."""

from __future__ import annotations

import errno
import logging
import os
import threading
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.kernel import KernelFaults
from neuron_emitter.kernel import watch as watching
from neuron_emitter.kernel.detector import LogState, Position
from neuron_emitter.kernel.kmsg import (
    MAX_TEXT_BYTES,
    KernelRing,
    log_opener,
)
from neuron_emitter.kernel.watch import KernelWatch
from proof.emitter_process import wait_until
from tests.neuron_emitter.kernel.kernel_logs import (
    KERNEL_BOOT,
    KERNEL_BOOTED_S,
    REAL,
    LoggingMachine,
    fault,
    pipe,
    record,
)

KMSG_NOW_S = KERNEL_BOOTED_S + 1000.0
WATCHED_S = KERNEL_BOOTED_S + 60.0


def ring(path, boot=KERNEL_BOOT):
    """Return a ring, 1,000 seconds after the boot."""
    return KernelRing(path, boot, clock=lambda: KMSG_NOW_S, since_boot_s=lambda: 1000.0)


def read_all(source):
    """Return all messages that are available now."""
    messages = []
    while new := source.read_messages(0.0):
        messages += new
    return messages


@pytest.fixture
def machine(tmp_path):
    """Return a machine that has just booted."""
    (tmp_path / "root").mkdir()
    return LoggingMachine(tmp_path / "root")


def test_records_are_read_with_number_stamp_time_and_text(machine):
    """
    A record is read with number, time and text. Dictionaries and flags are ignored.

    The text of a message without a fault is not kept.
    """
    machine.ring.write_bytes(
        b"6,1,0,-;Linux version 6.1\n"
        b"4,2,5000000,c,caller=T1;neuron: NEURON_HW_ERR=DMA_ERROR nd-id=3\n SUBSYSTEM=pci\n"
        b" DEVICE=+pci:0000:00:1e.0\n6,3,6000000,-;more\n"
    )
    source = ring(machine.ring)
    messages = read_all(source)
    source.close()
    assert [1, 2, 3] == [message.seq for message in messages]
    assert [KERNEL_BOOTED_S, KERNEL_BOOTED_S + 5, KERNEL_BOOTED_S + 6] == [
        message.at_s for message in messages
    ]
    assert ["", "neuron: NEURON_HW_ERR=DMA_ERROR nd-id=3", ""] == [
        message.text for message in messages
    ]
    assert {KERNEL_BOOT} == {message.boot_id for message in messages}


@given(st.text(max_size=200))
def test_a_text_is_read_as_the_kernel_escaped_it(tmp_path_factory, text):
    """A text is read as the kernel escaped it: special characters start no new record."""
    path = tmp_path_factory.mktemp("ring") / "kmsg"
    wanted = f"NEURON_HW_ERR=X {text}".encode("utf-8", "replace").decode()
    raw = "".join(
        letter
        if letter.isprintable() and letter.isascii() and letter != "\\"
        else "".join(f"\\x{byte:02x}" for byte in letter.encode("utf-8", "replace"))
        for letter in wanted
    )
    path.write_bytes(f"4,1,1,-;{raw}\n4,2,2,-;x\n".encode())
    source = ring(path)
    messages = read_all(source)
    source.close()
    assert [wanted, ""] == [message.text for message in messages]


def test_a_record_in_pieces_is_one_message(tmp_path):
    """A record that arrives in pieces through a pipe is one message."""
    path, writer = pipe(tmp_path)
    source = ring(path)
    whole = record(1, 2, REAL)
    for byte in whole[:-1]:
        os.write(writer, bytes([byte]))
        assert [] == source.read_messages(0.0)
    os.write(writer, whole[-1:])
    assert [REAL] == [message.text for message in source.read_messages(1.0)]
    source.close()
    os.close(writer)


def test_a_line_without_end_is_bounded_and_forgotten(tmp_path):
    """A line without an end uses bounded memory and hides no later message."""
    path = tmp_path / "kmsg"
    path.write_bytes(b"4,1,1,-;" + b"x" * (1 << 20))
    source = ring(path)
    assert [] == read_all(source)
    assert len(source._rest) <= 2 * MAX_TEXT_BYTES
    with path.open("ab") as grown:
        grown.write(b"\n" + record(2, 2, REAL))
    assert [REAL] == [message.text for message in read_all(source)]
    source.close()


@pytest.mark.parametrize(
    ("choice", "reports", "is_read"),
    [
        *(("auto", "monitor", True), ("auto", "-", True), ("auto", "/reports.json", False)),
        *(("kmsg", "-", True), ("kmsg", "/reports.json", True), ("none", "-", False)),
    ],
)
def test_reports_of_a_file_may_be_of_another_machine(choice, reports, is_read):
    """The kernel log is read for reports from a file only if `--kernel-messages` names it."""
    assert is_read == (log_opener(choice, reports) is not None)


def test_overwritten_messages_do_not_stop_the_reading(machine, monkeypatch):
    """Reading continues after messages were overwritten (EPIPE)."""
    machine.write(1, REAL)
    read = os.read
    gone = [OSError(errno.EPIPE, "Broken pipe")] * 2

    def reads(file, size):
        if gone:
            raise gone.pop()
        return read(file, size)

    source = ring(machine.ring)
    monkeypatch.setattr("os.read", reads)
    assert [REAL] == [message.text for message in source.read_messages(0.0)]
    source.close()


@pytest.fixture
def watched(machine):
    """Yield a function that starts to watch the machine's log; all watches end with the test."""
    watches = []

    def begin(choice="auto", state=None, *, is_asked_for=True):
        open_log = log_opener(choice, "monitor", machine.root)
        watch = KernelWatch(
            open_log, state or LogState(), is_asked_for=is_asked_for, clock=lambda: WATCHED_S
        )
        watches.append(watch)
        return watch

    yield begin
    for watch in watches:
        watch.close()


def next_faults(watch, count):
    """Return the next *count* faults or more."""
    faults = []
    wait_until(lambda: faults.extend(watch.take_detection().faults) or len(faults) >= count)
    return faults


def test_a_fault_is_found_soon_after_its_message(machine, watched):
    """Faults from before the start and after it are found."""
    machine.write(1, REAL)
    watch = watched("kmsg")
    assert [1] == [fault.position.seq for fault in next_faults(watch, 1)]
    assert watch.is_reading
    machine.write(2, REAL)
    assert [2] == [fault.position.seq for fault in next_faults(watch, 1)]


@pytest.mark.parametrize(("is_asked_for", "level"), [(True, "WARNING"), (False, "INFO")])
def test_an_unreadable_log_is_logged_once(machine, watched, is_asked_for, level, caplog):
    """
    An unreadable log is logged once: as a warning if it was requested, else as information.

    No fault is counted.
    """
    caplog.set_level(logging.INFO)
    machine.ring.unlink()
    watch = watched(is_asked_for=is_asked_for)
    wait_until(lambda: caplog.records)
    watch._thread.join(5)
    (logged,) = caplog.records
    assert level == logged.levelname
    for words in ("Hardware faults are not counted", "kmsg", "CAP_SYSLOG"):
        assert words in logged.getMessage()
    assert not watch.is_reading
    assert watch.take_detection().position is None


def test_a_log_that_fails_later_does_not_end_the_emitter(machine, watched, monkeypatch, caplog):
    """If reading fails later, the failure is logged. Earlier faults count, later faults do not."""
    machine.write(1, REAL)
    watch = watched("kmsg", LogState(Position(KERNEL_BOOT)))
    wait_until(lambda: watch._detector.waiting)
    monkeypatch.setattr("os.read", Mock(side_effect=OSError(errno.EIO, "Input/output error")))
    watch._thread.join()
    assert "Input/output error" in caplog.text
    faults = KernelFaults(watch)
    (event,) = faults.take_events(WATCHED_S, is_end=True)
    assert "HardwareFault" == event.name
    assert 1 == faults.count
    faults.end_minute()
    assert faults.count is None


def test_a_flood_waits_in_the_ring(monkeypatch):
    """A flood of faults waits in the ring until the emitter takes the faults it has read."""
    monkeypatch.setattr(watching, "MAX_WAITING_FAULTS", 5)
    reads = threading.Semaphore(0)

    class Flood:
        seq = 0

        def read_messages(self, _timeout_s):
            self.seq += 1
            reads.release()
            return [fault(self.seq, seq=self.seq)]

        def close(self):
            pass

    state = LogState(Position(KERNEL_BOOT))
    flood: Any = Flood()
    watch = KernelWatch(lambda: flood, state)
    for _ in range(5):
        assert reads.acquire(timeout=300)
    wait_until(lambda: watch._detector.waiting >= 5)
    numbers = [fault.position.seq for fault in next_faults(watch, 50)]
    watch.close()
    assert list(range(1, len(numbers) + 1)) == numbers
    assert flood.seq <= len(numbers) + 5
