"""
What a wheel carries for `neuron-emf deploy`: the functions in one zip, and both templates.

    python deploy/wheel/carried.py FOLDER

Every file in the order of its name, with a fixed time and fixed rights, and no
bytecode: the same commit gives the same bytes on every machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

from neuron_emf.deploy.package import EMITTERS, FUNCTIONS, TEMPLATE, read_template

ROOT: Final = Path(__file__).resolve().parents[2]
FUNCTION: Final = "IngestFunction"  # all functions have one artefact
_TIME: Final = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say
_RIGHTS: Final = 0o100644 << 16  # a file that everybody may read: Lambda's user is none of ours
_UNIX: Final = 3


def built(folder: Path) -> Path:
    """What `sam build` would make of lambda/, made in *folder*."""
    target = folder / "artefact"
    words = ["make", "--silent", f"build-{FUNCTION}", f"ARTIFACTS_DIR={target}"]
    subprocess.run(  # noqa: S603 - our own words
        [*words, f"PYTHON={sys.executable}"], cwd=ROOT / "lambda", check=True, env={**os.environ}
    )
    return target


def write_zip(source: Path, target: Path) -> None:
    """Every file of *source* but bytecode, in one zip of always the same bytes."""
    names = sorted(
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    )
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            entry = zipfile.ZipInfo(name, _TIME)
            entry.create_system, entry.external_attr = _UNIX, _RIGHTS
            # Stored: what compresses differs from one zlib to the next.
            entry.compress_type = zipfile.ZIP_STORED
            archive.writestr(entry, (source / name).read_bytes())


def main() -> None:
    """Write them to the folder that is named."""
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as temporary:
        write_zip(built(Path(temporary)), folder / FUNCTIONS)
    (folder / TEMPLATE).write_text(read_template(ROOT / TEMPLATE), encoding="utf-8")
    shutil.copyfile(ROOT / EMITTERS, folder / EMITTERS)


if __name__ == "__main__":
    main()
