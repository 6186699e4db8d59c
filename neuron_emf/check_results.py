"""
Named checks and their results: what `check`, `findings INSTANCE` and an acceptance are lists of.

A result is shown to people, given to programs and turned into an exit code here and nowhere else.
Only what is laid out for a terminal needs Rich: `check --quick` is asked every half minute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_words.name_words import printable
from neuron_words.quantity_words import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import RenderableType

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
"""How a check can end; the colors only repeat the words."""

EXIT_NOT_OK: Final = 1
_CHECK_MEMBERS: Final = ("section", "check", "must_hold", "state", "found", "advice")  # of the JSON
LONGEST: Final = 4_000  # characters of a result on a terminal; the longest of our own have 1,000


@dataclass(frozen=True, slots=True)
class CheckResult:
    """
    How one check ended.

    Attributes:
        state: One of `CHECK_STATES`.

        found: What is there, or the reason why that is not known; never a secret.

        advice: What to do; empty when nothing is to be done.

        check: Name of the check, such as `log group`.

        must_hold: What was asked, as a sentence; empty where the name says it.

        section: Title of the part of the list that it belongs to; empty in a list without parts.
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
    One thing that must hold of some facts.

    Attributes:
        name: Such as `no-holder`.

        must_hold: As a sentence.

        judge: Gives the result for these facts, without its name.
    """

    name: str
    must_hold: str
    judge: Callable[..., CheckResult]

    def result(self, *facts: object) -> CheckResult:
        """The result for *facts*, with its name; unknown where one of them is."""
        try:
            result = self.judge(*facts)
        except UnknownFactError as error:
            result = unknown(str(error))
        return replace(result, check=self.name, must_hold=self.must_hold)


def checks_of(
    must_hold: Texts, judges: Mapping[str, Callable[..., CheckResult]], **gaps: object
) -> tuple[Check, ...]:
    """A check for each of *judges*: *must_hold* has the sentence of its name, with *gaps*."""
    return tuple(
        Check(name, must_hold[name].format(**gaps), judge) for name, judge in judges.items()
    )


def ok(found: str) -> CheckResult:
    """It holds."""
    return CheckResult(CHECK_OK, found)


def warning(found: str, advice: str) -> CheckResult:
    """It works, but there is something to know; or it is unknown and does not matter."""
    return CheckResult(WARNING, found, advice)


def failed(found: str, advice: str = "") -> CheckResult:
    """It does not hold until somebody acts."""
    return CheckResult(CHECK_FAILED, found, advice)


def unknown(why: str) -> CheckResult:
    """It must hold and is not known: as bad as a failure."""
    return CheckResult(CHECK_UNKNOWN, why)


def not_tried(why: str) -> CheckResult:
    """An earlier check failed, or it cannot be tried here."""
    return CheckResult(NOT_TRIED, why)


def not_needed(why: str) -> CheckResult:
    """With these settings nothing depends on it."""
    return CheckResult(NOT_NEEDED, why)


def judged(holds: bool, found: str) -> CheckResult:  # noqa: FBT001 - what a check is about
    """Ok if it *holds*, else failed."""
    return ok(found) if holds else failed(found)


def section(title: str, results: Mapping[str, CheckResult]) -> list[CheckResult]:
    """*results* with their names, as the part *title* of a list."""
    return [replace(result, check=name, section=title) for name, result in results.items()]


def failures(results: Sequence[CheckResult]) -> list[CheckResult]:
    """The failed results, and the unknown ones."""
    return [result for result in results if result.state in (CHECK_FAILED, CHECK_UNKNOWN)]


def exit_code(results: Sequence[CheckResult]) -> int:
    """0 without failures, whatever the warnings."""
    return EXIT_NOT_OK if failures(results) else 0


def counts(results: Sequence[CheckResult]) -> dict[str, int]:
    """How many ended how, for each of `CHECK_STATES`."""
    states = [result.state for result in results]
    return {state: states.count(state) for state in CHECK_STATES}


def counted_states(results: Sequence[CheckResult]) -> str:
    """`15 ok, 2 warnings, 1 failed`."""
    return joined(
        [
            f"{count} {state}{'s' if state == WARNING and count > 1 else ''}"
            for state, count in counts(results).items()
            if count
        ]
    )


def line(result: CheckResult) -> str:
    """One result as one line of plain text."""
    advice = f"; {result.advice}" if result.advice else ""
    return printable(f"{result.state:<10}  {result.check:<8}  {_said(result)}{advice}", LONGEST)


def for_people(results: Sequence[CheckResult]) -> list[RenderableType]:
    """A table for each section, with what to do below what was found."""
    from rich.table import Table  # noqa: PLC0415 - not for --quick
    from rich.text import Text  # noqa: PLC0415 - as above

    columns = [
        max(len(text) for text in texts)
        for texts in zip(*((result.state, result.check) for result in results), strict=True)
    ]
    parts: list[RenderableType] = []
    for title, members in groupby(results, key=lambda result: result.section):
        table = Table.grid(padding=(0, 2, 0, 0))
        indent = "  " if title else ""
        for width in (len(indent) + columns[0], columns[1]):
            table.add_column(min_width=width, no_wrap=True)
        table.add_column(overflow="fold")
        for result in members:
            found = Text(printable(_said(result), LONGEST))
            if result.must_hold:
                found.stylize(STYLES[result.state], len(result.must_hold))
            if result.advice:
                found.append(f"\ndo: {printable(result.advice, LONGEST)}", style="bold")
            state = Text(indent + result.state, style=STYLES[result.state])
            table.add_row(state, Text(result.check), found)
        parts += [Text(title, style="bold")] if title else []
        parts += [table, Text()]
    return parts


def for_programs(results: Sequence[CheckResult]) -> Members:
    """The same as members of a JSON document; null for what a check does not have."""
    return {
        "ok": not failures(results),
        "counts": counts(results),
        "checks": [
            {name: getattr(result, name) or None for name in _CHECK_MEMBERS} for result in results
        ],
    }


def _said(result: CheckResult) -> str:
    return f"{result.must_hold} Found: {result.found}." if result.must_hold else result.found
