"""
neuron-emf as install.sh installs it, into a folder instead of this machine: once for all workers.
"""

from __future__ import annotations

import fcntl
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # installing, real_systemd

from installing import install, system_python


@pytest.fixture(scope="session")
def installed(repository, tmp_path_factory, worker_id):
    """A root folder with neuron-emf in it; nobody changes it."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent  # of all workers of this run
    root = shared / "installed-neuron-emf"
    with (shared / "installed-neuron-emf.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / "ready").exists():
            python = system_python()
            given = {} if python is None else {"PYTHON": python}
            run = install(repository, "install", DESTDIR=str(root), **given)
            assert 0 == run.returncode, run.stderr
            (root / "ready").write_text(run.stdout, encoding="utf-8")
    return root
