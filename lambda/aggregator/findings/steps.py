"""
Compute how one minute changes a finding.

Pure. An unknown value in a minute neither opens nor closes a finding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from neuron_accounts.findings import (
    CLOSED,
    CLOSED_AS_GONE,
    CLOSED_BY_QUIET,
    CLOSED_BY_WORK,
    OPENED,
    WORSENED,
    OpenFinding,
)
from neuron_wire.names import DAY_MINUTES

if TYPE_CHECKING:
    from neuron_accounts.findings import Change

WORKING_MINUTES: Final = 3
"""Minutes with known work that close an idle finding; an idle minute in between starts over."""

DOUBLINGS: Final = 8
"""Steps at which the idle time has doubled; after them there is one step each day."""

QUIET_MINUTES: Final = DAY_MINUTES
"""Minutes without a further fault after which a fault is closed."""


@dataclass(frozen=True, slots=True)
class FindingStep:
    """
    The next step of one finding.

    Attributes:
        after: The finding after the step; for a closing step, its last state.

        change: The change to report; None if there is none.

        reason: The reason why it closed.
    """

    after: OpenFinding
    change: Change | None = None
    reason: str | None = None


def level_of(idle_minutes: int, after_minutes: int) -> int:
    """Return how often *idle_minutes* doubled *after_minutes*, plus the days after that."""
    doublings = max(0, (idle_minutes // after_minutes).bit_length() - 1)
    if doublings < DOUBLINGS:
        return doublings
    return DOUBLINGS + (idle_minutes - (after_minutes << DOUBLINGS)) // DAY_MINUTES


def step_idleness(
    before: OpenFinding | None,
    idle_minutes: int | None,
    minute: int,
    after_minutes: int,
    *,
    worked: bool,
) -> FindingStep | None:
    """
    Return the step that *minute* makes of idleness; None if there is none.

    *idle_minutes* is None if the condition does not hold or is unknown. *worked* is True only if
    work is certain.
    """
    if idle_minutes is not None:
        level = level_of(idle_minutes, after_minutes)
        if before is None:
            since = minute - idle_minutes + 1
            return FindingStep(OpenFinding(minute, since, 1, level, minute), OPENED)
        after = replace(before, quiet=0, missed=0)
        if level > before.level:
            return _worse(after, minute, level)
        return None if after == before else FindingStep(after)
    if before is None or not worked:
        return None
    after = replace(before, quiet=before.quiet + 1, missed=0)
    if after.quiet >= WORKING_MINUTES:
        return close_finding(after, minute, CLOSED_BY_WORK)
    return FindingStep(after)


def step_absence(
    before: OpenFinding, minute: int, forget_minutes: int, *, is_known: bool
) -> FindingStep:
    """
    Return the step of an owner that has no core in the lines of *minute*.

    If *is_known*, it has no core; otherwise it may have cores that no line reports. After
    *forget_minutes* it is forgotten.
    """
    after = replace(before, quiet=before.quiet + is_known, missed=before.missed + 1)
    if after.quiet >= WORKING_MINUTES or after.missed > forget_minutes:
        return close_finding(after, minute, CLOSED_AS_GONE)
    return FindingStep(after)


def step_faults(
    before: OpenFinding | None, count: int, minute: int, newest_minute: int
) -> FindingStep | None:
    """
    Return the step that *count* unreported faults in *minute* make of their finding.

    *newest_minute* is the newest known minute, later than *minute* if a late record has the faults:
    the finding opens in it, because another finding may have opened in *minute*.
    """
    if count > 0:
        if before is None:
            return FindingStep(OpenFinding(newest_minute, minute, 1, count, newest_minute), OPENED)
        return _worse(
            replace(before, since=min(before.since, minute)),
            max(before.stepped, minute),
            before.level + count,
        )
    if before is not None and minute - before.stepped >= QUIET_MINUTES:
        return close_finding(before, minute, CLOSED_BY_QUIET)
    return None


def open_silence(last_minute: int, minute: int) -> FindingStep:
    """Return the opening step of an instance that last reported in *last_minute*."""
    return FindingStep(OpenFinding(minute, last_minute + 1, 1, 0, minute), OPENED)


def close_finding(before: OpenFinding, minute: int, reason: str) -> FindingStep:
    """Return the closing step in *minute*."""
    return FindingStep(replace(before, step=before.step + 1, stepped=minute), CLOSED, reason)


def _worse(before: OpenFinding, minute: int, level: int) -> FindingStep:
    after = replace(before, step=before.step + 1, level=level, stepped=minute)
    return FindingStep(after, WORSENED)
