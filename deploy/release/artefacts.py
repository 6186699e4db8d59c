"""
Write everything that a release publishes to one folder.

    python deploy/release/artefacts.py FOLDER

The same commit gives the same bytes: no file contains the time, the machine or the user of the
build. The image needs a registry, and is not built here.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from archive import commit_time_s, rewrite
from versions import CLONE, notes, version

if TYPE_CHECKING:
    from collections.abc import Callable

SUMS: Final = "SHA256SUMS"
NOTES: Final = "RELEASE_NOTES.md"
PAGE_SCRIPT: Final = "neuron_emf/page/snapshot.js"
"""The script of `page --snapshot`. Run `make page-bundle` first, which writes it."""

_TOOLS_BIN: Final = CLONE / ".venv-tools/bin"
_CARRIED_FOLDER: Final = CLONE / "neuron_emf/deploy"


def _run(*words: str | Path, folder: Path = CLONE, **variables: str) -> None:
    """Run the command *words* in *folder*, with *variables* and the commit's time for archives."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(commit_time_s()), **variables}
    subprocess.run(words, check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)  # noqa: S603 - words of this program


def _tracked() -> list[str]:
    """Return the names of the tracked files of this clone, and of the built script of the page."""
    words = ["git", "ls-files", "-z"]
    listed = subprocess.run(words, cwd=CLONE, check=True, capture_output=True, text=True)  # noqa: S603 - words of this program
    names = [*listed.stdout.split("\0"), PAGE_SCRIPT]
    return [name for name in names if name and (CLONE / name).is_file()]


def distributions(folder: Path) -> None:
    """Write the wheel, the sdist, and the files that they contain for `neuron-emf deploy`."""
    with tempfile.TemporaryDirectory() as temporary:
        # Build in a copy, because files that setuptools leaves in a tree get into the next wheel.
        source = Path(temporary) / "source"
        for name in _tracked():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CLONE / name, source / name)
        carried = source / _CARRIED_FOLDER.relative_to(CLONE)
        before = set(carried.iterdir())
        _run(sys.executable, source / "deploy/wheel/carried.py", carried)
        for path in set(carried.iterdir()) - before:
            shutil.copyfile(path, folder / f"neuron-emf-{version()}-{path.name}")
        script = "import setuptools.build_meta as b, sys; b.{}(sys.argv[1])"
        for hook in ("build_wheel", "build_sdist"):
            _run(sys.executable, "-c", script.format(hook), folder, folder=source)
    for sdist in folder.glob("neuron_emf-*.tar.gz"):
        rewrite(sdist, commit_time_s())


def bundle(folder: Path) -> None:
    """Write the archive that installs the service without a clone."""
    _run(CLONE / "deploy/systemd/bundle.sh", OUT=str(folder))
    rewrite(folder / f"neuron-emf-{version()}.tar.gz", commit_time_s())


def chart(folder: Path) -> None:
    """Write the Helm chart."""
    _run(_TOOLS_BIN / "helm", "package", CLONE / "deploy/eks/chart", "--destination", folder)
    packaged = folder / f"neuron-emf-{version()}.tgz"
    rewrite(packaged, commit_time_s())
    packaged.rename(folder / f"neuron-emf-chart-{version()}.tgz")


def bill_of_materials(folder: Path) -> None:
    """Write the emitter's bill of materials, CycloneDX 1.6, which the tool checks by its schema."""
    _run(
        _TOOLS_BIN / "cyclonedx-py",
        "requirements",
        CLONE / "requirements/emitter.txt",
        "--pyproject",
        CLONE / "pyproject.toml",
        "--spec-version=1.6",
        "--of=JSON",
        "--output-reproducible",
        "--validate",
        "--output-file",
        folder / f"neuron-emf-{version()}.cdx.json",
    )


ARTEFACT_STEPS: Final[tuple[Callable[[Path], None], ...]] = (
    distributions,
    bundle,
    chart,
    bill_of_materials,
)


def sums(folder: Path) -> str:
    """Return the SHA-256 of each file of *folder*, in the form that `sha256sum --check` reads."""
    files = sorted(path for path in folder.iterdir() if path.name not in (SUMS, NOTES))
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files
    )


def main() -> None:
    """Write all artefacts, and print their sizes, hashes and names."""
    folder = Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for step in ARTEFACT_STEPS:
        step(folder)
    (folder / SUMS).write_text(sums(folder), "utf-8")
    (folder / NOTES).write_text(notes(CLONE, version()) or "Not released.\n", "utf-8")
    for line in (folder / SUMS).read_text("utf-8").splitlines():
        digest, name = line.split("  ")
        size = (folder / name).stat().st_size
        sys.stdout.write(f"{size:>12,}  {digest}  {name}\n")


if __name__ == "__main__":
    main()
