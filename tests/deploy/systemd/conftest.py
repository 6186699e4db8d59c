"""
neuron-emf as install.sh installs it, into a folder instead of this machine, once for all workers.
"""

from __future__ import annotations

import pytest

from tests.deploy.systemd.installer import install, system_python


@pytest.fixture(scope="session")
def installed(repository, shared_folder):
    """Return a root folder with neuron-emf in it; no test changes it."""

    def fill(root):
        python = system_python()
        variables = {} if python is None else {"PYTHON": python}
        run = install(repository, "install", DESTDIR=str(root), **variables)
        assert 0 == run.returncode, run.stderr
        (root / "ready").write_text(run.stdout, encoding="utf-8")

    return shared_folder("installed-neuron-emf", fill)
