"""
Real Slurm on one node: the emitter's view of its jobs, as a user without permissions.

`python -m proof.real.slurm FOLDER [SCENE...]` runs scenes inside existing namespaces.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Final

from local import REPOSITORY
from neuron_emitter.owners.places import FIRST_NAMESPACE
from proof.real.device_machine import run as run_command
from proof.real.slurm_node import prepare_machine
from proof.real.slurm_scenes import SLURM_SCENES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TITLE: Final = "Slurm"
CLAIM: Final = (
    "slurmctld, slurmd and munge on one node in namespaces, jobs of two users; the emitter as a "
    "user without rights."
)
SLURM_PROGRAMS: Final = ("slurmctld", "slurmd", "munged", "scontrol")


def missing() -> str | None:
    """Return why real Slurm cannot run here, None if it can."""
    lacking = [name for name in (*SLURM_PROGRAMS, "unshare") if shutil.which(name) is None]
    if os.geteuid() != 0:
        return "it mounts and changes users: run as root"
    if str(Path("/proc/self/ns/pid").readlink()) != FIRST_NAMESPACE:
        return "the emitter names no owners in a container: run on the machine itself"
    if lacking:
        return f"{', '.join(lacking)} not found: proof/real/install.sh slurm"
    return None


def versions() -> dict[str, str]:
    """Return the versions of Slurm and munge."""
    return {
        "slurm": run_command(["slurmctld", "-V"]).split()[1],
        "munge": run_command(["munged", "-V"]).split()[0].removeprefix("munge-"),
    }


def run(folder: Path) -> list[str]:
    """Run every scene in one set of namespaces; raise AssertionError with all differences."""
    command = [
        *("unshare", "--mount", "--uts", "--ipc", "--fork", "--kill-child"),
        *(sys.executable, "-m", "proof.real.slurm", str(folder)),
    ]
    ended = subprocess.run(command, cwd=REPOSITORY, check=False, stdout=subprocess.PIPE, text=True)
    sentences = ended.stdout.splitlines()
    assert ended.returncode == 0, "; ".join(sentences)
    return sentences


def main() -> int:
    """Run the scenes inside the namespaces, print a sentence for each, and return the exit code."""
    folder, *chosen = sys.argv[1:]
    state = Path(folder)
    prepare_machine(state)
    failed = 0
    for scene in SLURM_SCENES:
        if scene.__name__ in chosen or not chosen:
            failed += not _has_passed(scene, state / "node")
    return 1 if failed else 0


def _has_passed(scene: Callable[[Path], Iterator[str]], state: Path) -> bool:
    """Run *scene* and print its sentences or its difference; return True if it passed."""
    try:
        for sentence in scene(state):
            print(sentence, flush=True)  # noqa: T201 - the result
    except AssertionError as error:
        traceback.print_exc()
        print(f"{scene.__name__}: {error}", flush=True)  # noqa: T201 - the result
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
