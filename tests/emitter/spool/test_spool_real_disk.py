"""A real file system that fills, and that turns read-only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FULL_TMPFS = """
import os, subprocess, sys
from pathlib import Path
from spool_parts import everything, balance
from emitter.spool import NewRecord, Spool

place = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=True)
clock = iter(range(0, 10**9, 10)).__next__
spool = Spool.open(place, max_age_s=None, monotonic=clock)

def append(count):
    first = spool.next_seq
    records = [NewRecord(0, f"{first + n} " + "x" * 2400) for n in range(count)]
    assert first == spool.append(records, b"%d" % first)
    assert 0 == balance(spool)

append(5)
assert 0 == spool.health().in_memory
ballast = place / "ballast"
with open(ballast, "wb", buffering=0) as file:
    try:
        while True:
            file.write(b"x" * 512)
    except OSError as error:
        print(error.strerror)
for _ in range(400):
    append(1)  # more than the room that is left in the file and its log
assert spool.health().in_memory > 0, spool.health()
print("refused")
ids = everything(spool)
assert 405 == len(ids)
assert 300 == spool.settle(ids[:300])
assert ids[300:] == everything(spool)
assert 0 == balance(spool)
ballast.unlink()
append(1)
assert 0 == spool.health().in_memory
boot, left = spool.boot, [record.seq for record in spool.oldest(1000, 1 << 30)]
assert list(range(301, 407)) == left
spool.close()
subprocess.run(["mount", "-o", "remount,ro", place], check=True)
with Spool.open(place, max_age_s=None, monotonic=clock) as spool:
    append(1)
    assert 1 == spool.health().in_memory
    subprocess.run(["mount", "-o", "remount,rw", place], check=True)
    append(1)
    assert 0 == spool.health().in_memory
    assert left == [record.seq for record in spool.oldest(1000, 1 << 30) if record.boot == boot]
    assert [1, 2] == [r.seq for r in spool.oldest(1000, 1 << 30) if r.boot == spool.boot]
print("done")
"""


@pytest.mark.timeout(60)
def test_a_real_file_system_fills_and_turns_read_only(tmp_path, repository):
    """A tmpfs of 1 MiB: full, then with room again, then read-only, then writable again."""
    private = ["unshare", "--mount", "--map-root-user"]
    if subprocess.run([*private, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this sandbox lets nobody mount")
    paths = (repository, repository / "lambda", Path(__file__).parent.parent)
    process = subprocess.run(
        [*private, sys.executable, "-c", FULL_TMPFS, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": ":".join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, ["No space left on device", "refused", "done"]) == (
        process.returncode,
        process.stdout.splitlines(),
    ), process.stderr
