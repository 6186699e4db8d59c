"""
A double of AWS's repository: aws-neuronx-tools with the simulated neuron-monitor in it, signed.

The program is one file, as the real one is: what the image copies must be enough.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import zipapp
from typing import TYPE_CHECKING

from tests.deploy.container.containerfile import ROOT, TOOLS
from tests.programs import run_program

if TYPE_CHECKING:
    from pathlib import Path

KEY_NAME = "GPG-PUB-KEY-AMAZON-AWS-NEURON.PUB"
REVISION = "-1a2b3c4d5"  # AWS's versions end in one
_STARTS_IT = """
import runpy
runpy.run_module("local.monitor", run_name="__main__", alter_sys=True)
"""


def make_repository(folder: Path) -> tuple[Path, str, str]:
    """
    Its folder to serve, the fingerprint that it is signed with, and one that it is not.

    The key's file holds both, as a file that somebody has added a key to would.
    """
    site = folder / "site"
    suite = site / "dists" / TOOLS.values("ARG")["NEURON_SUITE"]
    version = TOOLS.values("ARG")["NEURON_TOOLS_VERSION"] + REVISION
    architecture = said("dpkg", "--print-architecture").strip()
    control = (
        f"Package: aws-neuronx-tools\nVersion: {version}\nArchitecture: {architecture}\n"
        "Maintainer: a double\nDescription: a double\n"
    )
    package = package_of(folder / "package", control)
    name = f"pool/aws-neuronx-tools_{version}_{architecture}.deb"
    (site / "pool").mkdir(parents=True)
    said("dpkg-deb", "--root-owner-group", "--build", package, site / name)
    packed = (site / name).read_bytes()
    listed = (
        f"{control}Filename: {name}\nSize: {len(packed)}\n"
        f"SHA256: {hashlib.sha256(packed).hexdigest()}\n\n"
    ).encode()
    place = f"main/binary-{architecture}/Packages"
    (suite / place).parent.mkdir(parents=True)
    (suite / place).write_bytes(listed)
    release = (
        f"Suite: {suite.name}\nCodename: {suite.name}\nArchitectures: {architecture}\n"
        "Components: main\nDate: Sun, 01 Nov 2026 00:00:00 UTC\nSHA256:\n"
        f" {hashlib.sha256(listed).hexdigest()} {len(listed)} {place}\n"
    )
    home = folder / "keys"
    home.mkdir(mode=0o700)
    for owner in ("signs@example.org", "stranger@example.org"):
        gpg(home, "--passphrase", "", "--quick-generate-key", owner, "ed25519", "sign", "never")
    keys = gpg(home, "--list-keys", "--with-colons").splitlines()
    signs, stranger = (line.split(":")[9] for line in keys if line.startswith("fpr"))
    (folder / "Release").write_text(release, encoding="utf-8")
    gpg(
        home,
        "--local-user",
        signs,
        "--output",
        suite / "InRelease",
        "--clearsign",
        folder / "Release",
    )
    (site / KEY_NAME).write_text(gpg(home, "--armor", "--export"), encoding="utf-8")
    said("gpgconf", "--homedir", home, "--kill", "all")
    return site, signs, stranger


def package_of(folder: Path, control: str) -> Path:
    """The content of the package; more than one file, of which the image needs one."""
    shutil.rmtree(folder, ignore_errors=True)
    app, programs = folder / "app", folder / "package" / "opt" / "aws" / "neuron" / "bin"
    for source in (ROOT / "local", ROOT / "lambda" / "neuron_wire"):
        shutil.copytree(source, app / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    (app / "__main__.py").write_text(_STARTS_IT, encoding="utf-8")
    programs.mkdir(parents=True)
    zipapp.create_archive(app, programs / "neuron-monitor", "/usr/bin/env python3")
    (programs / "neuron-monitor").chmod(0o755)
    (programs / "neuron-ls").write_bytes(b"left out\n")
    (folder / "package" / "DEBIAN").mkdir()
    (folder / "package" / "DEBIAN" / "control").write_text(control, encoding="utf-8")
    return folder / "package"


def gpg(home: Path, *arguments: object) -> str:
    """What gpg printed, with keys of its own."""
    return said("gpg", "--batch", "--quiet", "--homedir", home, *arguments)


def said(*command: object) -> str:
    """What a program printed; it must not fail."""
    ended = run_program(command, env={**os.environ, "LC_ALL": "C"}, stdin=subprocess.DEVNULL)
    assert 0 == ended.returncode, f"{command[0]}: {ended.stderr}"
    return ended.stdout
