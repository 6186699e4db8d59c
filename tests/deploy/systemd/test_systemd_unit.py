"""
The unit under a real systemd: started, watched, aborted when it hangs, stopped in order.

neuron-monitor is simulated, the sandbox is real. The file shows what a short run does not: times
and devices of the unit.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from neuron_emitter.instance.instance_facts import FIRST_TRY_S
from neuron_emitter.reports.child import CHILD_STOP_TIMEOUT_S
from neuron_emitter.run.outlet import CHANGE_WITHIN_S, FINISH_WITHIN_S, FLUSH_WITHIN_S
from neuron_emitter.run.signals import BEATS_IN_A_PERIOD
from proof.emitter_process import HUNG_AFTER_S, wait_until
from proof.real import booted_systemd
from tests.programs import run_program

MONITOR_SCRIPT = """\
#!/bin/sh
PYTHONPATH=/opt/simulator exec /opt/neuron-emf/bin/python -m local.monitor "$@"
"""
CONFIG_TEXT = """\
cluster = "blue"
output = "stdout"
spool-dir = "/var/lib/neuron-emf"
period = 1
"""
REHEARSAL_TARGET = """\
[Unit]
DefaultDependencies=no
Requires=systemd-journald.service neuron-emf.service
After=neuron-emf.service
"""
QUICK_DROP_IN = """\
[Unit]
# Nothing of this machine's own services is started.
DefaultDependencies=no

[Service]
WatchdogSec=6s
StandardOutput=append:/var/lib/lines.jsonl
RestartSec=1s
"""
# of 10, as `systemd-analyze security` counts; docs/how-to/ec2.md has the same number
MOST_EXPOSED = 2.0
CAP_SYSLOG = 1 << 34  # linux/capability.h


def put(path, text, mode=0o644):
    """Write a file that every user can read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


@pytest.fixture(scope="module")
def machine(installed, repository, tmp_path_factory):
    """Yield a booted machine where neuron-emf is active."""
    if why := booted_systemd.missing():
        pytest.skip(f"no systemd of our own can be started: {why}")
    program = (installed / "opt/neuron-emf/bin/python").resolve()
    if any(program.is_relative_to(home) for home in ("/root", "/home")):
        pytest.skip(f"{program} is in a home, which the service does not see: install python3-venv")
    files = tmp_path_factory.mktemp("files")
    files.chmod(0o755)
    simulator = files / "opt" / "simulator"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(repository / "local", simulator / "local", ignore=ignored)
    wire = repository / "lambda" / "neuron_wire"
    shutil.copytree(wire, simulator / "neuron_wire", ignore=ignored)
    units = files / "etc" / "systemd" / "system"
    put(files / "opt/aws/neuron/bin/neuron-monitor", MONITOR_SCRIPT, 0o755)
    put(files / "etc/neuron-emf/config.toml", CONFIG_TEXT)
    put(units / "rehearsal.target", REHEARSAL_TARGET)
    put(units / "neuron-emf.service.d" / "quick.conf", QUICK_DROP_IN)
    for folder, _, names in os.walk(files):
        Path(folder).chmod(0o755)
        for name in names:
            path = Path(folder, name)
            path.chmod(path.stat().st_mode | 0o444)
    with booted_systemd.booted(installed, files, tmp_path_factory.mktemp("work")) as booted:
        yield booted


