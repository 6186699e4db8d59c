"""An instance that should have reported and did not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Silent:
    """
    An instance that stopped reporting without a goodbye.

    Attributes:
        instance_id: Its name.

        instance_type: As last reported, or None.

        last_minute: The last minute it reported in.
    """

    instance_id: str
    instance_type: str | None
    last_minute: int
