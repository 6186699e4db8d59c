"""
Executions of an instance that do not end: hung ones, and those of jobs that stopped.

The emitter says what it saw (`neuron_wire.stalls`, `LastExecution` of holders); what is
too long is decided here. A standstill is over only where the minute says so: as long as
executions, cores or holders are not known, nothing is over.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from aggregator.minutes import iso, minute_at_ms, minute_of
from neuron_wire.findings import EXECUTIONS_STOPPED, HUNG_EXECUTION
from neuron_wire.names import UNKNOWN
from neuron_wire.owner_patterns import is_of
from neuron_wire.stalls import BUSY, COLLECTIVES, TIMEOUTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aggregator.environment import Rules
    from neuron_wire import MinuteRecord
    from neuron_wire.holders import Holder
    from neuron_wire.stalls import Stall

Standing: TypeAlias = "tuple[Sequence[Holder], int]"

KINDS: Final = (HUNG_EXECUTION, EXECUTIONS_STOPPED)

TIMEOUT_MINUTES: Final = 10
"""Minutes without an execution after timeouts."""

STOPPED_MINUTES: Final = 60
"""Minutes without an execution of a job that holds idle cores."""


def standing_still(record: MinuteRecord, rules: Rules) -> Mapping[str, Standing]:
    """Runtimes that stand still for too long and the minutes of the longest, by kind of finding."""
    standing: dict[str, Standing] = {}
    if hung := _hung(record.stalls, rules):
        standing[HUNG_EXECUTION] = hung, max(one.minutes for one in hung)
    if record.holders:
        minute = minute_at_ms(record.minute_ms)
        limit = _as_text(minute - STOPPED_MINUTES)  # texts of one form: the later is the greater
        stopped = {
            one: minute - last
            for one in record.holders
            if one.last_execution is not None
            and one.last_execution <= limit
            and is_of(rules.job_owners, one.name)
            and (last := minute_of(one.last_execution)) is not None
        }
        if stopped:
            standing[EXECUTIONS_STOPPED] = [*stopped], max(stopped.values())
    return standing


def limit_minutes(kind: str, rules: Rules) -> int:
    """Minutes whose doublings worsen a finding of *kind*."""
    return rules.hung_after_minutes if kind == HUNG_EXECUTION else STOPPED_MINUTES


def is_over(kind: str, record: MinuteRecord, rules: Rules) -> bool:
    """Whether *record*, in which none stands still for too long, knows as much."""
    if kind == HUNG_EXECUTION:
        return record.executions is not None
    is_known = bool(record.core_state) and UNKNOWN not in record.core_state
    return (
        is_known
        and not record.holders_more
        and not any(
            minute_of(one.last_execution or "") is None and is_of(rules.job_owners, one.name)
            for one in record.holders
        )
    )


def _hung(stalls: Sequence[Stall], rules: Rules) -> Sequence[Stall]:
    limits = {COLLECTIVES: 1, TIMEOUTS: TIMEOUT_MINUTES, BUSY: rules.hung_after_minutes}
    return [one for one in stalls if one.minutes >= limits[one.cause]]


_as_text: Final = lru_cache(8)(iso)  # of each record of a minute the same
