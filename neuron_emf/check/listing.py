"""The listing of checks: each result, the settings that are not at their defaults, the summary."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from neuron_emf import check_results
from neuron_emf.check_results import LONGEST, STYLES, sentence
from neuron_words.name_words import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from neuron_emf.check.settings import Origin
    from neuron_emf.check_results import CheckResult
    from neuron_wire.line_members import Members

CAN_SEND: Final = "A first record {} be sent"
CAN_DEPLOY: Final = "The stack {} be deployed"


def for_people(
    results: Sequence[CheckResult], given: Sequence[Origin], can_do: str = CAN_SEND
) -> list[RenderableType]:
    """Return the checks, the settings that are not at their defaults, and the summary."""
    failures = check_results.failures(results)
    verdict = can_do.format("cannot" if failures else "can")
    if failures and all(result.state == check_results.CHECK_UNKNOWN for result in failures):
        question = can_do.format("can")
        verdict = f"It is unknown whether {question[:1].lower()}{question[1:]}"
    last = f"{verdict}: {check_results.counted_states(results)}."
    return [*result_tables(results), *_settings(given), last]


def for_programs(results: Sequence[CheckResult], given: Sequence[Origin]) -> Members:
    """Return the results as one document."""
    settings = [
        {"setting": origin.name, "value": origin.value or None, "from": origin.where}
        for origin in given
    ]
    return {**check_results.for_programs(results), "settings": settings}


def _settings(origins: Sequence[Origin]) -> Iterator[RenderableType]:
    """Return the settings that the operator has set."""
    given = [origin for origin in origins if origin.is_given]
    if not given:
        return
    table = Table.grid("", "", "", padding=(0, 2, 0, 0))
    for column in table.columns[1:]:
        column.overflow = "fold"
    for origin in given:
        cells = f"  {origin.name}", origin.value, f"from {origin.where}"
        table.add_row(*(Text(printable(cell, check_results.LONGEST)) for cell in cells))
    yield Text("settings not at their defaults", style="bold")
    yield table
    yield Text()


def result_tables(results: Sequence[CheckResult]) -> list[RenderableType]:
    """Return a table for each section, with advice below each result."""
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
            shown = Text(printable(sentence(result), LONGEST))
            if result.must_hold:
                shown.stylize(STYLES[result.state], len(result.must_hold))
            if result.advice:
                shown.append(f"\ndo: {printable(result.advice, LONGEST)}", style="bold")
            state = Text(indent + result.state, style=STYLES[result.state])
            table.add_row(state, Text(result.check), shown)
        parts += [Text(title, style="bold")] if title else []
        parts += [table, Text()]
    return parts
