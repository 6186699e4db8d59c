"""
What must hold of the lines of an instance and of its cluster.

A guard looks at the whole hour up to the newest line, not at the newest alone: what was so
a few minutes ago may be so again.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from neuron_emf.stoppable.facts import HOUR_MINUTES
from neuron_emf.stoppable.guard import Guard, failed, judged, passed, unknown
from neuron_wire.findings import LEAST_COVERAGE_PERCENT, MOST_HOST_CPU_PERCENT
from neuron_wire.instance_types import INSTANCE_TYPES
from neuron_wire.names import ATTACHED_IDLE, BUSY, MINUTE_MS, WHOLE_MINUTE_S
from neuron_wire.names import UNKNOWN as UNKNOWN_CORE
from neuron_wire.payment import is_sunk
from neuron_wire.phrases import counted, duration, moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from neuron_emf.reading.rollup_line import Rollup
    from neuron_emf.stoppable.facts import AccountFacts, LineFacts
    from neuron_emf.stoppable.guard import Judgement
    from neuron_wire import MinuteRecord

NEWEST_MINUTES: Final = 5
"""So old may the newest line be."""

TOGETHER_MINUTES: Final = 10
"""Half of a cluster that turns idle within so many minutes waits for one thing."""

_AHEAD_MS: Final = MINUTE_MS  # clocks differ
_HALF: Final = 0.5


def _records(lines: LineFacts) -> list[MinuteRecord]:
    return [minute.record for minute in lines.minutes]


def _newest_line(lines: LineFacts, _: AccountFacts) -> Judgement:
    age_ms = lines.now_ms - lines.newest.minute_ms - MINUTE_MS
    if age_ms < -_AHEAD_MS:
        return failed(f"{duration(-age_ms / MINUTE_MS)} in the future")
    if lines.newest.bye:
        return failed("the emitter has shut down")
    return judged(
        age_ms <= NEWEST_MINUTES * MINUTE_MS, f"{duration(max(0, age_ms) / MINUTE_MS)} old"
    )


def _whole_hour(lines: LineFacts, _: AccountFacts) -> Judgement:
    whole = sum(one.covered_seconds >= WHOLE_MINUTE_S for one in _records(lines))
    return judged(whole == HOUR_MINUTES, f"{whole} of {HOUR_MINUTES}")


def _known_cores(lines: LineFacts, _: AccountFacts) -> Judgement:
    kind = INSTANCE_TYPES.get(lines.newest.instance_type or "")
    if kind is None:
        return unknown(f"instance type {lines.newest.instance_type or 'not told'}")
    least = min(len(one.core_state) - one.core_state.count(UNKNOWN_CORE) for one in _records(lines))
    most = max(kind.cores, *(len(one.core_state) for one in _records(lines)))
    return judged(least == most, f"{least} of {most}")


def _idle_cores(lines: LineFacts, _: AccountFacts) -> Judgement:
    busy = [one for one in _records(lines) if BUSY in one.core_state]
    if busy:
        return failed(f"a core busy at {moment(busy[-1].minute_ms)}")
    idle = min(lines.newest.idle_minutes, default=0)
    return judged(idle >= HOUR_MINUTES, f"all idle for {duration(idle)}")


def _no_holder(lines: LineFacts, _: AccountFacts) -> Judgement:
    for one in reversed(_records(lines)):
        names = [*filter(None, (holder.name for holder in one.holders))]
        names += [owner.name for owner in one.owners]
        if names or ATTACHED_IDLE in one.core_state or one.owners or one.owners_more:
            who = names[0] if names else "a process without a name"
            return failed(f"{who} at {moment(one.minute_ms)}")
    return passed("nobody")


def _host_cpu(lines: LineFacts, _: AccountFacts) -> Judgement:
    percents = [one.number("HostCpuPercent") for one in _records(lines)]
    told = [percent for percent in percents if percent is not None]
    if len(told) < len(percents):
        return unknown(f"not told in {counted(len(percents) - len(told), 'minute')}")
    return judged(max(told) < MOST_HOST_CPU_PERCENT, f"at most {max(told):.1f} %")


def _not_sunk(lines: LineFacts, _: AccountFacts) -> Judgement:
    record = lines.newest
    is_paid = any(is_sunk(one, lines.paid_by_type) for one in _records(lines))
    said = record.paid or record.lifecycle or record.instance_type or "not told"
    return judged(not is_paid, f"{said}: {'paid even if stopped' if is_paid else 'avoidable'}")


def _one_emitter(lines: LineFacts, _: AccountFacts) -> Judgement:
    twice = [minute for minute in lines.minutes if minute.duplicate_emitters]
    if not twice:
        return passed("one")
    return failed(f"two at {moment(twice[-1].record.minute_ms)}")


def _coverage(lines: LineFacts, _: AccountFacts) -> Judgement:
    since_ms = lines.now_ms - 2 * TOGETHER_MINUTES * MINUTE_MS
    recent = [one for one in lines.cluster_minutes if one.minute_ms >= since_ms]
    percents = [one.gauges.get("CoveragePercent") for one in recent[-TOGETHER_MINUTES:]]
    told = [percent for percent in percents if percent is not None]
    if not told or len(told) < len(percents):
        return unknown(f"no rollup of cluster {lines.newest.cluster} tells it")
    return judged(min(told) >= LEAST_COVERAGE_PERCENT, f"at least {min(told):.1f} %")


def _turned_idle(minutes: Sequence[Rollup]) -> Iterator[tuple[float, Rollup]]:
    """Share of the cores that stopped being busy within `TOGETHER_MINUTES` of each minute."""
    for index, first in enumerate(minutes):
        cores, busy = first.gauges["NeuronCores"], first.gauges["BusyCores"]
        for later in minutes[index:]:
            if later.minute_ms > first.minute_ms + TOGETHER_MINUTES * MINUTE_MS:
                break
            yield (busy - later.gauges["BusyCores"]) / cores, later


def _no_fleet_change(lines: LineFacts, _: AccountFacts) -> Judgement:
    known = [
        one
        for one in lines.cluster_minutes
        if one.gauges.get("NeuronCores") and "BusyCores" in one.gauges
    ]
    times = [lines.start_ms, *(one.minute_ms for one in known), lines.now_ms]
    longest_ms = max(after - before for before, after in pairwise(times))
    if not known or longest_ms > TOGETHER_MINUTES * MINUTE_MS:
        without = duration(max(0, longest_ms) / MINUTE_MS)
        return unknown(f"no rollup of cluster {lines.newest.cluster} for {without}")
    share, when = max(_turned_idle(known), key=lambda pair: pair[0])
    if share >= _HALF:
        return failed(f"{100 * share:.0f} % of its cores until {moment(when.minute_ms)}")
    return passed(f"at most {100 * share:.0f} % of its cores")


LINE_GUARDS: Final = (
    Guard("newest-line", f"The newest line is at most {NEWEST_MINUTES} minutes old.", _newest_line),
    Guard("whole-hour", f"Each of the {HOUR_MINUTES} minutes up to it is whole.", _whole_hour),
    Guard("known-cores", "Every core of the instance is known in each of them.", _known_cores),
    Guard("idle-cores", f"Every core has been idle for {HOUR_MINUTES} minutes.", _idle_cores),
    Guard("no-holder", "Nobody has held a core in the hour.", _no_holder),
    Guard(
        "host-cpu",
        f"HostCpuPercent is there and under {MOST_HOST_CPU_PERCENT:.0f} in each minute.",
        _host_cpu,
    ),
    Guard("not-sunk", "The instance is not paid for even if it is stopped.", _not_sunk),
    Guard("one-emitter", "One emitter alone writes its lines.", _one_emitter),
    Guard(
        "coverage",
        f"Coverage of its cluster is at least {LEAST_COVERAGE_PERCENT:.0f} %.",
        _coverage,
    ),
    Guard(
        "no-fleet-change",
        f"Not half of its cluster turned idle within {TOGETHER_MINUTES} minutes of the hour.",
        _no_fleet_change,
    ),
)
"""In the order in which they are shown."""
