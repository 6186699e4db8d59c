"""
neuron-emf as install.sh installs it, into a folder instead of this machine, once for all workers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile

import pytest

from tests.programs import run_program

SYSTEM_PYTHON = "/usr/bin/python3"


def system_python():
    """Return the machine's own Python if it is suitable: the service cannot read a home folder."""
    look = "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))"
    path = shutil.which(SYSTEM_PYTHON)
    if path and subprocess.run([path, "-c", look], capture_output=True, check=False).returncode:
        return None
    return path


def files(root):
    """Return the files of a root folder, without the program's own files and the fixture's mark."""
    return sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if (path.is_symlink() or path.is_file()) and "opt/neuron-emf/" not in str(path)
    )


def run_installer(folder, what, **variables):
    """Run install.sh of *folder*."""
    return run_program([folder / "install.sh", what], env={**os.environ, **variables}, umask=0o077)


def small_bundle(repository, folder):
    """Return a bundle with the real install.sh and a program that only prints its name."""
    folder.mkdir(parents=True)
    for name in (
        "install.sh",
        "neuron-emf.service",
        "neuron-emf.sysusers",
        "options.conf",
        "config.toml",
    ):
        shutil.copy(repository / "deploy" / "systemd" / name, folder)
    (folder / "requirements.txt").write_text("# nothing is pinned\n", encoding="utf-8")
    (folder / "wheels").mkdir()
    about = "neuron_emf-0.dist-info"
    with zipfile.ZipFile(folder / "neuron_emf-0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("emitter_of_tests.py", "def main(): print('neuron-emf')\n")
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: neuron-emf\nVersion: 0\n")
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(
            f"{about}/entry_points.txt", "[console_scripts]\nneuron-emf = emitter_of_tests:main\n"
        )
        wheel.writestr(f"{about}/RECORD", "")
    return folder


def install(repository, what, **variables):
    """Run install.sh of the repository."""
    return run_installer(repository / "deploy" / "systemd", what, **variables)


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
