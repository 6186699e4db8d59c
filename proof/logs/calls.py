"""The record of a service: every request, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Call:
    """
    One request, and what became of it.

    Attributes:
        what: A fault, an error's name, or the operation if it was done and answered.

        at_s: When it came, by the service's clock, seconds since the epoch.

        taken: Places of its events in the rules' `applied`.

        status: HTTP; None when nothing was said.

        access_key: Of who signed it; empty when nobody looked.

        region: The signature is for; empty when nobody looked.
    """

    operation: str
    what: str
    at_s: float
    taken: range
    status: int | None
    access_key: str
    region: str
    user_agent: str
