"""The tree of errors and its exit codes, as they are documented."""

from __future__ import annotations

from pathlib import Path

import pytest

from emitter import cli
from emitter.errors import DeliveryError, EmitterError, SettingsError, SourceError
from emitter.spool import SpoolFailedError, SpoolHeldError, SpoolUnusableError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SettingsError, 2), (SpoolUnusableError, 2), (SourceError, 3), (SpoolHeldError, 3),
        (SpoolFailedError, 3), (DeliveryError, 4),
    ],
)  # fmt: skip
def test_an_error_knows_its_exit_code(error, code):
    """Who must act decides the code: the operator, the source, the destination."""
    assert issubclass(error, EmitterError)
    assert code == error("sentence").exit_code


@pytest.mark.parametrize("code", [0, 2, 3, 4])
def test_the_exit_codes_are_documented(code):
    """In --help and on the page of options."""
    repository = Path(__file__).resolve().parent.parent.parent
    page = (repository / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
    line = next(one for one in page.splitlines() if one.startswith("| `run` |"))
    assert f" {code} " in line
    assert f" {code} " in cli.run.epilog
