"""
The stage that makes the virtual environment, carried out as it is written, needing no root.

`/opt` and the working directory are folders of the test; the Python is the one that runs it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.container.containerfile import EMITTER, ROOT
from tests.programs import run_program

pytestmark = [pytest.mark.proof]

MOST_MIB = 52  # of the environment with compiled modules; measured: 49
NOT_COPIED = shutil.ignore_patterns("__pycache__")


def copy(sources, target):
    """As COPY does: files go into the target, of a folder its content."""
    for source in map(ROOT.joinpath, sources):
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True, ignore=NOT_COPIED)
        else:
            shutil.copy(source, target)


@pytest.fixture(scope="module")
def environment(shared_folder):
    """The virtual environment, made once for all workers."""
    return shared_folder("container-stage", carry_out) / "opt" / "neuron-emf"


def carry_out(root):
    """The instructions of the stage, with folders of *root* for /opt and /source."""
    opt, source = root / "opt", root / "source"
    for folder in (opt, source):
        folder.mkdir()
    variables = {**os.environ, **EMITTER.values("ENV")}
    variables.pop("PIP_NO_CACHE_DIR")  # a builder starts without a cache, a test need not
    variables.pop("PYTHONPATH", None)
    variables["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for one in EMITTER.instructions:
        if one.name == "COPY":
            *sources, target = one.operands
            copy(sources, source / target)
        elif one.name == "RUN":
            ended = subprocess.run(
                ["/bin/sh", "-c", one.text.replace("/opt/", f"{opt}/")],
                cwd=source,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert 0 == ended.returncode, ended.stdout


def said_by(environment, *arguments, **variables):
    """What a program of the environment printed; it sees no code but its own."""
    command = [environment / "bin" / arguments[0], *arguments[1:]]
    ended = run_program(command, env={"PATH": os.defpath, "HOME": str(environment), **variables})
    return ended.returncode, ended.stdout, ended.stderr


def test_the_environment_is_small_and_has_no_installer(environment):
    """No pip, no setuptools, no compiler's headers: nothing that could install more."""
    names = {path.name for path in environment.rglob("*")}
    assert not {"pip", "setuptools", "wheel", "gcc"} & names
    used_mib = sum(
        path.stat().st_blocks * 512 for path in environment.rglob("*") if not path.is_symlink()
    ) / (1 << 20)
    assert 20 < used_mib < MOST_MIB


def test_the_models_that_were_kept_are_those_that_are_asked_for(environment):
    """
    A service whose model is gone cannot be called: the two that are, and what credentials come
    from.
    """
    program = (
        "import botocore.session as b\n"
        "s = b.get_session()\n"
        "for name in ('logs', 'sts', 'sso', 'sso-oidc', 'signin'):\n"
        "    print(s.create_client(name, region_name='us-west-2').meta.endpoint_url)\n"
        "print(*sorted(s.get_available_services()))\n"
    )
    code, printed, said = said_by(environment, "python", "-c", program)
    assert (0, "") == (code, said)
    *addresses, services = printed.splitlines()
    assert "https://logs.us-west-2.amazonaws.com" == addresses[0]
    assert ["logs", "signin", "sso", "sso-oidc", "sts"] == services.split()
