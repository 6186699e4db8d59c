"""A real file system that becomes full and read-only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RESTARTS = """
import os, subprocess, sys
from pathlib import Path
from spool_parts import everything
from neuron_emitter.spool import NewRecord, Spool

place = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=True)
clock = iter(range(0, 10**9, 10)).__next__

def life(deeds):
    \"\"\"Run *deeds* in a process that kill -9 ends.\"\"\"
    pid = os.fork()
    if not pid:
        try:
            deeds(Spool(place, max_age_s=1e12, monotonic=clock))
            os.kill(os.getpid(), 9)
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
    assert 9 == os.waitpid(pid, 0)[1]

def first(spool):
    spool.append([NewRecord(0, "a")], b"a")
    with open(place / "ballast", "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 512)
        except OSError as error:
            print(error.strerror)
    while not spool.health().in_memory:  # what is left of the log's last pages
        spool.append([NewRecord(0, "x" * 2400)], b"b")
    for state in (b"c", b"d", b"e"):
        spool.append([NewRecord(0, state.decode())], state)
    spool.settle_records(everything(spool)[:-1])  # the last is not delivered

def second(spool):
    assert b"d" == spool.state, spool.state
    spool.append([NewRecord(0, "f")], b"f")
    spool.settle_records(everything(spool))

def third(spool):
    assert b"f" == spool.state, spool.state
    (place / "ballast").unlink()
    spool.append([NewRecord(0, "g")], b"g")
    assert 0 == spool.health().in_memory

life(first)
life(second)
life(third)
subprocess.run(["mount", "-o", "remount,ro", place], check=True)
assert (place / "spool.sqlite-wal").stat().st_size  # the log has the last records
spool = Spool(place, max_age_s=1e12, monotonic=clock)
assert b"g" == spool.state, spool.state
spool.append([NewRecord(0, "h")], b"h")
assert 1 == spool.health().in_memory
subprocess.run(["mount", "-o", "remount,rw", place], check=True)
spool.append([])
assert b"h" == spool.state
assert 0 == spool.health().in_memory
spool.close()
subprocess.run(["mount", "-o", "remount,ro", place], check=True)
with Spool(place, max_age_s=1e12, monotonic=clock) as spool:
    assert b"h" == spool.state, spool.state
print("done")
"""


def test_a_real_file_system_fills_and_turns_read_only(tmp_path, repository):
    """
    A tmpfs of 1 MiB becomes full, has space again, and becomes read-only and writable again.

    After kill -9 on the full disk, the spool has the state of the last delivered record. On a
    read-only disk, it has the readable state.
    """
    private = ["unshare", "--mount", "--map-root-user"]
    if subprocess.run([*private, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this sandbox permits no mount")
    paths = (repository, repository / "lambda", Path(__file__).parent.parent)
    process = subprocess.run(
        [*private, sys.executable, "-c", RESTARTS, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": ":".join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == process.returncode, process.stderr
    assert ["No space left on device", "done"] == process.stdout.splitlines()
