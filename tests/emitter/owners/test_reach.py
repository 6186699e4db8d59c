"""Whether owners can be named here: in this very machine's namespaces, and in others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from emitter.owners.lookup import owners_of
from emitter.owners.places import FIRST_NAMESPACE, Places, Reach, reach

SAYING = (
    "from emitter.owners import Places, reach; "
    "found = reach(Places()); print(found.why_not or 'yes', *found.limits, sep='|')"
)
OTHER_USER = 65_534


def own(tmp_path, target=FIRST_NAMESPACE, capabilities="000001ffffffffff"):
    """What the kernel shows a process of itself."""
    (tmp_path / "ns").mkdir()
    (tmp_path / "ns" / "pid").symlink_to(target)
    (tmp_path / "status").write_text(f"Name:\tx\nCapPrm:\t0\nCapEff:\t{capabilities}\n")
    return tmp_path


def said(*before, **options):
    """What a process of its own finds, started with *before*."""
    ended = subprocess.run(
        [*before, sys.executable, "-c", SAYING],
        env={"PYTHONPATH": ":".join(sys.path), "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
    if ended.returncode:
        pytest.skip(f"this machine does not allow it: {ended.stderr.strip()[-100:]}")
    return ended.stdout.strip()


def test_the_first_namespace_sees_all(tmp_path):
    """Root on the machine itself."""
    assert Reach() == reach(Places(), own=own(tmp_path))


@pytest.mark.parametrize("capabilities", ["0", "000001fffff7ffff", "x", ""])
def test_environments_need_a_capability(tmp_path, capabilities):
    """Without CAP_SYS_PTRACE those of other users cannot be read, and somebody is told."""
    found = reach(Places(), own=own(tmp_path, capabilities=capabilities))
    assert "CAP_SYS_PTRACE" in found.advice
    assert not found.why_not


@pytest.mark.parametrize("target", ["pid:[4026532567]", "pid:[]", "x"])
def test_in_another_namespace_nobody_is_named(tmp_path, target):
    """The same number is another process there, and a wrong name is worse than none."""
    found = reach(Places(), own=own(tmp_path, target))
    assert "reports have the host's process IDs" in found.why_not
    assert "hostPID" in found.advice
    assert "pidMode" in found.advice


def test_a_real_namespace_of_its_own_is_seen():
    """As in a container without the host's processes."""
    found = said("unshare", "--pid", "--fork", "--mount-proc")
    assert "this process runs in its own PID namespace" in found


def test_hidden_processes_are_told():
    """A /proc that is mounted with hidepid shows a user his own processes only."""
    as_other = f"setpriv --reuid {OTHER_USER} --regid {OTHER_USER} --clear-groups"
    remount = f'mount -o remount,hidepid=2 /proc && exec {as_other} "$@"'
    found = said("unshare", "--mount", "sh", "-c", remount, "sh")
    assert "yes|the hidden processes of other users" == found


def test_what_only_root_may_read_is_told():
    """Anybody sees the processes of this machine, but not their environments."""
    found = said("setpriv", "--reuid", str(OTHER_USER), "--clear-groups")
    assert "yes|ECS services|Slurm jobs whose control group has no job number" == found


def test_a_proc_that_was_given_is_trusted(played):
    """In a container with the host's /proc mounted: its pids are those of the reports."""
    assert Reach() == reach(played.places)


def test_a_folder_without_processes_is_none(tmp_path):
    """A mistyped --proc-dir names nobody, and says what was expected."""
    found = reach(Places.beside(tmp_path))
    assert str(tmp_path) in found.why_not
    assert "--proc-dir" in found.advice


@pytest.mark.parametrize(
    ("proc", "root"), [("/proc", "/"), ("/host/proc", "/host"), ("/a/b/proc", "/a/b")]
)
def test_the_root_is_beside_the_proc(proc, root):
    """A host's files stand where its /proc does."""
    places = Places.beside(Path(proc))
    assert (proc, root) == (str(places.proc), str(places.root))
    assert (proc == "/proc") == places.is_own


@pytest.mark.parametrize(
    ("attribution", "source", "expected"),
    [
        ("auto", "monitor", True), ("auto", "-", True), ("auto", "/reports.json", False),
        ("none", "monitor", False), ("none", "-", False),
    ],
)  # fmt: skip
def test_only_pids_of_this_machine_are_looked_up(played, attribution, source, expected):
    """A file of reports may be of any machine."""
    found = owners_of(attribution, source, played.proc)
    assert expected == (found is not None)
    if found is not None:
        found.close()


def test_that_nobody_can_be_named_is_said_once(tmp_path, caplog):
    """At the start, with what to do; the emitter runs on."""
    assert owners_of("auto", "monitor", tmp_path) is None
    (message,) = caplog.messages
    assert "--proc-dir" in message
