"""
One thing that must hold before an instance may be given back.

A guard has a name, a sentence that says what must hold, and a function that judges
it by the facts. A judgement that cannot be made is unknown, and unknown never passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuron_emf.stoppable.facts import AccountFacts, LineFacts

PASSED: Final = "ok"
FAILED: Final = "no"
UNKNOWN: Final = "unknown"


class Judgement(NamedTuple):
    """
    How a guard ended.

    Attributes:
        state: `ok`, `no` or `unknown`.

        value: What was found, for a person.
    """

    state: str
    value: str


@dataclass(frozen=True, slots=True)
class Guard:
    """
    One thing that must hold.

    Attributes:
        name: Of the guard, such as `no-holder`.

        sentence: What must hold.

        judge: Whether it does.
    """

    name: str
    sentence: str
    judge: Callable[[LineFacts, AccountFacts], Judgement]


def judged(holds: bool, value: str) -> Judgement:  # noqa: FBT001 - what a guard is about
    """Passed if it *holds*, else failed."""
    return passed(value) if holds else failed(value)


def passed(value: str) -> Judgement:
    """It holds."""
    return Judgement(PASSED, value)


def failed(value: str) -> Judgement:
    """It does not."""
    return Judgement(FAILED, value)


def unknown(why: str) -> Judgement:
    """No judgement, because of *why*."""
    return Judgement(UNKNOWN, why)
