"""Messages out of systemd's journal, as journalctl writes them."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.kernel.journal import OVERLAP_S, Journal, arguments, read_entry, require_messages
from emitter.kernel.message import UnreadableLogError
from proof.emitter_process import wait_until
from proof.factories.kernel_logs import BOOT, BOOTED_S, REAL, JournalCommand, entry

BROKEN = b"\xff NEURON_HW_ERR=X"


@pytest.fixture
def journalctl(tmp_path):
    """A program in the place of journalctl."""
    return JournalCommand(tmp_path)


@pytest.fixture
def journal(journalctl):
    """A journal that is closed in the end."""
    made = Journal(journalctl.command, BOOTED_S, rng=random.Random(1))
    yield made
    made.close()


def test_an_entry_is_read_with_boot_stamp_time_and_text():
    """The stamp is the kernel's own, in whichever member this systemd keeps it."""
    for members in ({}, {"_SOURCE_BOOTTIME_TIMESTAMP": None}):
        found = read_entry(entry(5_000_000, REAL, **members).encode())
        assert (BOOT, 5_000_000, BOOTED_S + 5.0, None, REAL) == (
            found.boot_id,
            found.since_boot_us,
            found.at_s,
            found.seq,
            found.text,
        )
    assert "" == read_entry(entry(1, "usb 1-1: new device").encode()).text


def test_a_message_is_of_when_the_kernel_wrote_it():
    """journald begins after the kernel, and says when it received what was there."""
    received = {
        "__MONOTONIC_TIMESTAMP": "95000000",
        "__REALTIME_TIMESTAMP": str(int(BOOTED_S + 95) * 1_000_000),
    }
    assert BOOTED_S + 5.0 == read_entry(entry(5_000_000, REAL, **received).encode()).at_s


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        entry(1, REAL, _SOURCE_BOOTTIME_TIMESTAMP="x").encode(),
        entry(1, [256], _SOURCE_BOOTTIME_TIMESTAMP="1").encode(),
        entry(1, REAL, _SOURCE_BOOTTIME_TIMESTAMP=None, _SOURCE_MONOTONIC_TIMESTAMP=None).encode(),
        b"[" * 100_000,
    ],
)
def test_what_is_no_entry_of_the_kernel_is_left_out(line):
    """One without the kernel's stamp could be counted twice."""
    assert read_entry(line) is None


def test_a_text_that_is_no_utf8_is_a_list_of_bytes():
    """As journalctl writes what JSON cannot hold; a message without any text is no fault."""
    assert "\ufffd NEURON_HW_ERR=X" == read_entry(entry(1, list(BROKEN)).encode()).text
    assert "" == read_entry(entry(1, None).encode()).text


@given(st.binary(max_size=200))
def test_no_line_ends_the_reading(line):
    """Whatever journalctl writes."""
    read_entry(line)


def test_entries_are_read_as_they_come(journalctl, journal):
    """Those that are there, then those that follow, in pieces of any size."""
    journalctl.write(1, REAL)
    found = []
    wait_until(lambda: found.extend(journal.read(0.1)) or found)
    assert journal.is_open
    journalctl.write(2, "a message")
    wait_until(lambda: found.extend(journal.read(0.1)) or len(found) == 2)
    assert [1, 2] == [one.since_boot_us for one in found]


def test_a_journalctl_that_ends_is_started_again_from_a_little_before(tmp_path):
    """And what is read twice is told apart by whoever counts."""
    clock = [0.0]
    program = JournalCommand(tmp_path)
    program.program.write_text(
        f'#!/bin/sh\necho "$@" >>"{program.calls}"\ncat "{program.entries}"\n', "utf-8"
    )
    program.write(90_000_000, REAL)
    journal = Journal(program.command, BOOTED_S, rng=random.Random(1), clock=lambda: clock[0])
    found = []
    for _ in range(3):
        wait_until(lambda: found.extend(journal.read(0.1)) or not journal.is_open)
        clock[0] += 120.0
    journal.close()
    assert [90_000_000] * 3 == [one.since_boot_us for one in found]
    calls = program.calls.read_text("utf-8").splitlines()
    since = [int(call.partition("--since=@")[2].split()[0]) for call in calls]
    expected = BOOTED_S - OVERLAP_S
    assert [expected, expected + 90, expected + 90] == since


def test_a_journalctl_that_cannot_be_started_is_tried_again(tmp_path):
    """Nothing is raised: the reading goes on when it is there."""
    clock = [0.0]
    journal = Journal((str(tmp_path / "none"),), BOOTED_S, clock=lambda: clock[0])
    assert [] == journal.read(0.0)
    assert not journal.is_open
    JournalCommand(tmp_path).program.rename(tmp_path / "none")
    assert [] == journal.read(0.0)
    clock[0] += 120.0
    journal.read(0.0)
    assert journal.is_open
    journal.close()
    journal.close()
    assert not journal.is_open


def test_a_journal_that_shows_nothing_says_so(journalctl, tmp_path):
    """A user who may not read it gets an empty answer and no failure; so it is asked first."""
    with pytest.raises(UnreadableLogError, match=r"shows none to this user.*systemd-journal"):
        require_messages(journalctl.command)
    with pytest.raises(UnreadableLogError, match="cannot be run: No such file"):
        require_messages((str(tmp_path / "none"),))
    journalctl.write(1, "Linux version 6.1")
    require_messages(journalctl.command)


@pytest.mark.skipif(shutil.which("journalctl") is None, reason="there is no journalctl here")
def test_the_real_journalctl_knows_every_option(tmp_path):
    """Asked of an empty folder, so that nothing of this machine is read."""
    asked = [one for one in arguments(BOOTED_S) if one != "--follow"]
    answer = subprocess.run(
        ["journalctl", f"--directory={tmp_path}", *asked],
        capture_output=True,
        text=True,
        timeout=9,
        check=False,
    )
    assert not answer.stdout
    for refusal in ("unrecognized", "invalid", "Failed to parse", "unknown"):
        assert refusal not in answer.stderr
