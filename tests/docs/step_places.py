"""
The places in which the steps of a page run, with what a reader would have.

A place is a folder of its own and the variables of a shell. In every place, `neuron-emf` and the
packages of `python` are those of this tree, `neuron-monitor` is simulated, the account behind the
AWS SDK is a double on 127.0.0.1, and the home folder is the place. A place reads nothing of this
machine and writes nothing outside itself.

To add a place, write a function below that prepares *folder* and yields a `StepPlace`, and add its
name to `STEP_PLACES`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from local import REPOSITORY
from proof.account.account_double import AccountDouble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

PROFILES = REPOSITORY / "tests" / "data" / "profile"
PLACE_TYPE = "inf2.xlarge"
KEPT_VARIABLES = ("LANG", "LC_ALL", "TMPDIR")


@dataclass(frozen=True)
class StepPlace:
    """
    A place for steps.

    Attributes:
        folder: Folder in which the shell starts, and its home.

        account: Account behind the AWS SDK.

        variables: All variables of the shell.

        truth: File to which the simulated monitor of a step that runs until stopped writes its
            reports.

        patience_s: Maximum seconds of one block.
    """

    folder: Path
    account: AccountDouble
    variables: dict[str, str]
    truth: Path
    patience_s: float = 60.0

    def play(self, truth: Path) -> str:
        """Return the settings of the simulated monitor, which also writes the truth to *truth*."""
        return json.dumps({**json.loads(self.variables["NEURON_SIM"]), "truth": str(truth)})


@contextmanager
def instance(folder: Path, _request: pytest.FixtureRequest) -> Iterator[StepPlace]:
    """Yield a busy inf2.xlarge with an empty folder."""
    programs = folder / ".programs"
    programs.mkdir()
    (programs / "neuron-monitor").symlink_to(REPOSITORY / "local" / "monitor" / "neuron-monitor")
    for name, runs in (
        ("neuron-emf", f'"{sys.executable}" -m neuron_emf'),
        ("python", sys.executable),
    ):
        (programs / name).write_text(f'#!/bin/sh\nexec {runs} "$@"\n', "utf-8")
        (programs / name).chmod(0o755)
    truth = folder / ".truth"
    with AccountDouble() as account:
        variables = {
            **{name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ},
            **account.variables,
            "AWS_EC2_METADATA_DISABLED": "true",
            "COLUMNS": "100",
            "HOME": str(folder),
            "NEURON_EMF_ATTRIBUTION": "none",  # the played PIDs are other processes on this machine
            "NEURON_EMF_KERNEL_MESSAGES": "none",
            "NEURON_EMF_PERIOD": "1",  # two reports take 2 s
            "NEURON_EMF_SPOOL_DIR": str(folder / ".spool"),
            "NEURON_SIM": f'{{"instance_type": "{PLACE_TYPE}"}}',
            "NEURON_SIM_PYTHON": sys.executable,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'lambda'}",
            "PYTHONUTF8": "1",
        }
        yield StepPlace(folder, account, variables, truth)


@contextmanager
def hour(folder: Path, request: pytest.FixtureRequest) -> Iterator[StepPlace]:
    """
    Yield `instance` with a day's output of neuron-emf: lines, rollups, a profile.

    `records.jsonl` and `rollups.jsonl` are the rehearsal's hour; `llama-8b.json` is the summary of
    a profiler.
    """
    hour_place = request.getfixturevalue("hour")
    with instance(folder, request) as place:
        for file in (hour_place.records_file, hour_place.rollups_file):
            shutil.copy(file, folder)
        shutil.copy(PROFILES / "workers.json", folder / "llama-8b.json")
        yield place


@contextmanager
def clone(folder: Path, request: pytest.FixtureRequest) -> Iterator[StepPlace]:
    """Yield a clone of this repository with uncommitted changes, without an environment."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    with instance(folder, request) as place:
        for name in filter(None, listed.split("\0")):
            if (REPOSITORY / name).is_file():  # not a file that was just moved
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(REPOSITORY / name, folder / name)
        yield place


@contextmanager
def chart(folder: Path, request: pytest.FixtureRequest) -> Iterator[StepPlace]:
    """Yield a clone with the Helm of .venv-tools on PATH."""
    helm = REPOSITORY / ".venv-tools" / "bin" / "helm"
    if not helm.exists():
        problem = pytest.fail if request.config.getoption("--built") else pytest.skip
        problem(f"{helm} is missing: make venvs makes it")
    with clone(folder, request) as place:
        (folder / ".programs" / "helm").symlink_to(helm)
        yield place


PLACE_MAKERS: dict[
    str, Callable[[Path, pytest.FixtureRequest], AbstractContextManager[StepPlace]]
] = {
    "instance": instance,
    "hour": hour,
    "clone": clone,
    "chart": chart,
}
