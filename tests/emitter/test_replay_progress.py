"""How far a replay is."""

from __future__ import annotations

import os
import pty
import subprocess
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from neuron_reports import counters, report, runtime, written

from emitter import replay as replays
from emitter.settings import ReplaySettings
from proof.emitter_process import environment
from tests.emitter.emitter_command import COMMAND

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = ReplaySettings(cluster="blue", interval=5.0, start="2026-01-01T00:00:00Z")


def saved(path: Path, count: int) -> Path:
    """*count* reports as a file."""
    path.write_bytes(written(report(runtime(counters([50.0, 0])))) + b"\n")
    path.write_bytes(path.read_bytes() * count)
    return path


@settings(max_examples=30)
@given(counts=st.lists(st.integers(1, 9), min_size=1, max_size=3), chunk=st.integers(100, 5000))
def test_it_goes_from_nothing_to_all(tmp_path_factory, counts, chunk):
    """Never back, never beyond, and all bytes of all files at the end."""
    folder = tmp_path_factory.mktemp("reports")
    files = [saved(folder / str(number), count) for number, count in enumerate(counts)]
    told = []
    before = replays.READ_BYTES
    replays.READ_BYTES = chunk
    try:
        list(replays.replay(files, SETTINGS, lambda done, total: told.append((done, total))))
    finally:
        replays.READ_BYTES = before
    size = sum(file.stat().st_size for file in files)
    assert {size} == {total for _, total in told}
    assert sorted(told) == told
    assert size == told[-1][0]


def test_a_short_one_says_nothing_on_a_terminal(tmp_path):
    """A bar is for work that takes longer than two seconds; the lines are the same."""
    file = saved(tmp_path / "reports", 30)
    words = f"replay {file} --interval 5 --start 2026-01-01T00:00:00Z --cluster blue".split()
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen:
        shown = subprocess.run(
            [*COMMAND, *words],
            env=environment(tmp_path, TERM="xterm"),
            stdout=subprocess.PIPE,
            stderr=theirs,
            check=True,
        ).stdout
        with os.fdopen(theirs, "wb", buffering=0) as end:
            end.write(b"end\n")
            assert b"end\r\n" == screen.read(100)
    assert list(replays.replay([file], SETTINGS)) == shown.decode().splitlines()
