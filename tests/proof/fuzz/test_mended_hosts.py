"""
What the search found in the readers of the host, in words; the inputs themselves are in `found`.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict

import pytest

from emitter.fold.state import read_state, with_kernel
from emitter.health.pulse import PULSE_NAME, Pulse, read_pulse
from emitter.kernel import kmsg
from emitter.kernel.kmsg import KernelRing
from emitter.kernel.position import LogState, Position
from proof.factories.kernel_logs import BOOT, BOOTED_S, REAL, record
from proof.fuzz import owners
from proof.fuzz.answers import answering

PULSE = Pulse(1, 10.0, 20.0, None, 0, None, 0)


@pytest.mark.parametrize("us", [0, 10**18 - 1])
def test_a_stamp_at_its_bound_is_kept_and_read_again(us, tmp_path):
    """One digit more is no message."""
    path = tmp_path / "kmsg"
    path.write_bytes(record(us, us, REAL) + record(10**18, 1, REAL) + record(1, 10**18, REAL))
    ring = KernelRing(path, BOOT, clock=lambda: BOOTED_S, since_boot_s=lambda: 0.0)
    (message,) = ring.read(0.0)
    ring.close()
    assert (us, us) == (message.seq, message.since_boot_us)
    log = LogState(Position.of(message))
    assert log == read_state(with_kernel(None, log)).kernel


@pytest.mark.parametrize("chunk", [b"x" * 100, b"\n" * 100])
def test_a_log_that_never_ends_and_holds_no_record_is_left_again(chunk, tmp_path, monkeypatch):
    """A stop waits for the read: it was as long as the file, and for ever of what has no end."""
    path = tmp_path / "kmsg"
    path.write_bytes(b"")
    ring, reads = KernelRing(path, BOOT), []

    def endless(_file, _size):
        reads.append(1)
        assert len(reads) <= kmsg.RECORDS_A_READ
        return chunk

    with monkeypatch.context() as patched:
        patched.setattr(kmsg.os, "read", endless)
        assert [] == ring.read(0.0)
    ring.close()


def test_the_user_of_a_job_is_printable():
    """Also where the name is the passwd's of a host: as with every other owner."""
    owners.machine(b"0::/system.slice/slurmstepd.scope/job_7/step_0\n")
    (owners.ROOT / "etc" / "passwd").write_bytes(b"\x1b[2Jada:x:1000:1::/:/bin/sh\n")
    with answering(b""):
        assert "slurm:7 ?[2Jada" == owners.owner().name


@pytest.mark.parametrize("member", ["started_s", "at_s", "reported_s", "undelivered_s", "waiting"])
@pytest.mark.parametrize("value", ["NaN", "Infinity", "-1", "9" * 320, str((1 << 53) + 1)])
def test_a_pulse_that_nobody_can_count_with_is_none(tmp_path, member, value):
    """NaN made a loop that hangs look well, and a number of hundreds of digits ended the check."""
    members = json.dumps({**asdict(PULSE), member: "here"}).replace('"here"', value)
    (tmp_path / PULSE_NAME).write_text(members, "ascii")
    assert read_pulse(tmp_path) is None


@pytest.mark.parametrize("value", [0, 1 << 53])
def test_a_pulse_at_its_bounds_is_read(tmp_path, value):
    """As are the times of this machine."""
    for at_s in (value, time.monotonic()):
        (tmp_path / PULSE_NAME).write_text(json.dumps({**asdict(PULSE), "at_s": at_s}), "ascii")
        assert at_s == read_pulse(tmp_path).at_s
