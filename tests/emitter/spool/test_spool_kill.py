"""Kill -9 at any instruction, also of a process that had just found the disk full."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from spool_parts import balance, counters_of, older_boots, open_database

from emitter.spool import Spool

VICTIM = """
import os, sys, threading, time
from pathlib import Path
from spool_parts import full_disk
from emitter.spool import NewRecord, Spool

def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())  # whole, from either thread

spool = Spool.open(Path(sys.argv[1]), monotonic=iter(range(0, 10**9, 10)).__next__)

def settle():
    while True:
        records = spool.oldest(5, 1 << 20)[:4]
        for record in records:
            say("settling", record.boot, record.seq)
        ids = [each.id for each in records]
        spool.settle(ids[1:], {"invalid": ids[:1]})

threading.Thread(target=settle, daemon=True).start()

def append(number):
    now_ms, first = int(time.time() * 1000), spool.next_seq
    lines = [NewRecord(now_ms, f"{first + n} " + "x" * 2000) for n in range(4)]
    spool.append(lines, f"{spool.boot} {first + 3}".encode())
    # Settled by the other thread or on the disk: then nothing of it depends on us.
    if not spool.health().in_memory:
        say("appended", spool.boot, first + 3)

number = 0
while True:
    number += 1
    if number % 6 == 0:
        with full_disk():
            append(number)
    else:
        append(number)
"""


@pytest.mark.timeout(120)
def test_kill_9_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path, repository):
    """
    Twelve lives on one directory: the file is whole, the identity holds for each boot, numbers
    and lines belong together, the state is of the last append, and every acknowledged record
    waits or was settled.
    """
    rng = random.Random(9)
    paths = (repository, repository / "lambda", Path(__file__).parent.parent)
    acknowledged: dict[str, int] = {}
    settled: set[tuple[str, int]] = set()
    for appends in [1, 2, *(rng.randint(1, 40) for _ in range(10))]:
        process = subprocess.Popen(
            [sys.executable, "-c", VICTIM, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": ":".join(map(str, paths))},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        with process:
            said = []
            while sum(line.startswith("appended") for line in said) < appends:
                said.append(process.stdout.readline())
                assert said[-1], "the victim ended by itself"
            process.send_signal(signal.SIGKILL)
            said += process.stdout.read().splitlines()
        for word, boot, seq in (line.split() for line in said):
            if word == "settling":
                settled.add((boot, int(seq)))
            else:
                acknowledged[boot] = int(seq)
        with Spool.open(tmp_path) as spool:
            assert 0 == spool.health().set_aside
            assert [("ok",)] == open_database(spool).execute("PRAGMA integrity_check").fetchall()
            boot, last = spool.state.decode().split()
            assert boot == max(acknowledged)
            assert int(last) >= acknowledged[boot]
            waiting = spool.oldest(100_000, 1 << 30)
            for record in waiting:
                assert record.line.startswith(f"{record.seq} x")
            if boot in older_boots(spool):
                assert int(last) == counters_of(spool, boot).produced
            for older in older_boots(spool):
                assert 0 == balance(spool, older)
            there = settled | {(record.boot, record.seq) for record in waiting}
            assert (
                set()
                == {
                    (boot, seq)
                    for boot, last_seq in acknowledged.items()
                    for seq in range(1, last_seq + 1)
                }
                - there
            )
