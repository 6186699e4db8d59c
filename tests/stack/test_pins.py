"""The pins: complete, with hashes, and without the address of any package index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "lambda" / "requirements.txt", *sorted((ROOT / "requirements").glob("*.txt"))]
PIN = re.compile(r"^([a-z0-9._-]+)(?:\[[\w, -]+\])?==([^\s;]+)(?: ; (.+?))? \\$", re.MULTILINE)


def pins(path):
    """The pinned releases of one file, each with its marker."""
    return PIN.findall((ROOT / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_line_is_a_pin_a_hash_or_a_comment(path):
    """Every pin has a hash; where packages come from is the business of the machine."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"://|--(extra-)?index|--find-links|^-[ifer]\b| @ ", text, re.MULTILINE)
    lines = text.splitlines()
    assert pins(path)
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if PIN.match(line):
            assert following.startswith("    --hash=sha256:"), line
        else:
            assert re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?|\s*#.*", line), line


def test_the_functions_pins_are_the_same_on_every_runtime():
    """One build serves all, so no pin may depend on the Python that builds."""
    assert [] == [name for name, _, marker in pins("lambda/requirements.txt") if marker]


@pytest.mark.parametrize("path", ["lambda/requirements.txt", "requirements/emitter.txt"])
def test_what_is_delivered_is_what_is_tested(path):
    """Releases of functions and of instances are those of the tests' environment."""
    tested, delivered = ({one[:2] for one in pins(of)} for of in ("requirements/dev.txt", path))
    assert set() == delivered - tested
