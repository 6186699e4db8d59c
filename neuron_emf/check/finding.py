"""The result of one check: how it is, what was found, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

OK: Final = "ok"
WARNING: Final = "warning"
FAILED: Final = "failed"
NOT_TRIED: Final = "not tried"
NOT_NEEDED: Final = "not needed"

STATES: Final = (OK, WARNING, FAILED, NOT_TRIED, NOT_NEEDED)


@dataclass(frozen=True, slots=True)
class Finding:
    """
    What one check found.

    Attributes:
        check: Name of the check, such as `log group`.

        state: One of `STATES`.

        found: What is there, for a person; never a secret.

        advice: What to do; empty when nothing is to be done.
    """

    check: str
    state: str
    found: str
    advice: str = ""


def ok(check: str, found: str) -> Finding:
    """All is as a first record needs it."""
    return Finding(check, OK, found)


def warning(check: str, found: str, advice: str) -> Finding:
    """Records will come, and somebody should know something; or it cannot be told."""
    return Finding(check, WARNING, found, advice)


def failed(check: str, found: str, advice: str) -> Finding:
    """Records will not come, or not become metrics, until somebody acts."""
    return Finding(check, FAILED, found, advice)


def not_tried(check: str, why: str) -> Finding:
    """Something that comes first has failed."""
    return Finding(check, NOT_TRIED, why)


def not_needed(check: str, why: str) -> Finding:
    """With these settings nothing depends on it."""
    return Finding(check, NOT_NEEDED, why)
