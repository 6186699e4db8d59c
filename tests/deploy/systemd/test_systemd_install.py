"""install.sh: what it puts where, that it may be run again, and what it says when it cannot."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys

import pytest
from installer import files, install, run_installer, small_bundle

import emitter

pytestmark = [pytest.mark.proof]


def test_everything_is_where_systemd_and_people_look(installed):
    """The unit, its drop-in, the user, the configuration and the command; nothing else."""
    assert [
        "etc/neuron-emf/config.toml",
        "etc/systemd/system/neuron-emf.service",
        "etc/systemd/system/neuron-emf.service.d/options.conf",
        "etc/sysusers.d/neuron-emf.conf",
        "ready",
        "usr/local/bin/neuron-emf",
    ] == files(installed)
    assert "/opt/neuron-emf/bin/neuron-emf" == str(
        (installed / "usr/local/bin/neuron-emf").readlink()
    )


def test_the_program_has_what_is_pinned_and_no_installer(installed, repository):
    """Every pin of requirements/emitter.txt that applies, neuron-emf itself, and no pip."""
    (packages,) = (installed / "opt/neuron-emf/lib").glob("python*/site-packages")
    versions = {
        (match[1].lower().replace("_", "-"), match[2])
        for path in packages.glob("*.dist-info")
        if (match := re.fullmatch(r"(.+)-([^-]+)\.dist-info", path.name))
    }
    text = (repository / "requirements" / "emitter.txt").read_text("utf-8")
    pins = set(re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", text, re.MULTILINE))
    always = set(re.findall(r"^([a-z0-9._-]+)==(\S+) \\$", text, re.MULTILINE))
    assert always
    assert always <= versions
    assert versions - pins == {("neuron-emf", emitter.__version__)}


def test_the_service_is_started_as_the_unit_says(installed, repository, tmp_path):
    """
    Its ExecStart with its variables: ready, with a goodbye at the stop. Only the user and the
    sandbox are not there; test_real_systemd.py has them.
    """
    unit = (installed / "etc/systemd/system/neuron-emf.service").read_text("utf-8")
    (command,) = re.findall(r"^ExecStart=(.+)$", unit, re.MULTILINE)
    program, *words = command.split()
    (tmp_path / "neuron-monitor").symlink_to(repository / "local/monitor/neuron-monitor")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind("")  # a name of the kernel's choice
        server.settimeout(60)
        process = subprocess.Popen(
            [installed / "opt/neuron-emf/bin/python", f"{installed}{program}", *words],
            env={
                **dict(re.findall(r"^Environment=(\w+)=(\S+)$", unit, re.MULTILINE)),
                "AWS_EC2_METADATA_DISABLED": "true",
                "HOME": str(tmp_path),
                "NEURON_EMF_CLUSTER": "blue",
                "NEURON_EMF_INSTANCE_ID": "i-0123456789abcdef0",
                "NEURON_EMF_KERNEL_MESSAGES": "none",
                "NEURON_EMF_OUTPUT": "stdout",
                "NEURON_SIM_PYTHON": sys.executable,
                "NOTIFY_SOCKET": "@" + server.getsockname()[1:].decode(),
                "PATH": f"{tmp_path}:{os.defpath}",
                "PYTHONDONTWRITEBYTECODE": "1",
                "WATCHDOG_USEC": "60000000",
            },
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            states = [server.recv(4096).decode().split("\n")[0] for _ in range(2)]
            process.terminate()
            out, said = process.communicate(timeout=60)
        finally:
            process.kill()
        states.append(server.recv(4096).decode().split("\n")[0])
    assert ["READY=1", "WATCHDOG=1", "STOPPING=1"] == states
    assert 0 == process.returncode, said
    assert '"Bye":true' in out  # the lines of runtimes come after it


def test_an_uninstallation_leaves_what_was_configured(installed, repository, tmp_path):
    """
    Without a change of yours nothing is left; a changed file and the spool only go by PURGE=1.
    """
    root = tmp_path / "root"
    for name in ("etc", "usr"):
        shutil.copytree(installed / name, root / name, symlinks=True)
    shutil.copytree(installed / "opt", root / "opt", symlinks=True, copy_function=os.link)
    spool = root / "var/lib/neuron-emf/spool.sqlite"
    spool.parent.mkdir(parents=True)
    spool.touch()
    config = root / "etc/neuron-emf/config.toml"
    config.write_text('cluster = "blue"\n')
    run = install(repository, "uninstall", DESTDIR=str(root))
    assert 0 == run.returncode, run.stderr
    assert ["etc/neuron-emf/config.toml", "var/lib/neuron-emf/spool.sqlite"] == files(root)
    run = install(repository, "uninstall", DESTDIR=str(root), PURGE="1")
    assert [] == files(root)
    assert 0 == install(repository, "uninstall", DESTDIR=str(root)).returncode


def test_a_step_that_fails_says_why_and_keeps_the_program_that_works(repository, tmp_path):
    """Also the last one of pip, which takes pip away."""
    program = tmp_path / "root/opt/neuron-emf"
    for name in ("pyvenv.cfg", "bin/neuron-emf"):
        (program / name).parent.mkdir(parents=True, exist_ok=True)
        (program / name).touch()
    bundle = small_bundle(repository, tmp_path / "bundle")
    python = tmp_path / "python"
    python.write_text(
        f"""#!/bin/bash
[ "$1" != -c ] || {{ echo "$0"; exit; }}
{sys.executable} "$@"
rm "${{@: -1}}/bin/python"
printf '%s\\n' '#!/bin/bash' 'case " $* " in *" uninstall "*) echo pip broke >&2; exit 3;; esac' \\
  'exec {sys.executable} "$@" --target {tmp_path}/away' >"${{@: -1}}/bin/python"
chmod 755 "${{@: -1}}/bin/python"
""",
        encoding="utf-8",
    )
    python.chmod(0o755)
    run = run_installer(bundle, "install", DESTDIR=str(tmp_path / "root"), PYTHON=str(python))
    assert 3 == run.returncode, run.stderr
    assert "pip broke" in run.stderr
    assert {"bin", "neuron-emf", "pyvenv.cfg"} == {path.name for path in program.rglob("*")}
    assert [program] == list(program.parent.iterdir())
