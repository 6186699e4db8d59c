"""From when to when: whole minutes, the first included and the last not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from emitter.errors import SettingsError
from neuron_emf.reading import moment_ms
from neuron_wire.names import MINUTE_MS

_END_OF_TIME_MS: Final = 253_402_300_740_000  # the last minute of 9999: no calendar has a later one


@dataclass(frozen=True, slots=True)
class Period:
    """
    Whole minutes.

    Attributes:
        start_ms: Start of the first, milliseconds since the Unix epoch.

        end_ms: End of the last, always after *start_ms*.
    """

    start_ms: int
    end_ms: int

    def __contains__(self, minute_ms: int) -> bool:
        return self.start_ms <= minute_ms < self.end_ms


ALWAYS: Final = Period(0, _END_OF_TIME_MS)
"""All that files hold."""


def period(since: str, until: str, now_ms: int) -> Period:
    """
    From *since* to *until*, each a period back from *now_ms* or a moment; empty *until* is now.

    The minute that is not over yet is left out.

    Raises:
        SettingsError: If one is neither, or no whole minute lies between.
    """
    end_ms = moment_ms(until, "--until", now_ms) if until else now_ms
    start_ms = moment_ms(since, "--since", now_ms)
    found = Period(-(-start_ms // MINUTE_MS) * MINUTE_MS, end_ms // MINUTE_MS * MINUTE_MS)
    if found.start_ms >= found.end_ms:
        msg = (
            "a whole minute or more was expected between --since and --until and there is none: "
            "move one of them"
        )
        raise SettingsError(msg)
    return found
