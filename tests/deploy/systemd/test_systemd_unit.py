"""The unit as it is written: systemd's own checks, and what the emitter needs of it."""

from __future__ import annotations

import re
import shutil

import pytest

from emitter.instance.facts import FIRST_TRY_S
from emitter.reports.child import STOP_WITHIN_S
from emitter.run.outlet import CHANGE_WITHIN_S, FINISH_WITHIN_S, FLUSH_WITHIN_S
from emitter.run.signals import BEATS_IN_A_PERIOD
from tests.programs import run_program

MOST_EXPOSED = 2.0  # of 10, as `systemd-analyze security` counts; docs/how-to/ec2.md says it, too

COMMAND = "/opt/neuron-emf/bin/neuron-emf"

TARGETS = [
    f"{name}.target" for name in ("basic", "multi-user", "network-online", "shutdown", "sysinit")
]


@pytest.fixture(scope="module")
def folder(repository):
    """Where the unit and what belongs to it are."""
    return repository / "deploy" / "systemd"


@pytest.fixture(scope="module")
def analyze():
    """systemd-analyze with words; skips where there is none."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is missing: it comes with systemd")

    def run(*words):
        return run_program([program, *words])

    return run


@pytest.fixture(scope="module")
def directives(folder):
    """The sections of the unit, each a list of assignments in order."""
    found = {}
    for line in (folder / "neuron-emf.service").read_text("utf-8").splitlines():
        if match := re.fullmatch(r"\[(\w+)\]", line):
            section = found.setdefault(match[1], [])
        elif line and not line.startswith("#"):
            section.append(tuple(line.split("=", 1)))
    return found


def seconds(text):
    """A time of the unit, which is written in seconds."""
    return float(text.removesuffix("s"))


def machine(folder, root, options=None):
    """A root folder with the unit, a program where it expects one, and perhaps a drop-in."""
    units = root / "etc" / "systemd" / "system"
    units.mkdir(parents=True)
    shutil.copy(folder / "neuron-emf.service", units)
    for name in (COMMAND, "/bin/kill"):
        program = root / name.lstrip("/")
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    if options is not None:
        dropped = units / "neuron-emf.service.d" / "options.conf"
        dropped.parent.mkdir()
        dropped.write_text(options, encoding="utf-8")
    for name in TARGETS:
        (units / name).write_text("[Unit]\n")
    (units / "modprobe@.service").write_text("[Service]\nType=oneshot\nExecStart=/bin/kill\n")
    return units / "neuron-emf.service"


def complaints(run):
    """What systemd says, in one line."""
    assert not run.returncode or run.stderr
    return run.stderr.strip()


def test_systemd_finds_no_fault(folder, analyze, tmp_path):
    """Every key known, every value readable, every program there."""
    machine(folder, tmp_path)
    run = analyze("verify", f"--root={tmp_path}", "neuron-emf.service")
    assert "" == complaints(run)


def exposure(analyze, unit):
    """The score of systemd's own tool, 0 to 10."""
    run = analyze("security", "--offline=true", "--no-pager", unit)
    if "nknown option" in run.stderr or "unrecognized option" in run.stderr:
        pytest.skip("systemd-analyze security reads no files before systemd 250")
    return float(re.search(r"Overall exposure level for .*: ([0-9.]+)", run.stdout)[1])


def test_it_is_no_more_exposed_than_is_stated(folder, analyze, tmp_path, repository):
    """The score is that of the page; without the sandbox it would be over 9."""
    unit = machine(folder, tmp_path / "ours")
    assert MOST_EXPOSED >= exposure(analyze, unit)
    page = (repository / "docs" / "how-to" / "ec2.md").read_text("utf-8")
    assert f"{MOST_EXPOSED} of 10" in page
    bare = tmp_path / "bare.service"
    bare.write_text(f"[Service]\nExecStart={COMMAND}\n")
    assert 9 < exposure(analyze, bare)


def test_a_stop_has_the_time_it_needs(directives):
    """
    Both the flush of a planned stop and that of an input that ended, and neuron-monitor's own.
    """
    service = dict(directives["Service"])
    needed_s = max(FLUSH_WITHIN_S, FINISH_WITHIN_S) + STOP_WITHIN_S
    assert needed_s < seconds(service["TimeoutStopSec"])
    assert "mixed" == service["KillMode"]  # the emitter ends its child; only then is anybody killed


def test_it_is_watched(directives):
    """Ready when it says so; one that hangs is aborted within a minute and says where."""
    service = dict(directives["Service"])
    assert "notify" == service["Type"]
    assert "main" == service["NotifyAccess"]
    assert 60 >= seconds(service["WatchdogSec"])
    assert seconds(service["WatchdogSec"]) / BEATS_IN_A_PERIOD > CHANGE_WITHIN_S + FIRST_TRY_S
    assert "PYTHONFAULTHANDLER=1" == service["Environment"]


def test_the_only_capability_reads_the_kernels_log(directives):
    """
    No ptrace: the environment of other people's processes is closed unless the drop-in opens it.
    """
    service = directives["Service"]
    assert [("CapabilityBoundingSet", "CAP_SYSLOG"), ("AmbientCapabilities", "CAP_SYSLOG")] == [
        pair for pair in service if "Capabilit" in pair[0]
    ]
    assert ("DevicePolicy", "closed") in service
    assert ["char-neuron rw", "/dev/kmsg r"] == [
        value for name, value in service if name == "DeviceAllow"
    ]
