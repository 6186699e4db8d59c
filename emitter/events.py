"""
Something that happened on an instance, for a line of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Event:
    """
    One `event` line, before it has an identity.

    Attributes:
        name: What happened, such as `MonitorDied`; one of few.

        at_s: When, seconds since the Unix epoch.

        message: One sentence for a person, without payload.

        details: Further members of the line, named as in the catalogue.
    """

    name: str
    at_s: float
    message: str
    details: Mapping[str, str | int | float] = field(default_factory=dict)
