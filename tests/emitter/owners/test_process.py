"""One process of `/proc`: the real one, and files that no kernel would write."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from played_machines import BARE

from emitter.owners.process import (
    MAX_ENVIRON_BYTES,
    MAX_PID,
    ProcessGoneError,
    open_process,
)

PROC = Path("/proc")


@pytest.fixture
def child():
    """A real process with an environment of its own; it waits until the test is over."""
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


def test_this_machine_says_what_a_process_is(child):
    """Command name, start, user, groups and variables of a real process, from a real /proc."""
    with open_process(PROC, child.pid) as process:
        command, started_s = process.command_and_start()
        assert Path(f"/proc/{child.pid}/comm").read_text().strip() == command
        assert 0 <= time.clock_gettime(time.CLOCK_BOOTTIME) - started_s < 60
        assert os.getuid() == process.user_id()
        lines = Path(f"/proc/{child.pid}/cgroup").read_text().splitlines()
        groups = process.control_groups()
        assert lines == [f"{number.partition(':')[0]}:{name}:{path}"
                         for number, (name, path) in zip(lines, groups, strict=True)]  # fmt: skip
        assert {"SLURM_JOB_ID": "4711"} == process.variables("SLURM_JOB_ID", "SLURM_USER")


@pytest.mark.parametrize("reads", range(4))
def test_a_process_may_end_between_any_two_reads(child, reads):
    """Really killed and reaped after so many reads: the next one says that it has gone."""
    with open_process(PROC, child.pid) as process:
        steps = [
            process.command_and_start,
            process.control_groups,
            process.user_id,
            lambda: process.variables("A"),
        ]
        for step in steps[:reads]:
            step()
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        for step in steps[reads:]:
            with pytest.raises(ProcessGoneError):
                step()


def test_another_process_of_the_same_number_is_not_read(played):
    """What is open stays the process it was: the folder of its successor is another."""
    pid = played.process(command="first")
    with open_process(played.proc, pid) as process:
        played.process(pid, command="second")
        with pytest.raises(ProcessGoneError):
            process.command_and_start()


@pytest.mark.parametrize("pid", [-1, 0, MAX_PID + 1, 1 << 70, 43])
def test_a_number_that_no_process_has_is_none(played, pid):
    """Reports may hold any number."""
    with pytest.raises(ProcessGoneError), open_process(played.proc, pid):
        pass


@pytest.mark.parametrize("name", ["a) S 1", "(", ")", "", " ", "a\nb", ") R 0 (", "\u00e9\u00e9"])
def test_a_command_name_may_hold_brackets(played, name):
    """Anybody calls a process what he likes: the start behind the name is still found."""
    played.process(command=name, ticks=12_345)
    with open_process(played.proc, 42) as process:
        assert (name, 12_345 / os.sysconf("SC_CLK_TCK")) == process.command_and_start()


@pytest.mark.parametrize(
    "content",
    [b"", b"42", b"42 (x) S", b"42 (x) " + b"a " * 40, b"42 (x) " + b"9" * 30, b"\0" * 99],
)
def test_a_status_that_is_none_is_no_process(played, content):
    """Cut, empty or of something else."""
    played.process()
    played.file("proc/42/stat", content)
    with open_process(played.proc, 42) as process, pytest.raises(ProcessGoneError):
        process.command_and_start()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []), (b"\n\n", []), (b"0::\n", []), (b"0::relative\n", []), (b"0:/\n", []),
        (b"0::/a:b:c\n", [("", "/a:b:c")]), (b"0::/a (deleted)\n", [("", "/a")]),
        (b"0::/\xff\xc3\n", [("", "/\ufffd\ufffd")]),
        (b"1:name=systemd:/x\nrubbish\n0::/y\n", [("name=systemd", "/x"), ("", "/y")]),
        (b"0::/" + b"a" * (1 << 20), []), (b"1:cpu:/x\n0::/" + b"a" * (1 << 20), [("cpu", "/x")]),
    ],
)  # fmt: skip
def test_groups_of_any_form_are_read(played, content, expected):
    """A mebibyte is cut, and what the cut goes through is left out."""
    played.process(groups=content)
    with open_process(played.proc, 42) as process:
        assert expected == process.control_groups()


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        (["A=1", "B=2"], {"A": "1"}), (["XA=1", "A", "=A=1"], {}), (["A=1", "A=2"], {"A": "1"}),
        (["A="], {"A": ""}), (["A=x\ny=\x1b"], {"A": "x\ny=\x1b"}),
        ([b"A=\xff\0"], {"A": "\ufffd"}), (["A=" + "1" * 300], {}),
        ([b"\0\0\0", "A=1"], {"A": "1"}), (["B=" + "1" * (1 << 20), "A=1"], {"A": "1"}),
        (["B=" + "1" * MAX_ENVIRON_BYTES, "A=1"], {}), ([b"A=1"], {"A": "1"}),
    ],
)  # fmt: skip
def test_only_the_variables_asked_for_are_found(played, variables, expected):
    """The first of a name as libc has it; nothing too long, nothing behind the bound."""
    played.process(variables=variables)
    with open_process(played.proc, 42) as process:
        assert expected == process.variables("A")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("Uid:\t1000\t0\t0\t0\n", 1000), ("Name:\tUid:\nUid:\t5\t5\t5\t5\n", 5), ("Uid:\n", None),
        ("Uid:\t-1\n", None), ("", None),
    ],
)  # fmt: skip
def test_the_real_user_is_read(played, status, expected):
    """Whoever started it, also where it runs with another's rights."""
    played.process(groups=BARE)
    played.file("proc/42/status", status)
    with open_process(played.proc, 42) as process:
        assert expected == process.user_id()


def test_what_is_no_file_is_not_waited_for(played):
    """A pipe in the place of a file would never end."""
    played.process()
    (played.proc / "42" / "cgroup").unlink()
    os.mkfifo(played.proc / "42" / "cgroup")
    with open_process(played.proc, 42) as process, pytest.raises(ProcessGoneError):
        process.control_groups()
