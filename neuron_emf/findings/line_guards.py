"""
What log lines must say of an instance before it may be given back.

A judgement that cannot be made is unknown, and unknown never passes. Each guard looks at the
whole hour up to the newest line, at each raw record of it: what was so a few minutes ago, or
before a restart, may be so again.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from neuron_emf.checks import Check, CheckResult, failed, judged, ok, unknown
from neuron_emf.findings.facts import HOUR_MINUTES, AccountFacts, Ec2Facts, LineFacts
from neuron_wire.findings import LEAST_COVERAGE_PERCENT, MOST_HOST_CPU_PERCENT
from neuron_wire.instance_types import INSTANCE_TYPES
from neuron_wire.merging import MAX_RESTART_COVERED_S
from neuron_wire.names import ATTACHED_IDLE, BUSY, MINUTE_MS, WHOLE_MINUTE_S
from neuron_wire.names import UNKNOWN as UNKNOWN_CORE
from neuron_wire.payment import is_sunk
from neuron_wire.phrases import counted, duration, moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from neuron_emf.now_lines import Rollup

NEWEST_MINUTES: Final = 5
"""So old may the newest line be."""

TOGETHER_MINUTES: Final = 10
"""Half of a cluster that turns idle within so many minutes waits for one thing."""

_TOGETHER_MS: Final = TOGETHER_MINUTES * MINUTE_MS
_AHEAD_MS: Final = MINUTE_MS  # clocks differ
_HALF: Final = 0.5


def _newest_line(lines: LineFacts, _: AccountFacts) -> CheckResult:
    age_ms = lines.now_ms - lines.newest.minute_ms - MINUTE_MS
    if age_ms < -_AHEAD_MS:
        return failed(f"{duration(-age_ms / MINUTE_MS)} in the future")
    if lines.newest.bye:
        return failed("the emitter has shut down")
    return judged(
        age_ms <= NEWEST_MINUTES * MINUTE_MS, f"{duration(max(0, age_ms) / MINUTE_MS)} old"
    )


def _whole_hour(lines: LineFacts, _: AccountFacts) -> CheckResult:
    whole = sum(seconds >= WHOLE_MINUTE_S for seconds in lines.covered_seconds().values())
    return judged(whole == HOUR_MINUTES, f"{whole} of {HOUR_MINUTES}")


def _readable(lines: LineFacts, _: AccountFacts) -> CheckResult:
    if lines.unreadable:
        return unknown(f"{counted(lines.unreadable, 'line')} of another form or a newer release")
    return ok("all")


def _known_cores(lines: LineFacts, _: AccountFacts) -> CheckResult:
    kind = INSTANCE_TYPES.get(lines.newest.instance_type or "")
    if kind is None:
        return unknown(f"instance type {lines.newest.instance_type or 'not told'}")
    # The part of a minute in which an emitter had no time to see anything tells nothing.
    states = [one.core_state for one in lines.records if one.covered_seconds] or [""]
    least = min(len(state) - state.count(UNKNOWN_CORE) for state in states)
    most = max(kind.cores, *map(len, states))
    return judged(least == most, f"{least} of {most}")


def _idle_cores(lines: LineFacts, _: AccountFacts) -> CheckResult:
    for one in reversed(lines.records):
        if BUSY in one.core_state:
            return failed(f"a core busy at {moment(one.minute_ms)}")
    newest = [one for one in lines.records if one.minute_ms == lines.newest.minute_ms]
    idle = min(min(one.idle_minutes, default=0) for one in newest)
    return judged(idle >= HOUR_MINUTES, f"all idle for {duration(idle)}")


def _no_holder(lines: LineFacts, _: AccountFacts) -> CheckResult:
    for one in reversed(lines.records):
        names = [*filter(None, (holder.name for holder in one.holders))]
        names += [owner.name for owner in one.owners]
        hidden = one.holders or one.holders_more or one.owners_more
        if names or hidden or ATTACHED_IDLE in one.core_state:
            who = names[0] if names else "a process without a name"
            return failed(f"{who} at {moment(one.minute_ms)}")
    return ok("nobody")


def _host_cpu(lines: LineFacts, _: AccountFacts) -> CheckResult:
    percents = [(one.number("HostCpuPercent"), one.covered_seconds) for one in lines.records]
    told = [percent for percent, _ in percents if percent is not None]
    untold = sum(percent is None and covered_s > 0 for percent, covered_s in percents)
    if untold or not told:
        return unknown(f"not told in {counted(untold, 'line')}")
    return judged(max(told) < MOST_HOST_CPU_PERCENT, f"at most {max(told):.1f} %")


def _not_sunk(lines: LineFacts, _: AccountFacts) -> CheckResult:
    record = lines.newest
    is_paid = any(is_sunk(one, lines.paid_by_type) for one in lines.records)
    said = record.paid or record.lifecycle or record.instance_type or "not told"
    return judged(not is_paid, f"{said}: {'paid even if stopped' if is_paid else 'avoidable'}")


def _one_emitter(lines: LineFacts, _: AccountFacts) -> CheckResult:
    covered, hour = lines.covered_seconds(), lines.hour_rollups()
    twice = [
        *lines.conflicts,
        *(at for at, seconds in covered.items() if seconds > MAX_RESTART_COVERED_S),
        *(one.minute_ms for one in hour if lines.instance_id in one.duplicates),
    ]
    if twice:
        return failed(f"two at {moment(max(twice))}")
    for one in hour:
        if one.gauges.get("DuplicateEmitters", 0) > len(one.duplicates):
            return unknown(f"the rollup of {moment(one.minute_ms)} names not all that have two")
    return ok("one")


def _coverage(lines: LineFacts, _: AccountFacts) -> CheckResult:
    percents = [one.gauges.get("CoveragePercent") for one in lines.hour_rollups()]
    told = [percent for percent in percents if percent is not None]
    if not told or len(told) < len(percents):
        return unknown(f"no rollup of cluster {lines.newest.cluster} tells it")
    return judged(min(told) >= LEAST_COVERAGE_PERCENT, f"at least {min(told):.1f} %")


def _turned_idle(lines: LineFacts, minutes: Sequence[Rollup]) -> Iterator[tuple[float, Rollup]]:
    """
    Share of the cores that stopped being busy from each minute to those within ten of it.

    Of the other instances alone, where this one is half of its cluster and fell then.
    """
    own_cores, start = len(lines.newest.core_state), lines.idle_start
    for index, first in enumerate(minutes):
        for later in minutes[index:]:
            if later.minute_ms > first.minute_ms + _TOGETHER_MS:
                break
            cores = first.gauges["NeuronCores"]
            fall = first.gauges["BusyCores"] - later.gauges["BusyCores"]
            falls_too = start and first.minute_ms < start.minute_ms <= later.minute_ms
            if start and falls_too and 2 * own_cores >= cores:
                cores -= own_cores
                fall -= start.busy_cores.get(first.minute_ms, 0)
            yield (fall / cores if cores > 0 else 0.0), later


def _missing(lines: LineFacts, account: AccountFacts, known: Sequence[Rollup]) -> str:
    """Since when or for how long a rollup is missing that is needed; empty where none is."""
    start, minutes = lines.idle_start, {one.minute_ms for one in known}
    if start is None:
        return "for its idle start"
    first_ms = start.minute_ms - _TOGETHER_MS
    if isinstance(account.ec2, Ec2Facts) and account.ec2.launched_ms > first_ms - MINUTE_MS:
        # Before its first line it did no work, and its cluster may be as new.
        first_ms = max(first_ms, min(start.busy_cores, default=start.minute_ms))
    for minute_ms in range(first_ms, start.minute_ms + _TOGETHER_MS + 1, MINUTE_MS):
        if minute_ms not in minutes:
            return f"at {moment(minute_ms)}"
    hour = sorted(minute_ms for minute_ms in minutes if minute_ms >= lines.start_ms)
    times = [lines.start_ms, *hour, lines.now_ms]
    gap_ms = max(after - before for before, after in pairwise(times))
    return f"for {duration(gap_ms / MINUTE_MS)}" if gap_ms > _TOGETHER_MS else ""


def _no_fleet_change(lines: LineFacts, account: AccountFacts) -> CheckResult:
    known = [
        one
        for one in lines.cluster_minutes
        if one.gauges.get("NeuronCores") and "BusyCores" in one.gauges
    ]
    falls = _turned_idle(lines, known)
    share, when = max(falls, key=lambda pair: pair[0], default=(0.0, None))
    if when and share >= _HALF:
        return failed(f"{100 * share:.0f} % of its cores until {moment(when.minute_ms)}")
    missing = _missing(lines, account, known)
    if missing:
        return unknown(f"no rollup of cluster {lines.newest.cluster} {missing}")
    return ok(f"at most {100 * share:.0f} % of its cores")


LINE_GUARDS: Final = (
    Check("newest-line", f"The newest line is at most {NEWEST_MINUTES} minutes old.", _newest_line),
    Check("whole-hour", f"Each of the {HOUR_MINUTES} minutes up to it is whole.", _whole_hour),
    Check("readable", "Every line of it and of its cluster can be read.", _readable),
    Check("known-cores", "Every core of the instance is known in each of them.", _known_cores),
    Check("idle-cores", f"Every core has been idle for {HOUR_MINUTES} minutes.", _idle_cores),
    Check("no-holder", "Nobody has held a core in the hour.", _no_holder),
    Check("host-cpu",
          f"HostCpuPercent is there and under {MOST_HOST_CPU_PERCENT:.0f} in each minute.",
          _host_cpu),
    Check("not-sunk", "The instance is not paid for even if it is stopped.", _not_sunk),
    Check("one-emitter", "One emitter alone writes its lines.", _one_emitter),
    Check("coverage",
          f"Coverage of its cluster is at least {LEAST_COVERAGE_PERCENT:.0f} % in the hour.",
          _coverage),
    Check("no-fleet-change",
          f"Not half of its cluster turned idle within {TOGETHER_MINUTES} minutes, in the hour or "
          "as it did.", _no_fleet_change),
)  # fmt: skip
