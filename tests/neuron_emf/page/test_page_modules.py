"""The page's modules: vendored files equal the locked packages, and ours load nothing else."""

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
UNLISTED = {"vendor.json", "ui.d.ts", "uplot.d.ts"}
IMPORT = re.compile(r"""(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"']+)["']""")


def require(condition, problem):
    """Skip the test with *problem* unless *condition*; in CI it is a failure."""
    if not condition:
        missing = pytest.fail if "CI" in os.environ else pytest.skip
        missing(problem)


def test_each_vendored_file_has_its_hash():
    """vendor.json lists every vendored file with its SHA-256."""
    files = {path.name: path.read_bytes() for path in VENDOR.iterdir() if path.name not in UNLISTED}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    assert ABOUT["sha256"] == sums


def test_each_vendored_package_is_the_one_of_the_lock():
    """
    Each vendored package has the version and licence in package-lock.json, which has no address.
    """
    text = (ROOT / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in text
    locked = json.loads(text)["packages"]
    for package in ABOUT["packages"]:
        found = locked[f"node_modules/{package['name']}"]
        assert package["version"] == found["version"]
        assert package["license"] == found["license"]


def test_the_command_brings_the_same_bytes(tmp_path):
    """`make vendor` writes the same bytes from the lock."""
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


TEXTS = ("text", "soft", "faint", "accent", "good", "warn", "bad", "wait")
GRAPHICS = (
    "edge",
    "busy",
    "allocated-idle",
    "reserved",
    "unallocated",
    "unknown",
    "series-others",
    *(f"series-{number}" for number in range(1, 9)),
)
ON_ITS_OWN = ("accent", "good", "warn", "bad", "wait")
TOKEN = re.compile(r"--([a-z0-9-]+): (#[0-9a-f]{6});")


def luminance(color):
    """Return the relative luminance by WCAG 2.2, https://www.w3.org/TR/WCAG22/, 0 to 1."""
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """Return the contrast ratio of two colors, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [":root {", ':root[data-theme="dark"] {'])
def test_colors_have_contrast(theme):
    """Text has 4.5:1 on each ground and graphics 3:1, in both themes."""
    block = (STATIC / "page.css").read_text("utf-8").partition(theme)[2].partition("}")[0]
    colors = dict(TOKEN.findall(block))
    grounds = [colors[name] for name in ("page", "surface", "raised")]
    pairs = [(name, ground, 4.5) for name in TEXTS for ground in grounds]
    pairs += [(name, ground, 3.0) for name in GRAPHICS for ground in grounds]
    pairs += [(name, colors[f"{name}-soft"], 4.5) for name in ON_ITS_OWN]
    weak = {
        (name, ground): round(contrast(colors[name], ground), 2)
        for name, ground, least in pairs
        if contrast(colors[name], ground) < least
    }
    assert {} == weak


def test_each_term_has_a_definition():
    """A term with a dotted underline is one of the glossary."""
    modules = [path.read_text("utf-8") for path in STATIC.glob("*.js")]
    used = {name for text in modules for name in re.findall(r'Term} name="([^"]+)"', text)}
    used |= {name for text in modules for name in re.findall(r'\bterm: "([^"]+)"', text)}
    (found,) = (match for text in modules for match in re.findall(r"TERMS = /\\b\((.+)\)\\b", text))
    defined = set(
        re.findall(r'^  "([^"]+)": "', (STATIC / "glossary.js").read_text("utf-8"), re.MULTILINE)
    )
    assert defined >= used | set(found.split("|"))
