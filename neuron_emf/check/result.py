"""
The result of one check: how it is, what was found, what to do.

Results that belong together are a section.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

OK: Final = "ok"
WARNING: Final = "warning"
FAILED: Final = "failed"
NOT_TRIED: Final = "not tried"
NOT_NEEDED: Final = "not needed"

STATES: Final = (OK, WARNING, FAILED, NOT_TRIED, NOT_NEEDED)


@dataclass(frozen=True, slots=True)
class CheckResult:
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


@dataclass(frozen=True, slots=True)
class CheckSection:
    """Results that belong together."""

    title: str
    results: tuple[CheckResult, ...]


def count_states(sections: Iterable[CheckSection]) -> dict[str, int]:
    """How many checks ended how, for each of `STATES`."""
    states = [result.state for section in sections for result in section.results]
    return {state: states.count(state) for state in STATES}


def ok(check: str, found: str) -> CheckResult:
    """All is as a first record needs it."""
    return CheckResult(check, OK, found)


def warning(check: str, found: str, advice: str) -> CheckResult:
    """Records will come, and somebody should know something; or it cannot be told."""
    return CheckResult(check, WARNING, found, advice)


def failed(check: str, found: str, advice: str) -> CheckResult:
    """Records will not come, or not become metrics, until somebody acts."""
    return CheckResult(check, FAILED, found, advice)


def not_tried(check: str, why: str) -> CheckResult:
    """Something that comes first has failed."""
    return CheckResult(check, NOT_TRIED, why)


def not_needed(check: str, why: str) -> CheckResult:
    """With these settings nothing depends on it."""
    return CheckResult(check, NOT_NEEDED, why)
