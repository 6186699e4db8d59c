"""
The results, for people as a list with what to do, for programs as one document.

States are words; colours only repeat them. Names that come from AWS or from an
instance are text, whatever characters they have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from neuron_emf.check.result import (
    FAILED,
    NOT_NEEDED,
    NOT_TRIED,
    OK,
    STATES,
    WARNING,
    count_states,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from neuron_emf.check.result import CheckResult, CheckSection
    from neuron_emf.check.settings import Origin

STYLES: Final[Mapping[str, str]] = {
    OK: "green",
    WARNING: "yellow",
    FAILED: "bold red",
    NOT_TRIED: "magenta",
    NOT_NEEDED: "dim",
}

_STATE_COLUMNS: Final = max(map(len, STATES))
_CHECK_COLUMNS: Final = 23  # of `rollups log group class`, and no more


_VERDICTS: Final = {
    "record": ("A first record can be sent", "A first record cannot be sent"),
    "deployment": ("The stack can be deployed", "The stack cannot be deployed"),
}
"""What is said when nothing failed, and when something did, by what was checked for."""


def parts(
    sections: Sequence[CheckSection], origins: Sequence[Origin], purpose: str = "record"
) -> Iterator[RenderableType]:
    """What a person reads, from the top."""
    for section in sections:
        yield Text(section.title, style="bold")
        yield _table(section.results)
        yield Text()
    yield from _settings(origins)
    counts = count_states(sections)
    counted = ", ".join(_counted(count, state) for state, count in counts.items() if count)
    yield Text(f"{_VERDICTS[purpose][counts[FAILED] > 0]}: {counted}.")


def document(sections: Sequence[CheckSection], origins: Sequence[Origin]) -> dict[str, object]:
    """The same for a program."""
    counts = count_states(sections)
    return {
        "ok": not counts[FAILED],
        "counts": counts,
        "checks": [
            {
                "section": section.title,
                "check": result.check,
                "state": result.state,
                "found": result.found,
                "advice": result.advice or None,
            }
            for section in sections
            for result in section.results
        ],
        "settings": [
            {"setting": origin.name, "value": origin.value or None, "from": origin.where}
            for origin in origins
        ],
    }


def _counted(count: int, state: str) -> str:
    return f"{count} {state}{'s' if state == WARNING and count > 1 else ''}"


def _table(results: Sequence[CheckResult]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(min_width=_STATE_COLUMNS + 2, no_wrap=True)
    table.add_column(min_width=_CHECK_COLUMNS, no_wrap=True)
    table.add_column(overflow="fold")
    for result in results:
        state = Text(f"  {result.state}", style=STYLES[result.state])
        found = Text(_printable(result.found))
        if result.advice:
            found.append(f"\ndo: {_printable(result.advice)}", style="bold")
        table.add_row(state, Text(result.check), found)
    return table


def _settings(origins: Sequence[Origin]) -> Iterator[RenderableType]:
    given = [origin for origin in origins if origin.is_given]
    if not given:
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for origin in given:
        cells = f"  {origin.name}", origin.value, f"from {origin.where}"
        table.add_row(*(Text(_printable(cell)) for cell in cells))
    yield Text("settings not at their defaults", style="bold")
    yield table
    yield Text()


def _printable(text: str) -> str:
    """*text* without what a terminal would obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
