"""The time that a run of close has, and the rules for what may still begin in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

STOP_BEFORE_S: Final = 5
"""Seconds before its end at which a run starts nothing new and writes down what it did."""

RESTATE_FOR_S: Final = 45
"""Seconds of a run after which it begins to restate no further minute."""


class OutOfTimeError(Exception):
    """The run must stop here; the next one goes on."""


@dataclass(slots=True)
class RunClock:
    """
    Of one run.

    Attributes:
        remaining_s: Seconds until this run is killed.

        whole_s: Those that were left when its work began.
    """

    remaining_s: Callable[[], float]
    whole_s: float = field(init=False)

    def __post_init__(self) -> None:
        """Begin."""
        self.whole_s = self.remaining_s()

    def check(self) -> None:
        """
        Go on.

        Raises:
            OutOfTimeError: If the run must stop.
        """
        if self.remaining_s() < STOP_BEFORE_S:
            raise OutOfTimeError

    def allows(self, remaining_s: float, longest_s: float) -> bool:
        """Whether a further minute may be begun; the longest one of this run took *longest_s*."""
        used_s = self.whole_s - remaining_s
        return used_s < RESTATE_FOR_S and remaining_s >= STOP_BEFORE_S + longest_s
