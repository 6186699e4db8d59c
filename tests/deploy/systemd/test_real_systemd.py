"""
The unit under a real systemd: started, watched, aborted when it hangs, stopped in order.

The neuron-monitor in it is the simulated one; the sandbox is the real one.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import pytest
import real_systemd

from proof.emitter_process import wait_until

pytestmark = [pytest.mark.proof]

MONITOR = """\
#!/bin/sh
PYTHONPATH=/opt/simulator exec /opt/neuron-emf/bin/python -m local.monitor "$@"
"""
CONFIG = """\
cluster = "blue"
output = "stdout"
spool-dir = "/var/lib/neuron-emf"
period = 1
"""
TARGET = """\
[Unit]
DefaultDependencies=no
Requires=systemd-journald.service neuron-emf.service
After=neuron-emf.service
"""
QUICK = """\
[Unit]
# Nothing of this machine's own services is started.
DefaultDependencies=no

[Service]
WatchdogSec=6s
StandardOutput=append:/var/lib/lines.jsonl
RestartSec=1s
"""
PATIENCE_S = 120.0
CAP_SYSLOG = 1 << 34  # linux/capability.h


def put(path, text, mode=0o644):
    """A file that everybody may read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


@pytest.fixture(scope="module")
def machine(installed, repository, tmp_path_factory):
    """A booted machine where neuron-emf is active."""
    if why := real_systemd.missing():
        pytest.skip(f"no systemd of our own can be started: {why}")
    program = (installed / "opt/neuron-emf/bin/python").resolve()
    if any(program.is_relative_to(home) for home in ("/root", "/home")):
        pytest.skip(f"{program} is in a home, which the service does not see: install python3-venv")
    files = tmp_path_factory.mktemp("files")
    files.chmod(0o755)
    simulator = files / "opt" / "simulator"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(repository / "local", simulator / "local", ignore=ignored)
    shutil.copytree(repository / "deploy" / "systemd", files / "opt" / "bundle")
    wire = repository / "lambda" / "neuron_wire"
    shutil.copytree(wire, simulator / "neuron_wire", ignore=ignored)
    units = files / "etc" / "systemd" / "system"
    put(files / "opt/aws/neuron/bin/neuron-monitor", MONITOR, 0o755)
    put(files / "etc/neuron-emf/config.toml", CONFIG)
    put(units / "rehearsal.target", TARGET)
    put(units / "neuron-emf.service.d" / "quick.conf", QUICK)
    for folder, _, names in os.walk(files):
        Path(folder).chmod(0o755)
        for name in names:
            path = Path(folder, name)
            path.chmod(path.stat().st_mode | 0o444)
    with real_systemd.booted(installed, files, tmp_path_factory.mktemp("work")) as booted:
        yield booted


def test_the_service_is_sandboxed_watched_and_stopped_in_order(machine):
    """
    READY=1 made it active; it is its own user with one capability behind a filter; one that hangs
    is aborted, says where it hung, and is back; a stop leaves the goodbye as its last line.
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
    assert {CAP_SYSLOG} == {int(status[name], 16) for name in ("CapEff", "CapBnd", "CapAmb")}
    owned = machine.run("stat", "--format=%A %U", "/var/lib/neuron-emf")
    assert "drwx------ neuron-emf" == owned.strip()
    # neuron-monitor lives in the sandbox
    wait_until(lambda: bytes_of_reports(machine) > 0, PATIENCE_S)

    os.kill(hung, signal.SIGSTOP)
    wait_until(lambda: machine.shows("NRestarts") == "1", PATIENCE_S)
    wait_until(lambda: machine.shows("ActiveState") == "active", PATIENCE_S)
    said = machine.journal()
    assert "Fatal Python error: Aborted" in said
    assert "/emitter/" in said.partition("Fatal Python error")[2]  # of one of its threads
    wait_until(lambda: bytes_of_reports(machine) > 0, PATIENCE_S)

    machine.run("systemctl", "stop", "neuron-emf")
    assert "inactive" == machine.shows("ActiveState")
    assert "success" == machine.shows("Result")
    lines = machine.run("cat", "/var/lib/lines.jsonl").splitlines()
    minutes = [line for line in map(json.loads, lines) if line["Kind"] == "minute"]
    assert minutes[-1]["Bye"] is True
    assert minutes[-1]["ReportsRead"] > 0
    assert "" == machine.run("pgrep", "--full", "local.monitor")


def test_a_live_uninstallation_leaves_nothing_of_the_program(machine):
    """
    install.sh on the machine that runs, without a DESTDIR: program, unit, user's file and command
    are gone, the service is no more, a folder that is not ours stays, and so does the spool.
    """
    machine.run("systemctl", "start", "neuron-emf")
    paths = [
        "/etc/systemd/system/neuron-emf.service",
        "/etc/sysusers.d/neuron-emf.conf",
        "/opt/neuron-emf",
        "/usr/local/bin/neuron-emf",
    ]
    assert paths == machine.run("ls", "-d", *paths).split()
    for prefix in ("/usr/local", "/usr", "/opt"):
        machine.run("env", f"PREFIX={prefix}", "/opt/bundle/install.sh", "uninstall")
    assert "active" == machine.shows("ActiveState")

    machine.run("/opt/bundle/install.sh", "uninstall")
    assert "" == machine.run("ls", "-d", *paths)
    assert "not-found" == machine.shows("LoadState")
    assert "" == machine.run("pgrep", "--full", "neuron-emf run")
    kept = ["/etc/neuron-emf/config.toml", "/opt/bundle/install.sh", "/var/lib/neuron-emf"]
    assert kept == machine.run("ls", "-d", *kept).split()


def bytes_of_reports(machine):
    """Bytes that neuron-monitor has written so far, as the kernel counts them."""
    pids = machine.run("pgrep", "--full", "local.monitor").split()
    if not pids:
        return 0
    io = machine.run("cat", f"/proc/{pids[-1]}/io")
    written = [line.split()[1] for line in io.splitlines() if line.startswith("wchar")]
    return int(written[0]) if written else 0
