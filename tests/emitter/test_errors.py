"""The tree of errors and its exit codes, as they are documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from emitter import cli, errors
from emitter.errors import DeliveryError, EmitterError, SettingsError, SourceError
from emitter.spool import SpoolFailedError, SpoolHeldError, SpoolUnusableError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SettingsError, 2),
        (SpoolUnusableError, 2),
        (SourceError, 3),
        (SpoolHeldError, 3),
        (SpoolFailedError, 3),
        (DeliveryError, 4),
    ],
)
def test_an_error_knows_its_exit_code(error, code):
    """Who must act decides the code: the operator, the source, the destination."""
    assert issubclass(error, EmitterError)
    assert code == error("sentence").exit_code


def test_the_tree_in_the_docstring_has_the_codes():
    """Every class of the module is in its docstring, those that end a command with their code."""
    defined = [one for one in vars(errors).values() if isinstance(one, type)]
    assert {EmitterError, SettingsError, SourceError, DeliveryError} <= {*defined}
    for error in defined:
        stated = re.search(rf"[*+] {error.__name__} +(.*(\n {{6,}}.*)*)", errors.__doc__)
        assert stated, error
        if error is not EmitterError:
            assert f"exit {error.exit_code}" in stated[1]


@pytest.mark.parametrize("code", [0, 2, 3, 4])
def test_the_exit_codes_are_documented(code):
    """In --help and on the page of options."""
    repository = Path(__file__).resolve().parent.parent.parent
    page = (repository / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
    line = next(one for one in page.splitlines() if one.startswith("| `run` |"))
    assert f" {code} " in line
    assert f" {code} " in cli.run.epilog
