"""Make's messages and requirements, and its pins: complete and with hashes."""

from __future__ import annotations

import re

import pytest

from local import REPOSITORY
from tests.programs import run_program


def make(folder, *arguments):
    """Run make in a folder with the environment of a plain shell."""
    return run_program(
        ["make", "--no-print-directory", *arguments],
        cwd=folder,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
    )


REQUIREMENTS_FILES = [
    REPOSITORY / "lambda" / "requirements.txt",
    *sorted((REPOSITORY / "requirements").glob("*.txt")),
]
PIN = re.compile(r"^([a-z0-9._-]+)(?:\[[\w, -]+\])?==([^\s;]+)(?: ; (.+?))? \\$", re.MULTILINE)


def pins(path):
    """Return the pinned releases of one file, each with its marker."""
    return PIN.findall((REPOSITORY / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "path", REQUIREMENTS_FILES, ids=lambda path: str(path.relative_to(REPOSITORY))
)
def test_every_line_is_a_pin_a_hash_or_a_comment(path):
    """Every pin has a hash, and no file has the address of a package index."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"://|--(extra-)?index|--find-links|^-[ifer]\b| @ ", text, re.MULTILINE)
    lines = text.splitlines()
    assert pins(path)
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if PIN.match(line):
            assert following.startswith("    --hash=sha256:"), line
        else:
            assert re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?|\s*#.*", line), line


@pytest.mark.parametrize("path", ["lambda/requirements.txt", "requirements/emitter.txt"])
def test_what_is_delivered_is_what_is_tested(path):
    """Releases that functions and instances install are those of the tests' environment."""
    tested, delivered = ({pin[:2] for pin in pins(of)} for of in ("requirements/dev.txt", path))
    assert set() == delivered - tested
