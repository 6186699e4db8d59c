"""
Named checks and their results, for `check`, `findings INSTANCE` and the acceptance.

This module converts a result to text and for programs, and turns it into an exit code. It does not
import Rich, because `check --quick` runs each minute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_words.name_words import printable
from neuron_words.quantity_words import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from neuron_wire.line_members import Members, Texts

CHECK_OK: Final = "ok"
WARNING: Final = "warning"
CHECK_FAILED: Final = "failed"
CHECK_UNKNOWN: Final = "unknown"
NOT_TRIED: Final = "not tried"
NOT_NEEDED: Final = "not needed"

STYLES: Final = {
    CHECK_OK: "green",
    WARNING: "yellow",
    CHECK_FAILED: "bold red",
    CHECK_UNKNOWN: "yellow",
    NOT_TRIED: "magenta",
    NOT_NEEDED: "dim",
}
CHECK_STATES: Final = tuple(STYLES)
"""The states of a check; colors only repeat the words."""

EXIT_NOT_OK: Final = 1
# members of the JSON
_CHECK_MEMBERS: Final = ("section", "check", "must_hold", "state", "found", "advice")
# characters of a result on a terminal; the longest of our own results have 1,000
LONGEST: Final = 4_000


@dataclass(frozen=True, slots=True)
class CheckResult:
    """
    The result of one check.

    Attributes:
        state: One of `CHECK_STATES`.

        found: The observed value, or the reason why it is unknown; never a secret.

        advice: Next step; empty if nothing needs to be done.

        check: Name of the check, such as `log group`.

        must_hold: The condition that was checked, as a sentence; empty if the name is enough.

        section: Title of its part of the list; empty in a list without parts.
    """

    state: str
    found: str
    advice: str = ""
    check: str = ""
    must_hold: str = ""
    section: str = ""


class UnknownFactError(Exception):
    """A required fact is unknown; the message is the reason."""


class Check(NamedTuple):
    """
    A condition that must hold for some facts.

    Attributes:
        name: The name of the check, such as `no-holder`.

        must_hold: The condition as a sentence.

        judge: Returns the result for facts, without its name.
    """

    name: str
    must_hold: str
    judge: Callable[..., CheckResult]

    def result(self, *facts: object) -> CheckResult:
        """Return the result for *facts*, with its name; `unknown` if a required fact is unknown."""
        try:
            result = self.judge(*facts)
        except UnknownFactError as error:
            result = unknown(str(error))
        return replace(result, check=self.name, must_hold=self.must_hold)


def checks_of(
    must_hold: Texts, judges: Mapping[str, Callable[..., CheckResult]], **gaps: object
) -> tuple[Check, ...]:
    """Return a check for each of *judges*, with its sentence of *must_hold*, filled from *gaps*."""
    return tuple(
        Check(name, must_hold[name].format(**gaps), judge) for name, judge in judges.items()
    )


ok: Final = partial(CheckResult, CHECK_OK)
"""Makes the result of a condition that holds."""

warning: Final = partial(CheckResult, WARNING)
"""Makes the result of a condition that holds with a remark, or whose value does not matter."""

failed: Final = partial(CheckResult, CHECK_FAILED)
"""Makes the result of a condition that does not hold until the operator acts."""

unknown: Final = partial(CheckResult, CHECK_UNKNOWN)
"""Makes the result of a required condition that is unknown; it counts as a failure."""

not_tried: Final = partial(CheckResult, NOT_TRIED)
"""Makes the result of a check that did not run because an earlier check failed."""

not_needed: Final = partial(CheckResult, NOT_NEEDED)
"""Makes the result of a check that these settings do not need."""


def judged(holds: bool, found: str) -> CheckResult:  # noqa: FBT001 - what a check is about
    """Return `ok` if the condition *holds*, else `failed`."""
    return ok(found) if holds else failed(found)


def section(title: str, results: Mapping[str, CheckResult]) -> list[CheckResult]:
    """Return *results* with their names, as the part *title* of a list."""
    return [replace(result, check=name, section=title) for name, result in results.items()]


def failures(results: Sequence[CheckResult]) -> list[CheckResult]:
    """Return the failed and the unknown results."""
    return [result for result in results if result.state in (CHECK_FAILED, CHECK_UNKNOWN)]


def exit_code(results: Sequence[CheckResult]) -> int:
    """Return 0 without failures; warnings do not count."""
    return EXIT_NOT_OK if failures(results) else 0


def counts(results: Sequence[CheckResult]) -> dict[str, int]:
    """Return the number of results for each of `CHECK_STATES`."""
    states = [result.state for result in results]
    return {state: states.count(state) for state in CHECK_STATES}


def counted_states(results: Sequence[CheckResult]) -> str:
    """Return a text such as `15 ok, 2 warnings, 1 failed`."""
    return joined(
        [
            f"{count} {state}{'s' if state == WARNING and count > 1 else ''}"
            for state, count in counts(results).items()
            if count
        ]
    )


def line(result: CheckResult) -> str:
    """Return one result as one line of plain text."""
    advice = f"; {result.advice}" if result.advice else ""
    return printable(f"{result.state:<10}  {result.check:<8}  {sentence(result)}{advice}", LONGEST)


def for_programs(results: Sequence[CheckResult]) -> Members:
    """Return the results as members of a JSON document; null for an empty field."""
    return {
        "ok": not failures(results),
        "counts": counts(results),
        "checks": [
            {name: getattr(result, name) or None for name in _CHECK_MEMBERS} for result in results
        ],
    }


def sentence(result: CheckResult) -> str:
    """Return the observed value of *result*, after the condition if it has one."""
    return f"{result.must_hold} Found: {result.found}." if result.must_hold else result.found
