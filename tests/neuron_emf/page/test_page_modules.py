"""The page's modules: those of others are the packages of the lock, and ours load nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from neuron_emf.page.server import STATIC

ROOT = Path(__file__).resolve().parents[3]
VENDOR = STATIC / "vendor"
ABOUT = json.loads((VENDOR / "vendor.json").read_text("utf-8"))
UNLISTED = {"vendor.json", "ui.d.ts", "uplot.d.ts", "lucide.d.ts"}
IMPORT = re.compile(r"""(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"']+)["']""")


def require(condition, problem):
    """Skip the test with *problem* unless *condition*; in CI it is a failure."""
    if not condition:
        missing = pytest.fail if "CI" in os.environ else pytest.skip
        missing(problem)


def test_each_vendored_file_has_its_hash():
    """vendor.json lists every file of others, and each has the SHA-256 that stands there."""
    files = {path.name: path.read_bytes() for path in VENDOR.iterdir() if path.name not in UNLISTED}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    assert ABOUT["sha256"] == sums


def test_each_vendored_package_is_the_one_of_the_lock():
    """Version and licence are those of package-lock.json, which names no address."""
    text = (ROOT / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in text
    locked = json.loads(text)["packages"]
    for package in ABOUT["packages"]:
        found = locked[f"node_modules/{package['name']}"]
        assert package["version"] == found["version"]
        assert package["license"] == found["license"]


def test_the_command_brings_the_same_bytes(tmp_path):
    """What `make vendor` writes from the lock is what is here."""
    require(shutil.which("node"), "node was not found: install Node.js 20 or later")
    require((ROOT / "node_modules/.ready").exists(), "run make node_modules/.ready first")
    command = ["node", str(ROOT / "deploy/page/vendor.mjs"), str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert {name: (VENDOR / name).read_bytes() for name in written} == written


def test_modules_load_nothing_from_outside():
    """Each import of each module is a file of the page."""
    for module in STATIC.glob("**/*.js"):
        for name in IMPORT.findall(module.read_text("utf-8")):
            assert name.startswith("./"), f"{module.name} imports {name}"
            assert (module.parent / name).resolve().is_relative_to(STATIC)
