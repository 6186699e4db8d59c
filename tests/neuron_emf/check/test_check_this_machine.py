"""
What `run` would use of this machine: owners, the kernel's messages, the spool, where lines go.

The folder in which records wait is looked at, tried by writing, and left as it is.
"""

from __future__ import annotations

import os
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from emitter.owners import Reach
from emitter.owners.given import Allocation, UnreadError
from emitter.owners.reservations import Scheduler
from emitter.spool import Spool
from emitter.spool.layout import FILE_NAME
from neuron_emf.check import instance
from neuron_emf.check.instance import (
    check_attribution,
    check_kernel_log,
    check_reservations,
    check_spool,
)
from neuron_emf.check.settings import CheckSettings
from tests.neuron_emf.check.rows import CHECKS, GROUPS, LINES

Usage = namedtuple("Usage", "total used free")  # noqa: PYI024 - as shutil has it
OF_AWS = ("region", "credentials", "clock", *GROUPS, *LINES)


@pytest.mark.parametrize(
    ("found", "state", "words"),
    [
        (Reach(), "ok", "/proc"),
        (Reach(limits=("services", "units"), advice="be root"), "warning", "services and units"),
        (
            Reach(why_not="a namespace of its own", advice="hostPID"),
            "warning",
            "owners are not named",
        ),
    ],
)
def test_what_can_be_named_is_said(monkeypatch, found, state, words):
    """A warning has what to do; every number is right without a name."""
    monkeypatch.setattr(instance, "reach", lambda _places: found)
    finding = check_attribution(CheckSettings())
    assert (state, found.advice) == (finding.state, finding.advice)
    assert words in finding.found


@pytest.mark.parametrize(("job", "is_advised"), [("s5K1KKYAYG5D00", True), ("job_4711", False)])
def test_jobs_without_a_number_have_an_advice_of_their_own(monkeypatch, tmp_path, job, is_advised):
    """Where environments are closed, and Slurm 26.05 names control groups by SLUID."""
    (tmp_path / "42").mkdir()
    (tmp_path / "42" / "cgroup").write_text(f"0::/system.slice/slurmstepd.scope/{job}/step_0\n")
    found = Reach(limits=("Slurm jobs",), advice="be root")
    monkeypatch.setattr(instance, "reach", lambda _places: found)
    finding = check_attribution(CheckSettings(proc_dir=tmp_path))
    assert is_advised == ("CgroupJobIdPaths=yes" in finding.advice)


class PlayedSource:
    """One that tells, or not."""

    def __init__(self, name, *told):
        self.name, self.told = name, told

    def read(self):
        if not self.told:
            reason, remedy = "it hangs", f"Mend {self.name}"
            raise UnreadError(reason, remedy)
        return self.told


POD = Allocation("ml/a", cores=frozenset({0, 1}), devices=frozenset({7}))


@pytest.mark.parametrize(
    ("is_here", "sources", "expected"),
    [
        (False, [PlayedSource("a", POD)], ("not needed", "no scheduler is on this machine", "")),
        (True, [PlayedSource("a", POD), PlayedSource("b")],
         ("ok", "1 owner of 2 cores and 1 device, from a", "")),
        (True, [PlayedSource("a"), PlayedSource("b", POD, POD)],
         ("warning", "not from a: it hangs; 2 owners of 4 cores and 2 devices, from b", "Mend a")),
        (True, [PlayedSource("a"), PlayedSource("b")],
         ("warning", "not from a: it hangs; not from b: it hangs", "Mend a; Mend b")),
    ],
)  # fmt: skip
def test_what_was_given_is_told_by_source(monkeypatch, is_here, sources, expected):
    """Up to the first that tells; those before it have what to do."""
    played = (Scheduler(lambda: is_here, sources),)
    monkeypatch.setattr(instance, "schedulers_of", lambda _places: played)
    finding = check_reservations(CheckSettings())
    assert expected == (finding.state, finding.found, finding.advice)


def test_a_log_that_may_not_be_read_is_a_warning(tmp_path):
    """With what to do: every other number is right without."""
    finding = check_kernel_log(CheckSettings(kernel_messages=f"file:{tmp_path / 'none'}"))
    assert "warning" == finding.state
    assert "not counted" in finding.found
    assert "CAP_SYSLOG" in finding.advice


def test_where_lines_go_elsewhere_aws_is_not_asked(checked, account, monitor):
    """No question reaches it, and every line of it says why."""
    found = checked("--monitor-command", monitor, "--output", "stdout")
    changed = {**dict.fromkeys(OF_AWS, "not needed"), "output": "ok"}
    assert {**CHECKS, **changed} == found.states
    assert "lines go to" in found.of("log group")["found"]
    assert [] == account.operations
    assert 0 == found.code


# --- the spool ---


def checking(**changes):
    return check_spool(CheckSettings(**changes))


def test_a_folder_that_is_not_there_can_be_made_and_is_not(tmp_path):
    """A check that runs as another user must not leave a folder that the emitter cannot write."""
    folder = tmp_path / "new" / "spool"
    found = checking(spool_dir=folder)
    assert "ok" == found.state
    assert f"{folder} can be created" in found.found
    assert [] == list(tmp_path.iterdir())


def test_a_spool_in_use_is_a_warning_and_stays_as_it_is(tmp_path):
    """The emitter that holds it goes on holding it, and who that is is said."""
    with Spool.open(tmp_path, max_bytes=1 << 20):
        before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
        found = checking(spool_dir=tmp_path)
        after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert "warning" == found.state
    assert f"held by process {os.getpid()}" in found.found
    assert before == after


def test_a_file_in_the_place_of_the_folder_fails(tmp_path):
    """Also above it."""
    (tmp_path / "file").write_bytes(b"")
    for place in ("file", "file/spool"):
        found = checking(spool_dir=tmp_path / place)
        assert ("failed", f"{tmp_path / 'file'} is not a folder") == (found.state, found.found)


def test_a_spool_of_a_newer_version_fails(tmp_path):
    """As `run` would refuse it."""
    with Spool.open(tmp_path, max_bytes=1 << 20):
        pass
    with (tmp_path / FILE_NAME).open("r+b") as file:
        file.seek(60)
        file.write((9).to_bytes(4, "big"))
    found = checking(spool_dir=tmp_path)
    assert "failed" == found.state
    assert "has layout 9" in found.found
    assert "install the newer neuron-emf" in found.advice


@pytest.mark.parametrize(("free_mib", "state"), [(256, "ok"), (255, "warning"), (0, "warning")])
def test_a_disk_with_less_room_than_is_allowed_is_a_warning(tmp_path, monkeypatch, free_mib, state):
    """At --spool-max-mib exactly there is enough."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 0, free_mib << 20))
    found = checking(spool_dir=tmp_path, spool_max_mib=256)
    assert state == found.state
    assert f"{free_mib} MiB" in found.found


def test_a_folder_that_the_system_refuses_fails():
    """Also to root, whom no permission of a file stops: it is tried, not looked up."""
    found = checking(spool_dir=Path("/proc/neuron-emf"))
    assert "failed" == found.state
    assert found.found.startswith("cannot write /proc: ")
