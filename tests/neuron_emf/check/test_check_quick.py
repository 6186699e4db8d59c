"""`check --quick` fails only for faults that a restart of the emitter can remove."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.check.quick import (
    CHECKS,
    FIRST_REPORT_WITHIN_S,
    HANGS_AFTER_S,
    SILENT_AFTER_S,
    UNDELIVERED_AFTER_S,
    check_pulse,
)
from neuron_emf.check.settings import CheckSettings
from neuron_emf.check_results import line
from neuron_emitter.health import PULSE_NAME, Pulse, PulseFile
from neuron_emitter.spool import Spool, SpoolHealth

_, LOOP, REPORTS, DELIVERY, DISK = CHECKS
EMPTY_SPOOL = SpoolHealth(records=0, bytes=0, produced=0, delivered=0, dropped={}, older_records=0)
GOOD_PULSE = Pulse(
    pid=1, started_s=0.0, at_s=1000.0, reported_s=1000.0, waiting=0, undelivered_s=None, in_memory=0
)


@contextmanager
def running(folder, pulse):
    """Run an emitter that holds *folder* and has written *pulse*."""
    with Spool(folder):
        PulseFile(folder)._write(pulse)
        yield CheckSettings(spool_dir=folder, quick=True)


def states(folder, pulse, now_s=1001.0):
    """Return the state of each check."""
    with running(folder, pulse) as settings:
        return {result.check: result.state for result in check_pulse(settings, now_s)}


def test_an_emitter_that_works_has_five_lines_that_say_so(tmp_path):
    """A healthy emitter has five lines, none with advice."""
    with running(tmp_path, replace(GOOD_PULSE, pid=7)) as settings:
        results = check_pulse(settings, 1023.4)
    assert [
        f"ok          emitter   process 7 runs and holds {tmp_path}",
        "ok          loop      seen 23 s ago",
        "ok          reports   received in the last minutes",
        "ok          delivery  no records waiting",
        "ok          disk      can be written",
    ] == [*map(line, results)]


def test_while_the_loop_is_seen_nothing_fails(tmp_path):
    """
    While the loop runs, no check fails.

    The emitter handles missing AWS answers, a silent neuron-monitor and a full disk better than a
    restarted emitter would.
    """
    moments = st.none() | st.floats(-1e6, GOOD_PULSE.at_s)
    amounts = st.integers(0, 1 << 40)

    @given(moments, moments, amounts, amounts, st.floats(0, HANGS_AFTER_S))
    def law(reported_s, undelivered_s, waiting, in_memory, ago_s):
        pulse = Pulse(1, -2e6, GOOD_PULSE.at_s, reported_s, waiting, undelivered_s, in_memory)
        file._write(pulse)
        results = check_pulse(settings, GOOD_PULSE.at_s + ago_s)
        assert [*CHECKS] == [result.check for result in results]
        assert "failed" not in {result.state for result in results}

    with running(tmp_path, GOOD_PULSE) as settings:
        file = PulseFile(tmp_path)
        law()


@pytest.mark.parametrize(
    ("now_s", "state"),
    [(1000 + HANGS_AFTER_S, "ok"), (1000.1 + HANGS_AFTER_S, "failed"), (999.9, "failed")],
    ids=["in time", "late", "of another start of the machine"],
)
def test_a_reading_loop_that_hangs_fails(tmp_path, now_s, state):
    """A loop is ok up to the time limit; a later pulse, or one of an earlier boot, fails."""
    assert state == states(tmp_path, GOOD_PULSE, now_s)[LOOP]


@pytest.mark.parametrize(
    ("change", "check", "state"),
    [
        ({"reported_s": GOOD_PULSE.at_s - SILENT_AFTER_S}, REPORTS, "ok"),
        ({"reported_s": GOOD_PULSE.at_s - SILENT_AFTER_S - 1}, REPORTS, "warning"),
        ({"reported_s": None, "started_s": GOOD_PULSE.at_s - FIRST_REPORT_WITHIN_S}, REPORTS, "ok"),
        ({"reported_s": None, "started_s": 0.0}, REPORTS, "warning"),
        ({"undelivered_s": 1000.0 - UNDELIVERED_AFTER_S, "waiting": 9}, DELIVERY, "ok"),
        ({"undelivered_s": 999.0 - UNDELIVERED_AFTER_S, "waiting": 9}, DELIVERY, "warning"),
        ({"in_memory": 1}, DISK, "warning"),
    ],
)
def test_a_fault_that_a_restart_cannot_remove_is_a_warning(tmp_path, change, check, state):
    """A fault that a restart cannot remove is a warning; each limit itself is ok."""
    assert state == states(tmp_path, replace(GOOD_PULSE, **change), GOOD_PULSE.at_s)[check]


def test_where_no_emitter_runs_the_first_check_fails(tmp_path):
    """Without an emitter the first check fails, even with a new pulse."""
    settings = CheckSettings(spool_dir=tmp_path)
    missing = check_pulse(settings)
    with running(tmp_path, GOOD_PULSE):
        pass
    ended = check_pulse(settings, GOOD_PULSE.at_s)
    assert ["failed", *["not tried"] * 4] == [result.state for result in missing]
    assert f"no emitter has left its pulse in {tmp_path}" == missing[0].found
    assert ["failed", *["not tried"] * 4] == [result.state for result in ended]
    assert f"no process holds {tmp_path}" == ended[0].found


def test_a_pulse_is_written_over_and_never_grows(tmp_path):
    """A pulse is overwritten in place and needs no space; only its user can read it."""
    file = PulseFile(tmp_path)
    file.write_beat(0, EMPTY_SPOOL)
    before = (tmp_path / PULSE_NAME).stat()
    file.write_beat(1 << 50, replace(EMPTY_SPOOL, records=1 << 50))
    after = (tmp_path / PULSE_NAME).stat()
    assert 512 == before.st_size
    assert 0o600 == before.st_mode & 0o777
    assert before.st_ino == after.st_ino
    assert before.st_size == after.st_size


def test_a_pulse_that_cannot_be_written_is_not_an_error(tmp_path):
    """A pulse that cannot be written is not an error, and the emitter follows no symbolic link."""
    PulseFile(tmp_path / "missing").write_beat(1, EMPTY_SPOOL)
    PulseFile(None).write_beat(1, EMPTY_SPOOL)
    (tmp_path / "target").write_bytes(b"mine")
    (tmp_path / PULSE_NAME).symlink_to(tmp_path / "target")
    PulseFile(tmp_path).write_beat(1, EMPTY_SPOOL)
    assert b"mine" == (tmp_path / "target").read_bytes()


def test_a_look_starts_nothing_and_knows_no_network(tmp_path):
    """`check --quick` starts, writes and connects nothing, and imports neither the SDK nor Rich."""
    program = (
        "import os, sys\n"
        "done = set()\n"
        "def note(event, arguments):\n"
        "    is_written = event == 'open' and (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR)\n"
        "    if is_written or event in {'socket.connect', 'subprocess.Popen', 'os.fork'}:\n"
        "        done.add(event)\n"
        "sys.addaudithook(note)\n"
        "from neuron_emf.cli import main\n"
        "try:\n"
        "    main(['check', '--quick'])\n"
        "except SystemExit as ended:\n"
        "    big = {'boto3', 'botocore', 'rich'} & set(sys.modules)\n"
        "    print(ended.code, *sorted(done | big))\n"
    )
    variables = {**os.environ, "NEURON_EMF_SPOOL_DIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={**variables, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1" == ended.stdout.splitlines()[-1]
    assert "" == ended.stderr
