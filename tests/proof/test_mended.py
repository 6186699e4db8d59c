"""What the search found that no promise of a target says: what it means to people."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import asdict
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError

from emitter.fold.state import read_state, with_kernel
from emitter.health import PULSE_NAME, Pulse, read_pulse
from emitter.kernel import kmsg
from emitter.kernel.detector import LogState, Position
from emitter.kernel.kmsg import KernelRing
from emitter.spool import NewRecord, Spool
from neuron_emf.account import refusal
from neuron_emf.check.aws_client import AwsClient
from neuron_emf.reading import Records
from neuron_emf.reading.periods import ALWAYS
from neuron_emf.reading.records import MAX_KIND_CHARS, MAX_KINDS
from neuron_emf.report.collection import collect
from neuron_emf.report.settings import IdleReportSettings
from neuron_wire.holders import Holder
from proof.factories.records import message, record
from tests.emitter.kernel.kernel_logs import BOOT, BOOTED_S, REAL
from tests.emitter.kernel.kernel_logs import record as kernel_record

PULSE = Pulse(1, 10.0, 20.0, None, 0, None, 0)


@pytest.mark.parametrize("change", [
    f"records SET id = {(1 << 63) - 1} WHERE seq = 1",
    f"boots SET produced = {(1 << 63) - 1}", f"drops SET records = {1 << 62}",
])  # fmt: skip
def test_a_spool_whose_numbers_cannot_count_on_is_set_aside(tmp_path, change):
    """
    Its numbers overflowed at the first record: the emitter ended, at this start and at every other.
    """
    now_ms = int(time.time() * 1000)
    with Spool.open(tmp_path) as spool:
        spool.append([NewRecord(now_ms, "old"), NewRecord(now_ms, "older")])
        spool.settle(dropped={"invalid": [2]})
    with closing(sqlite3.connect(tmp_path / "spool.sqlite", isolation_level=None)) as database:
        database.execute(f"UPDATE {change}")
    with Spool.open(tmp_path) as spool:
        spool.append([NewRecord(now_ms, "new")])
        assert ["new"] == [one.line for one in spool.oldest(10, 1000)]
        assert 1 == spool.health().set_aside


def test_a_minute_that_no_calendar_has_is_outside(tmp_path):
    """One line of the year 287,396 ended the report of all others."""
    lines = tmp_path / "lines"
    last_ms = ALWAYS.end_ms - 60_000
    texts = [
        message(record(minute_ms=at_ms, seq=place + 1))
        for place, at_ms in enumerate((last_ms, ALWAYS.end_ms, (1 << 53) // 60_000 * 60_000))
    ]
    lines.write_text("\n".join(texts), encoding="utf-8")
    report = collect(IdleReportSettings(), [lines])
    assert (last_ms, 1, 2) == (
        report.start_ms,
        report.reading.minute_lines,
        report.reading.outside,
    )


def test_kinds_of_lines_are_told_apart_within_bounds():
    """A line in any kind's name is counted, and takes no memory of its own."""
    records, texts = Records(), [f"kind{place}" for place in range(1000)]
    texts += ["k" * (MAX_KIND_CHARS + 1), "\u65e5", "\x1b[2J", "kind0"]
    lines = (json.dumps({"Schema": 1, "Kind": kind}) for kind in texts)
    assert [] == list(records.read_records(lines))
    assert len(texts) == sum(records.other.values())
    assert MAX_KINDS + 1 == len(records.other)
    assert (2, len(texts) - MAX_KINDS - 1) == (records.other["kind0"], records.other["?"])


def test_a_terminal_without_the_letters_of_a_name_gets_the_rest(tmp_path):
    """A name in Japanese ended the command where the locale is Latin."""
    lines = tmp_path / "lines"
    held = message(record(holders=(Holder("1", "ml/\u65e5\u672c", 41, None),)))
    lines.write_text(held, encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "neuron_emf", "report", str(lines)],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert (0, b"") == (ended.returncode, ended.stderr)
    assert "ml/??" in ended.stdout.decode("latin-1")


def test_a_date_that_no_calendar_has_tells_no_time():
    """It ended `check`; the clocks are then not compared."""
    date = f"Sat, {'2' * 90} Nov 2026 08:15:30 GMT"
    answer = {"ResponseMetadata": {"HTTPHeaders": {"date": date}}}
    client = SimpleNamespace(describe_log_groups=lambda: answer)
    asking = AwsClient(SimpleNamespace(client=lambda _: client))
    assert "" == asking.ask("logs", "describe_log_groups").reason
    assert asking.skew_s is None


@pytest.mark.parametrize("letters", [100, 101, 3000])
def test_the_code_of_a_refusal_is_as_short_as_codes_are(letters):
    """Whatever stands between here and AWS answers may have written it."""
    error = ClientError({"Error": {"Code": "y" * letters, "Message": "no"}}, "FilterLogEvents")
    said = str(refusal(error, "logs:FilterLogEvents"))
    assert f"failed ({'y' * 100}): " in said
    assert len(said) < 1000


@pytest.mark.parametrize("us", [0, 10**18 - 1])
def test_a_stamp_at_its_bound_is_kept_and_read_again(us, tmp_path):
    """One digit more is no message."""
    path = tmp_path / "kmsg"
    path.write_bytes(
        b"".join(kernel_record(seq, at, REAL) for seq, at in ((us, us), (10**18, 1), (1, 10**18)))
    )
    ring = KernelRing(path, BOOT, clock=lambda: BOOTED_S, since_boot_s=lambda: 0.0)
    (read,) = ring.read_messages(0.0)
    ring.close()
    assert (us, us) == (read.seq, read.since_boot_us)
    log = LogState(Position.after(read))
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
        assert [] == ring.read_messages(0.0)
    ring.close()


@pytest.mark.parametrize("value", [0, 1 << 53])
def test_a_pulse_at_its_bounds_is_read(tmp_path, value):
    """As are the times of this machine."""
    for at_s in (value, time.monotonic()):
        (tmp_path / PULSE_NAME).write_text(json.dumps({**asdict(PULSE), "at_s": at_s}), "ascii")
        assert at_s == read_pulse(tmp_path).at_s