@pytest.mark.proof
def test_the_service_is_sandboxed_watched_and_stopped_in_order(machine):
    """
    READY=1 activates the service, which is a user of its own with one capability behind a filter.
    If it hangs, it is aborted, logs where it hung, and restarts. A stop ends with the clean
    shutdown line.
    """
    assert "neuron-emf" == machine.shows("User")
    assert machine.shows("StatusText").startswith("cluster blue: ")
    assert "0" == machine.shows("NRestarts")
    hung = machine.outside_pid()
    status = dict(
        line.split(":\t", 1)
        for line in Path(f"/proc/{hung}/status").read_text("utf-8").splitlines()
        if ":\t" in line
    )
    assert "0" != status["Uid"].split()[0]
    assert "1" == status["NoNewPrivs"]
    assert "2" == status["Seccomp"]
    assert "" == machine.run("sh", "-c", "systemd-analyze verify neuron-emf.service 2>&1")
    assert {CAP_SYSLOG} == {int(status[name], 16) for name in ("CapEff", "CapBnd", "CapAmb")}
    owned = machine.run("stat", "--format=%A %U", "/var/lib/neuron-emf")
    assert "drwx------ neuron-emf" == owned.strip()
    # neuron-monitor runs in the sandbox
    wait_until(lambda: bytes_of_reports(machine) > 0, HUNG_AFTER_S)

    os.kill(hung, signal.SIGSTOP)
    wait_until(lambda: machine.shows("NRestarts") == "1", HUNG_AFTER_S)
    wait_until(lambda: machine.shows("ActiveState") == "active", HUNG_AFTER_S)
    journal = machine.journal()
    assert "Fatal Python error: Aborted" in journal
    # the stack of one of its threads
    assert "/neuron_emitter/" in journal.partition("Fatal Python error")[2]
    wait_until(lambda: bytes_of_reports(machine) > 0, HUNG_AFTER_S)

    machine.run("systemctl", "stop", "neuron-emf")
    assert "inactive" == machine.shows("ActiveState")
    assert "success" == machine.shows("Result")
    lines = machine.run("cat", "/var/lib/lines.jsonl").splitlines()
    minutes = [line for line in map(json.loads, lines) if line["Kind"] == "minute"]
    assert minutes[-1]["CleanShutdown"] is True
    assert minutes[-1]["ReportsRead"] > 0
    assert "" == machine.run("pgrep", "--full", "local.monitor")


def bytes_of_reports(machine):
    """Return the bytes that neuron-monitor has written, as the kernel counts them."""
    pids = machine.run("pgrep", "--full", "local.monitor").split()
    if not pids:
        return 0
    io = machine.run("cat", f"/proc/{pids[-1]}/io")
    written = [line.split()[1] for line in io.splitlines() if line.startswith("wchar")]
    return int(written[0]) if written else 0


@pytest.fixture(scope="module")
def directives(repository):
    """Return the sections of the unit, each as a list of assignments in order."""
    sections = {}
    for line in (repository / "deploy/systemd/neuron-emf.service").read_text("utf-8").splitlines():
        if match := re.fullmatch(r"\[(\w+)\]", line):
            section = sections.setdefault(match[1], [])
        elif line and not line.startswith("#"):
            section.append(tuple(line.split("=", 1)))
    return sections


def seconds(text):
    """Return a time of the unit, which is in seconds."""
    return float(text.removesuffix("s"))


def test_its_exposure_is_at_most_that_of_the_page(repository):
    """
    The unit without a drop-in is no more exposed than the page says, by the score of systemd's
    tool.
    """
    unit = repository / "deploy/systemd/neuron-emf.service"
    words = ("systemd-analyze", "security", "--offline=true", "--no-pager", unit)
    if shutil.which(words[0]) is None:
        pytest.skip("systemd-analyze is missing: it comes with systemd")
    match = re.search(r"Overall exposure level .*: ([0-9.]+)", run_program(words).stdout)
    if not match:
        pytest.skip("systemd-analyze security reads no files before systemd 250")
    assert MOST_EXPOSED >= float(match[1])
    page = (repository / "docs" / "how-to" / "ec2.md").read_text("utf-8")
    assert f"{MOST_EXPOSED} of 10" in page


def test_the_times_of_the_unit_are_longer_than_those_of_the_emitter(directives):
    """
    A stop has time for the longest flush and for neuron-monitor, and the watchdog for a change.
    """
    service = dict(directives["Service"])
    needed_s = max(FLUSH_WITHIN_S, FINISH_WITHIN_S) + CHILD_STOP_TIMEOUT_S
    assert needed_s < seconds(service["TimeoutStopSec"])
    assert 60 >= seconds(service["WatchdogSec"])
    assert seconds(service["WatchdogSec"]) / BEATS_IN_A_PERIOD > CHANGE_WITHIN_S + FIRST_TRY_S


def test_it_opens_the_devices_and_the_kernels_log_alone(directives):
    """DevicePolicy is closed except for /dev/neuron* and /dev/kmsg, which is read-only."""
    service = directives["Service"]
    assert ("DevicePolicy", "closed") in service
    assert ["char-neuron rw", "/dev/kmsg r"] == [
        value for name, value in service if name == "DeviceAllow"
    ]
