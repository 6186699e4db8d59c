"""The pins: complete, with hashes, and without the address of any package index."""

from __future__ import annotations

import re

import pytest

PINNED = {
    "requirements/audit.txt",
    "requirements/mutants.txt",
    "requirements/pictures.txt",
    "requirements/checkov.txt",
    "requirements/deploy.txt",
    "requirements/docs.txt",
    "requirements/fuzz.txt",
    "requirements/emitter.txt",
    "requirements/dev.txt",
    "requirements/sam.txt",
    "requirements/embedded.txt",
    "requirements/pins.txt",
    "requirements/lambda.txt",
    "lambda/requirements.txt",
}
PIN = re.compile(r"^([a-z0-9._-]+)(?:\[[\w, -]+\])?==([^\s;]+)(?: ; (.+?))? \\$", re.MULTILINE)


def pins(repository, path):
    """The pinned releases of one file, each with its marker."""
    return PIN.findall((repository / path).read_text(encoding="utf-8"))


def test_every_file_of_pins_is_checked(repository):
    """A new one must come into the list above."""
    found = {f"requirements/{path.name}" for path in (repository / "requirements").glob("*.txt")}
    assert found | {"lambda/requirements.txt"} == PINNED


@pytest.mark.parametrize("path", sorted(PINNED))
def test_no_pin_names_an_index_or_a_place(repository, path):
    """Where packages come from is the business of the machine that installs."""
    text = (repository / path).read_text(encoding="utf-8")
    assert not re.search(r"://|--(extra-)?index|--find-links|^-[ifer]\b| @ ", text, re.MULTILINE)


@pytest.mark.parametrize("path", sorted(PINNED))
def test_every_line_is_a_pin_a_hash_or_a_comment(repository, path):
    """And every pin has at least one hash."""
    lines = (repository / path).read_text(encoding="utf-8").splitlines()
    assert pins(repository, path)
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if PIN.match(line):
            assert following.startswith("    --hash=sha256:"), line
        else:
            assert re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?|\s*#.*", line), line


def test_the_functions_pins_are_the_same_on_every_runtime(repository):
    """One build serves all, so no pin may depend on the Python that builds."""
    found = pins(repository, "lambda/requirements.txt")
    assert [] == [name for name, _, marker in found if marker]


def test_what_is_deployed_is_what_is_tested(repository):
    """The functions' releases are those of the tests' environment."""
    tested = {(name, release) for name, release, _ in pins(repository, "requirements/dev.txt")}
    deployed = {(n, release) for n, release, _ in pins(repository, "lambda/requirements.txt")}
    assert set() == deployed - tested


def test_what_is_installed_on_an_instance_is_what_is_tested(repository):
    """The emitter's releases are those of the tests' environment."""
    tested = {(name, release) for name, release, _ in pins(repository, "requirements/dev.txt")}
    installed = {(n, release) for n, release, _ in pins(repository, "requirements/emitter.txt")}
    assert set() == installed - tested
