"""
What other programs wrote, for people: events of AWS and rollups of any release, read leniently.

Names in them are other people's: `safe_name` makes them harmless in a mail, a shell, a chat
or a sheet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from neuron_wire.line_members import minute_of, number_in, rows_in, texts_in
from neuron_wire.names import MINUTE_MS
from neuron_wire.phrases import LONGEST_NAME, cell, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

_LARGEST: Final = 1e18  # a larger number would fill a message
_MARKUP: Final = str.maketrans(dict.fromkeys('`$\\|<>[]{}";&', "?"))


def safe_name(text: str, longest: int = LONGEST_NAME) -> str:
    """
    *text*, a name that somebody else gave, for people.

    What a shell, a page or a chat would take for more than a letter becomes a
    question mark, an address cannot be clicked, and a spreadsheet sees no
    formula. Log lines keep names as they are.
    """
    return printable(cell(text.translate(_MARKUP).replace("://", ":??")), longest)


def _whole(text: str) -> str:
    """*text*, in which half of a surrogate pair, which JSON can hold, becomes `?`."""
    return text.encode(errors="replace").decode()


@dataclass(frozen=True, slots=True)
class ForeignObject:
    """
    A JSON object of an event or a rollup. What is missing or damaged is None or empty.

    Attributes:
        given: As it was written.
    """

    given: Mapping[str, Any] = field(default_factory=dict)

    def number(self, name: str) -> float | None:
        """An amount from 0."""
        value = number_in(self.given, name)
        return None if value is None or value >= _LARGEST else value

    def raw(self, name: str) -> str:
        """A text as it was written, never for a message; empty where it is none."""
        value = self.given.get(name)
        return _whole(value) if isinstance(value, str) else ""

    def text(self, name: str) -> str | None:
        """A name for a message; None when it is empty."""
        value = self.raw(name)
        return safe_name(value) if value else None

    def inner(self, name: str) -> ForeignObject:
        """An object in it."""
        value = self.given.get(name)
        return ForeignObject(value) if isinstance(value, dict) else NOTHING

    def texts(self, name: str) -> list[str]:
        """The texts of a list, as they were written."""
        return [_whole(text) for text in texts_in(self.given, name)]

    def entries(self, name: str) -> list[ForeignObject]:
        """The objects of a list."""
        return [ForeignObject(row) for row in rows_in(self.given, name) or ()]

    def minute(self, name: str) -> int | None:
        """The minute of a member, since the epoch."""
        start_ms = minute_of(self.raw(name))
        return None if start_ms is None else start_ms // MINUTE_MS


NOTHING: Final = ForeignObject()
