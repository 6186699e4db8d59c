"""One process in `/proc`: a real one, and files that no kernel would write."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from neuron_emitter.owners.process import (
    MAX_ENVIRON_BYTES,
    ProcessGoneError,
    open_process,
)

PROC = Path("/proc")


@pytest.fixture
def child():
    """Yield a real process with its own environment, until the test ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"SLURM_JOB_ID": "4711", "PASSWORD": "secret"},
    )
    process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize("reads", range(4))
def test_a_process_may_end_between_any_two_reads(child, reads):
    """After a process is killed and reaped, the next read raises ProcessGoneError."""
    with open_process(PROC, child.pid) as process:
        steps: list[Any] = [process.command_and_start, process.control_groups, process.user_id]
        steps.append(lambda: process.variables("A"))
        for step in steps[:reads]:
            step()
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        for step in steps[reads:]:
            with pytest.raises(ProcessGoneError):
                step()


@pytest.mark.parametrize("name", ["a) S 1", "(", ")", "", " ", "a\nb", ") R 0 (", "\u00e9\u00e9"])
def test_a_command_name_may_contain_any_characters(machine, name):
    """A command name can contain any characters; the start time after it is found."""
    machine.process(command=name, ticks=12_345)
    with open_process(machine.proc, 42) as process:
        command, start_s = process.command_and_start()
    assert name == command
    assert 12_345 / os.sysconf("SC_CLK_TCK") == start_s


MEBIBYTE = b"a" * (1 << 20)


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        *(("stat", content, None) for content in (
            b"", b"42 (x) S", b"42 (x) " + b"a " * 40, b"42 (x) " + b"9" * 30, b"\0" * 99)),
        *(("cgroup", content, []) for content in (b"", b"0::\n", b"0::relative\n", b"0:/\n")),
        ("cgroup", b"0::/a (deleted)\n", [("", "/a")]),
        ("cgroup", b"1:name=systemd:/x\n?\n0::/y\n", [("name=systemd", "/x"), ("", "/y")]),
        ("cgroup", b"1:cpu:/x\n0::/" + MEBIBYTE, [("cpu", "/x")]),
        ("environ", b"A=1\0B=2\0", {"A": "1"}), ("environ", b"XA=1\0A\0=A=1\0", {}),
        ("environ", b"A=x\ny\0", {"A": "x\ny"}), ("environ", b"A=\xff\0", {"A": "\ufffd"}),
        ("environ", b"A=" + b"1" * 300 + b"\0", {}), ("environ", b"\0\0\0A=1\0", {"A": "1"}),
        ("environ", b"B=" + MEBIBYTE + b"\0A=1\0", {"A": "1"}), ("environ", b"A=1", {"A": "1"}),
        ("environ", b"B=" + b"1" * MAX_ENVIRON_BYTES + b"\0A=1\0", {}),
        ("status", b"Uid:\t1000\t0\t0\t0\n", 1000), ("status", b"Uid:\n", None),
    ],
)  # fmt: skip
def test_a_file_of_any_content_is_read_within_bounds(machine, file, content, expected):
    """
    A file with any content is read within its limit. A cut value is dropped.

    A stat file in another form means that the process is gone.
    """
    machine.process()
    machine.file(f"proc/42/{file}", content)
    with open_process(machine.proc, 42) as process:
        if file == "stat":
            with pytest.raises(ProcessGoneError):
                process.command_and_start()
        else:
            read = {"cgroup": process.control_groups, "status": process.user_id}
            assert expected == read.get(file, lambda: process.variables("A"))()
