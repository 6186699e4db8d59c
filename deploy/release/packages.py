"""
The agent as deb and rpm.

    python deploy/release/packages.py FOLDER

The installer of deploy/systemd makes the tree, as `make install` does on a machine;
nfpm packs it. The environment is for Python 3.11 and this machine's processor; its
interpreter is the distribution's.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from moment import commit_time_s
from versions import ROOT, version

PYTHON: Final = "python3.11"
_PLACE: Final = Path("/usr/bin") / PYTHON
_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
_NFPM: Final = ROOT / ".venv-deploy/bin/nfpm"


def staged(folder: Path) -> None:
    """Install into *folder*, with nothing in it that says where or when."""
    environment = {
        **os.environ,
        "DESTDIR": str(folder),
        "PYTHON": os.environ.get("PACKAGE_PYTHON", PYTHON),
        # Bytecode then goes by the content of its source, not by a time.
        "SOURCE_DATE_EPOCH": str(commit_time_s()),
        "PYTHONHASHSEED": "0",
    }
    installer = ROOT / "deploy/systemd/install.sh"
    subprocess.run([installer, "install"], check=True, env=environment, stdout=subprocess.DEVNULL)  # noqa: S603 - our own script
    home = folder / "opt/neuron-emf"
    _use_the_distributions_python(home)
    for record in home.glob("lib/python3.*/site-packages/*.dist-info/RECORD"):
        _record_anew(record)
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (commit_time_s(), commit_time_s()), follow_symlinks=False)


def _record_anew(record: Path) -> None:
    """List an installed package's files as they are now: pip listed them where it put them."""
    # The folder in which the wheel was, which only pip wants to know.
    (record.parent / "direct_url.json").unlink(missing_ok=True)
    rows = []
    for name, *rest in csv.reader(record.read_text("utf-8").splitlines()):
        file = record.parent.parent / name
        if name.startswith("../") and file.is_file():
            content = file.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            rows.append([name, f"sha256={digest.decode()}", str(len(content))])
        elif file.is_file():
            rows.append([name, *rest])
    with record.open("w", encoding="utf-8", newline="") as file_:
        csv.writer(file_, lineterminator="\n").writerows(sorted(rows))


def _use_the_distributions_python(home: Path) -> None:
    for name in ("python", "python3", PYTHON):
        link = home / "bin" / name
        link.unlink(missing_ok=True)
        link.symlink_to(_PLACE if name == PYTHON else PYTHON)
    (home / "pyvenv.cfg").write_text(
        f"home = {_PLACE.parent}\ninclude-system-site-packages = false\nversion = 3.11\n", "utf-8"
    )


def pack(stage: Path, target: Path) -> list[Path]:
    """Both packages of the tree *stage*, in *target*."""
    architecture = _ARCHITECTURES.get(platform.machine())
    if architecture is None:
        sys.exit(f"This machine is {platform.machine()}. Build packages on x86_64 or aarch64.")
    environment = {
        **os.environ,
        "ARCH": architecture,
        "VERSION": version(),
        "STAGE": str(stage),
        "SOURCE_DATE_EPOCH": str(commit_time_s()),
    }
    template = (ROOT / "deploy/packages/nfpm.yaml").read_text("utf-8")
    for name in ("ARCH", "VERSION", "STAGE"):
        template = template.replace(f"${{{name}}}", environment[name])
    settings = stage.parent / "nfpm.yaml"
    settings.write_text(template, "utf-8")
    made = []
    for kind in ("deb", "rpm"):
        file = target / f"neuron-emf-{version()}-{architecture}.{kind}"
        words = [_NFPM, "package", "--config", settings, "--packager", kind, "--target", file]
        given = [str(word) for word in words]
        subprocess.run(given, check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)  # noqa: S603 - our own words
        made.append(file)
    return made


def main() -> None:
    """Write both to the folder that is named."""
    target = Path(sys.argv[1]).resolve()
    if shutil.which(os.environ.get("PACKAGE_PYTHON", PYTHON)) is None:
        sys.exit(f"{PYTHON} was not found. Install it, or set PACKAGE_PYTHON=.")
    with tempfile.TemporaryDirectory() as temporary:
        stage = Path(temporary) / "stage"
        stage.mkdir()
        staged(stage)
        for file in pack(stage, target):
            sys.stdout.write(f"{file}\n")


if __name__ == "__main__":
    main()
