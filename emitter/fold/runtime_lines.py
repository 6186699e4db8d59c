"""
Which runtimes a line is due for.

32 runtimes with a line a minute each would cost nine times the minute line. So
a line comes when there is something to say (the runtime is new, its cores or
its owner changed, executions failed) and once an hour without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.fold.runtime_owner import RuntimeKey


HOURLY_MINUTES: Final = 60
NO_LINES: Final = "none"
ERROR_MINUTES: Final = 10
"""A runtime that fails all the time has a line for it this often, not every minute."""


RuntimeFacts: TypeAlias = "tuple[RuntimeKey, tuple[int, ...], str | None, bool]"
"""Which runtime, the cores it holds, its owner, and whether something failed in it."""


@dataclass(slots=True)
class _Said:
    """What the lines of one runtime have said; times in epoch minutes."""

    seen: int
    at: int
    cores: tuple[int, ...]
    owner: str | None
    error_at: int | None = None


class RuntimeLines:
    """
    The policy, and what it must remember of the minutes before.

    Attributes:
        mode: `changes`, `all` or `none`.
    """

    def __init__(self, mode: str = "changes") -> None:
        self.mode = mode
        self._said: dict[RuntimeKey, _Said] = {}

    def due(self, label: int, runtimes: Iterable[RuntimeFacts]) -> dict[RuntimeKey, str]:
        """
        The reason for a line in the epoch minute *label*, by runtime that one is due for.

        A runtime that the minute before did not have is a new one: pids and tags repeat.
        """
        if self.mode == NO_LINES:
            return {}
        before, self._said = self._said, {}
        reasons: dict[RuntimeKey, str] = {}
        for key, cores, owner, has_failed in runtimes:
            said = before.get(key)
            reason = _reason(said, cores, owner, label, has_failed=has_failed)
            if said is None or reason == "start":
                said = _Said(label, label, cores, owner)
            said.seen = label
            if has_failed and reason is not None:
                said.error_at = label
            if reason is not None:
                said.at, said.cores, said.owner = label, cores, owner
            self._said[key] = said
            if reason is None and self.mode == "all":
                reason = "all"
            if reason is not None:
                reasons[key] = reason
        return reasons


def _reason(
    said: _Said | None, cores: tuple[int, ...], owner: str | None, label: int, *, has_failed: bool
) -> str | None:
    if said is None or not 0 <= label - said.seen <= 1:
        return "start"
    if (cores, owner) != (said.cores, said.owner):
        return "change"
    if has_failed and (said.error_at is None or label - said.error_at >= ERROR_MINUTES):
        return "error"
    return "hourly" if label - said.at >= HOURLY_MINUTES else None
