"""Messages out of /dev/kmsg, and out of what speaks like it."""

from __future__ import annotations

import errno
import os
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.kernel import kmsg
from emitter.kernel.kmsg import KernelRing, boot_id, choice_for
from emitter.kernel.message import MAX_TEXT_BYTES, UnreadableLogError
from tests.emitter.kernel.kernel_logs import BOOT, BOOTED_S, REAL, Machine, pipe, record

NOW_S = BOOTED_S + 1000.0


def ring(path, boot=BOOT):
    """A ring, a thousand seconds after the boot."""
    return KernelRing(path, boot, clock=lambda: NOW_S, since_boot_s=lambda: 1000.0)


def read_all(source):
    """All that is there now."""
    found = []
    while new := source.read(0.0):
        found += new
    return found


@pytest.fixture
def machine(tmp_path):
    """A machine that has just begun."""
    return Machine(tmp_path)


def test_records_are_read_with_number_stamp_time_and_text(machine):
    """
    Dictionaries behind a record and other flags than `-` are no news; other texts are not kept.
    """
    machine.ring.write_bytes(
        b"6,1,0,-;Linux version 6.1\n"
        b"4,2,5000000,c,caller=T1;neuron: NEURON_HW_ERR=DMA_ERROR nd-id=3\n SUBSYSTEM=pci\n"
        b" DEVICE=+pci:0000:00:1e.0\n6,3,6000000,-;more\n"
    )
    source = ring(machine.ring)
    found = read_all(source)
    source.close()
    assert [1, 2, 3] == [one.seq for one in found]
    assert [0, 5_000_000, 6_000_000] == [one.since_boot_us for one in found]
    assert [BOOTED_S, BOOTED_S + 5, BOOTED_S + 6] == [one.at_s for one in found]
    assert ["", "neuron: NEURON_HW_ERR=DMA_ERROR nd-id=3", ""] == [one.text for one in found]
    assert {BOOT} == {one.boot_id for one in found}


@given(st.text(max_size=200))
def test_a_text_is_read_as_the_kernel_escaped_it(tmp_path_factory, text):
    """Line breaks, backslashes and bytes that are no UTF-8 make no record and no other text."""
    path = tmp_path_factory.mktemp("ring") / "kmsg"
    wanted = f"NEURON_HW_ERR=X {text}".encode("utf-8", "replace").decode()
    raw = "".join(
        letter if letter.isprintable() and letter.isascii() and letter != "\\" else "".join(
            f"\\x{byte:02x}" for byte in letter.encode("utf-8", "replace"))
        for letter in wanted
    )  # fmt: skip
    path.write_bytes(f"4,1,1,-;{raw}\n4,2,2,-;x\n".encode())
    source = ring(path)
    found = read_all(source)
    source.close()
    assert [wanted, ""] == [one.text for one in found]


@pytest.mark.parametrize(
    "line",
    [b"", b"hello", b"4,5;x", b"4,x,6,-;y", b",,,;", b"4,1,2,-", b"4," + b"9" * 40 + b",1,-;x"],
)
def test_a_line_that_is_no_record_is_left_out(machine, line):
    """And the next record is read."""
    machine.ring.write_bytes(line + b"\n" + record(7, 8, REAL))
    source = ring(machine.ring)
    assert [(7, REAL)] == [(one.seq, one.text) for one in read_all(source)]
    source.close()


def test_a_record_that_comes_in_pieces_is_one(tmp_path):
    """Out of a pipe there are no records, only bytes."""
    path, writer = pipe(tmp_path)
    source = ring(path)
    whole = record(1, 2, REAL)
    for byte in whole[:-1]:
        os.write(writer, bytes([byte]))
        assert [] == source.read(0.0)
    os.write(writer, whole[-1:])
    assert [REAL] == [one.text for one in source.read(1.0)]
    source.close()
    os.close(writer)


def test_a_line_without_end_is_bounded_and_forgotten(tmp_path):
    """
    What writes megabytes without a line break costs no memory and hides nothing that comes later.
    """
    path = tmp_path / "kmsg"
    path.write_bytes(b"4,1,1,-;" + b"x" * (1 << 20))
    source = ring(path)
    assert [] == read_all(source)
    assert len(source._rest) <= 2 * MAX_TEXT_BYTES
    with path.open("ab") as grown:
        grown.write(b"\n" + record(2, 2, REAL))
    assert [REAL] == [one.text for one in read_all(source)]
    source.close()


def test_a_read_waits_as_long_as_it_is_told(machine):
    """In seconds, where the kernel counts milliseconds."""
    source, waits = ring(machine.ring), []
    source._ready = SimpleNamespace(poll=waits.append)
    source.read(0.0)
    source.read(0.01)
    source.close()
    assert [0.0, 10.0] == waits


def test_a_stamp_from_the_future_is_of_now(machine):
    """The clocks of kernel and emitter count a little apart."""
    machine.write(10**12, REAL)
    source = ring(machine.ring)
    assert [NOW_S] == [message.at_s for message in source.read(0.0)]
    source.close()


@pytest.mark.parametrize(
    ("choice", "reports", "expected"),
    [
        *(("auto", "monitor", "auto"), ("auto", "-", "auto"), ("auto", "/reports.json", "none")),
        *(("kmsg", "-", "kmsg"), ("kmsg", "/reports.json", "kmsg"), ("none", "-", "none")),
    ],
)
def test_reports_of_a_file_may_be_of_another_machine(choice, reports, expected):
    """Then this one's kernel is asked only by name."""
    assert expected == choice_for(choice, reports)


def test_a_text_is_bounded(machine):
    """No kernel writes a longer one."""
    machine.write(1, "NEURON_HW_ERR=X " + "y" * 20_000)
    source = ring(machine.ring)
    (found,) = read_all(source)
    source.close()
    assert MAX_TEXT_BYTES == len(found.text)


def test_what_was_overwritten_does_not_stop_the_reading(machine, monkeypatch):
    """EPIPE says that the place is gone; the next read goes on with what is there."""
    machine.write(1, REAL)
    read = os.read
    gone = [OSError(errno.EPIPE, "Broken pipe")] * 2

    def reads(file, size):
        if gone:
            raise gone.pop()
        return read(file, size)

    source = ring(machine.ring)
    monkeypatch.setattr(kmsg.os, "read", reads)
    assert [REAL] == [one.text for one in source.read(0.0)]
    source.close()


def test_a_ring_that_fails_says_so(machine, monkeypatch):
    """Any other error is no message for ever."""
    source = ring(machine.ring)

    def fails(_file, _size):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(kmsg.os, "read", fails)
    with pytest.raises(UnreadableLogError, match="Input/output error"):
        source.read(0.0)
    source.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission_is_one_sentence(machine):
    """With what to do."""
    machine.ring.chmod(0)
    with pytest.raises(UnreadableLogError, match=r"Permission denied.*CAP_SYSLOG"):
        ring(machine.ring)


def test_the_boot_is_the_kernels(machine):
    """Without the dashes."""
    assert BOOT == boot_id(machine.root)


@pytest.mark.parametrize("text", ["", "no id", "0" * 31, "0" * 33, "g" * 32])
def test_a_boot_without_an_id_cannot_be_read(machine, text):
    """Without it nothing could be told from what an earlier boot said."""
    (machine.root / kmsg.BOOT_ID_FILE).write_text(text, "utf-8")
    with pytest.raises(UnreadableLogError, match="Mount /proc"):
        boot_id(machine.root)
