"""
A kept rollup, read so that no value can break a message.

The line was written by a stack of this release or of another one, and names in
it are other people's. A member of a wrong type is absent, as one that is not
there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from aggregator.explain import foreign_text
from neuron_wire.names import MINUTE_S

LATEST_S: Final = 1e11  # in the year 5138; what is later, or before 1970, is no time of ours


@dataclass(frozen=True, slots=True)
class Members:
    """
    The members of a JSON object.

    Attributes:
        given: All of them, as they were read.
    """

    given: Mapping[str, object] = field(default_factory=dict)

    def number(self, name: str) -> float | None:
        """An amount from 0."""
        value = self.given.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        # An int of a thousand digits is JSON too, and no float.
        return value if 0 <= value < 1e18 and math.isfinite(value) else None

    def text(self, name: str) -> str | None:
        """A name for a message; None when it is empty."""
        value = self.given.get(name)
        return foreign_text.name(value) if isinstance(value, str) and value else None

    def entries(self, name: str) -> list[Members]:
        """The objects of a list."""
        value = self.given.get(name)
        if not isinstance(value, list):
            return []
        return [Members(one) for one in value if isinstance(one, Mapping)]

    def names(self, name: str) -> list[str]:
        """The texts of a list, for a message."""
        value = self.given.get(name)
        if not isinstance(value, list):
            return []
        return [foreign_text.name(one) for one in value if isinstance(one, str) and one]

    def minute_s(self, name: str) -> float | None:
        """When the minute of a member began, seconds since the epoch."""
        text = self.text(name) or ""
        try:
            found = datetime.strptime(text, "%Y-%m-%dT%H:%M%z").timestamp()
        except (ValueError, OverflowError):
            return None
        return found if 0 <= found <= LATEST_S else None

    def minute_end_s(self) -> float | None:
        """When the minute of the rollup was over, seconds since the epoch."""
        start_s = self.minute_s("Minute")
        return None if start_s is None else start_s + MINUTE_S


def members_of(line: str) -> Members | None:
    """The members of a line; None when it is no JSON object."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return Members(found) if isinstance(found, dict) else None
