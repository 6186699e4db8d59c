"""
The last rollup of a cluster, read back from the table.

The line was written by a stack of this release or of another one. What is missing or damaged
in it is not told, and no message waits for it.
Names in it are other people's, so a message never has them as they are.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from aggregator.explain import foreign_text
from neuron_wire.checked import minute_of, number_in, rows_in
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Mapping

_LARGEST: Final = 1e18  # what is not below it fills a message


@dataclass(frozen=True, slots=True)
class Members:
    """
    A stored rollup, or one entry of its lists. What it does not tell is None or empty.

    Attributes:
        given: As it stood in the line.
    """

    given: Mapping[str, Any] = field(default_factory=dict)

    def number(self, name: str) -> float | None:
        """An amount from 0."""
        value = number_in(self.given, name)
        return None if value is None or value >= _LARGEST else value

    def raw(self, name: str) -> str:
        """A text as it was given, which is in no message; empty where it is none."""
        value = self.given.get(name)
        return value if isinstance(value, str) else ""

    def text(self, name: str) -> str | None:
        """A name for a message; None when it is empty."""
        value = self.raw(name)
        return foreign_text.name(value) if value else None

    def entries(self, name: str) -> list[Members]:
        """The objects of a list."""
        return [Members(row) for row in rows_in(self.given, name) or ()]

    def start_ms(self, name: str) -> int | None:
        """When the minute of a member began, since the epoch; None of no calendar's."""
        return minute_of(self.raw(name))

    def minute(self, name: str) -> int | None:
        """The minute of a member, since the epoch."""
        start_ms = self.start_ms(name)
        return None if start_ms is None else start_ms // MINUTE_MS


def read_rollup(line: str) -> Members | None:
    """The rollup that *line* is; None where it is no JSON object or does not give its minute."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    rollup = Members(found if isinstance(found, dict) else {})
    return None if rollup.minute("Minute") is None else rollup
