"""
The checks of log lines that an instance must pass before its release.

A guard that cannot decide is unknown, and unknown never passes. Each guard looks at every raw
record of the hour up to the newest line: what happened a few minutes ago, or before a restart,
may happen again. What must be shown is shown by records of its own log stream alone; records of
other log streams can only fail a guard.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from neuron_accounts.findings import LEAST_COVERAGE_PERCENT, MOST_HOST_VCPUS
from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_accounts.payment import is_committed
from neuron_emf.check_results import (
    CheckResult,
    checks_of,
    failed,
    judged,
    not_tried,
    ok,
    unknown,
    warning,
)
from neuron_emf.cost.tariff import TABLES
from neuron_emf.verdict.verdict_facts import (
    LEAST_MINUTES_READ,
    AccountFacts,
    Ec2Facts,
    LineFacts,
    Unknown,
    require_known,
)
from neuron_wire.merging import MAX_RESTART_COVERED_S
from neuron_wire.names import (
    ATTACHED_IDLE_STATE,
    BUSY_STATE,
    MINUTE_MS,
    UNKNOWN_STATE,
    WHOLE_MINUTE_S,
)
from neuron_wire.owners import UNNAMED_OWNER
from neuron_words.name_words import MAX_NAME_WORDS_CHARS, safe_name
from neuron_words.now_words import unknown_words, use_of
from neuron_words.quantity_words import counted, coverage_words, duration, moment, share_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from neuron_emf.reading.rollup_lines import PublishedRollup
    from neuron_wire import MinuteRecord

    Judge = Callable[[LineFacts, AccountFacts], CheckResult]

NEWEST_MINUTES: Final = 5
"""The maximum age of the newest line."""

IDLE_TOGETHER_MINUTES: Final = 10
"""If half of a cluster turns idle within this time, it probably waits for one thing."""

_TOGETHER_MS: Final = IDLE_TOGETHER_MINUTES * MINUTE_MS
_MAX_MINUTES_AHEAD: Final = 1  # clocks differ
_HALF: Final = 0.5


def _newest_line(lines: LineFacts, _: AccountFacts) -> CheckResult:
    age = (lines.now_ms - lines.newest.minute_ms) / MINUTE_MS - 1
    if age < -_MAX_MINUTES_AHEAD:
        return failed(f"the newest line is {duration(-age)} in the future")
    if lines.newest.is_clean_shutdown:
        return failed("the emitter has shut down")
    if lines.lines.received_ms is None:
        return unknown("CloudWatch Logs did not report when it received the newest line")
    received_age = (lines.now_ms - lines.lines.received_ms) / MINUTE_MS
    if received_age < -_MAX_MINUTES_AHEAD - 1:
        return failed("CloudWatch Logs received the newest line in the future: correct this clock")
    if age <= NEWEST_MINUTES < received_age:
        return failed(f"CloudWatch Logs received the newest line {duration(received_age)} ago")
    return judged(age <= NEWEST_MINUTES, f"the newest line is {duration(max(0, age))} old")


def _other_streams(lines: LineFacts, _: AccountFacts) -> CheckResult:
    if lines.lines.elsewhere is None:
        return not_tried("other log streams were not read")
    for stream, records in sorted(lines.lines.elsewhere.items()):
        times = [record.minute_ms for record in records if record.minute_ms >= lines.start_ms]
        if times:
            name = safe_name(stream, MAX_NAME_WORDS_CHARS)
            return failed(f"log stream {name} has lines about it at {moment(max(times))}")
    return ok("none")


def _whole_hour(lines: LineFacts, _: AccountFacts) -> CheckResult:
    whole = sum(seconds >= WHOLE_MINUTE_S for seconds in lines.covered_seconds().values())
    return judged(
        whole == LEAST_MINUTES_READ, f"{whole} of {LEAST_MINUTES_READ} minutes are complete"
    )


def _readable(lines: LineFacts, _: AccountFacts) -> CheckResult:
    unreadable = lines.lines.unreadable + lines.unreadable_rollups
    if unreadable:
        return unknown(f"{counted(unreadable, 'line')} in another form or of a newer release")
    return ok("all")


def _known_cores(lines: LineFacts, _: AccountFacts) -> CheckResult:
    known_type = INSTANCE_TYPES.get(lines.newest.instance_type or "")
    if known_type is None:
        return unknown(f"instance type {lines.newest.instance_type or 'not reported'}")
    # A part of a minute without covered seconds shows nothing about cores.
    covered = [record for record in lines.records if record.covered_seconds]
    most = max([known_type.cores, *(len(record.core_state) for record in covered)])
    if not covered:
        return failed(f"{most} of {most} cores are known")
    worst = min(covered, key=lambda record: record.known_cores)
    if unknown_cores := worst.core_state.count(UNKNOWN_STATE):
        by_reason = {worst.unknown_reason: unknown_cores} if worst.unknown_reason else {}
        return failed(unknown_words(unknown_cores, by_reason, f" at {moment(worst.minute_ms)}"))
    return judged(worst.known_cores == most, f"{worst.known_cores} of {most} cores are known")


def _idle_cores(lines: LineFacts, _: AccountFacts) -> CheckResult:
    for record in reversed(lines.records):
        is_busy = BUSY_STATE in record.core_state
        if is_busy or record.has_executions:
            sentence = "a core was busy" if is_busy else "something executed"
            return failed(f"{sentence} at {moment(record.minute_ms)}")
    idle = lines.idle_minutes
    return judged(idle >= LEAST_MINUTES_READ, f"idle for {duration(idle)}")


def _holders(record: MinuteRecord) -> list[str]:
    names = [holder.name or UNNAMED_OWNER for holder in record.holders]
    names += [owner.name for owner in record.owners if owner.cores]
    hidden = record.holders_more or record.owners_more or ATTACHED_IDLE_STATE in record.core_state
    return names or [UNNAMED_OWNER] * bool(hidden)


def _reservers(record: MinuteRecord) -> list[str]:
    names = [owner.name for owner in record.owners if owner.reserved]
    return names or [UNNAMED_OWNER] * bool(record.reserved)


def _none_of(names_of: Callable[[MinuteRecord], list[str]], did: str) -> Judge:
    def judge(lines: LineFacts, _: AccountFacts) -> CheckResult:
        for record in reversed(lines.records):
            if names := names_of(record):
                return failed(f"{names[0]} {did} at {moment(record.minute_ms)}")
        return ok("none did")

    return judge


def _reservations_known(lines: LineFacts, _: AccountFacts) -> CheckResult:
    for record in reversed(lines.records):
        if record.covered_seconds and record.is_allocation_unknown:
            return unknown(f"reservations are unknown at {moment(record.minute_ms)}")
    return ok("read in each minute")


def _siblings(lines: LineFacts, _: AccountFacts) -> CheckResult:
    """Check that no sibling works: a rank that waits in a collective is not waste."""
    names = {owner.name for owner in lines.newest.owners} - {UNNAMED_OWNER}
    idle_names = {owner.name for owner in lines.newest.owners if owner.quiet_minutes} & names
    rows = {row.owner: row for row in lines.cluster_owners}
    for name in sorted(names & rows.keys()):
        row = rows[name]
        siblings = row.siblings or 0
        working = siblings - (row.idle_siblings or 0)
        if row.busy or row.executions:
            return failed(f"{name} works in the cluster: it {use_of(row) or 'executes'}")
        if working > 0:
            return failed(f"{name} may wait for its siblings: {working} of {siblings} work")
    if missing := sorted(idle_names - rows.keys()):
        return unknown(f"no rollup reports what {missing[0]} does elsewhere")
    return ok("none works" if idle_names else "it has no idle owner")


def _host_cpu(lines: LineFacts, account: AccountFacts) -> CheckResult:
    """Check the host CPU: compilers and data loaders use it without using a core."""
    percents = [
        record.number("HostCpuPercent")
        for record in lines.records
        if record.covered_seconds or record.number("HostCpuPercent") is not None
    ]
    known = [percent for percent in percents if percent is not None]
    if not known or len(known) < len(percents):
        result = unknown("HostCpuPercent is not reported in each minute")
    else:
        vcpus = require_known(account.type_facts).vcpus
        working = max(known) * vcpus / 100
        sentence = f"{working:.3g} of {vcpus} vCPUs are busy"
        if working < MOST_HOST_VCPUS:
            return ok(sentence)
        result = failed(f"{sentence}: the instance may be compiling")
    if isinstance(account.manager, Unknown) or not account.manager.places_work:
        return result
    return warning(result.found, "Look again once nothing is placed on it.")


def _not_committed(lines: LineFacts, _: AccountFacts) -> CheckResult:
    record = lines.newest
    is_paid = any(is_committed(record, lines.paid_by_type) for record in lines.records)
    payment_name = record.paid or record.lifecycle or record.instance_type or "not reported"
    words = "paid even if stopped" if is_paid else "avoidable"
    return judged(not is_paid, f"{payment_name}: {words}")


def _one_emitter(lines: LineFacts, _: AccountFacts) -> CheckResult:
    clusters = sorted({record.cluster for record in lines.records})
    if len(clusters) > 1:
        names = " and ".join(safe_name(name, MAX_NAME_WORDS_CHARS) for name in clusters[:2])
        return failed(f"its lines name {counted(len(clusters), 'cluster')}: {names}")
    covered = lines.covered_seconds()
    hour = lines.hour_rollups()
    twice = [
        *(at for at in lines.lines.minutes_of_two() if at >= lines.start_ms),
        *(at for at, seconds in covered.items() if seconds > MAX_RESTART_COVERED_S),
        *(
            rollup.minute_ms
            for rollup in hour
            if lines.instance_id in rollup.duplicates | rollup.in_other_clusters
        ),
    ]
    if twice:
        return failed(f"two emitters at {moment(max(twice))}")
    for rollup in hour:
        unnamed = rollup.gauges.get("DuplicateEmitters", 0) > len(rollup.duplicates)
        others = rollup.gauges.get("InstancesInOtherClusters", 0)
        if unnamed or others > len(rollup.in_other_clusters):
            minute = moment(rollup.minute_ms)
            return unknown(f"the rollup of {minute} lists only some instances with two emitters")
    return ok("one")


def _coverage(lines: LineFacts, _: AccountFacts) -> CheckResult:
    percents = [rollup.gauges.get("CoveragePercent") for rollup in lines.hour_rollups()]
    known = [percent for percent in percents if percent is not None]
    if not known or len(known) < len(percents):
        return unknown(f"no rollup of cluster {lines.newest.cluster} reports it")
    sentence = f"the lowest coverage of its cluster is {coverage_words(min(known))}"
    return judged(min(known) >= LEAST_COVERAGE_PERCENT, sentence)


def _turned_idle(
    lines: LineFacts, minutes: Sequence[PublishedRollup]
) -> Iterator[tuple[float, PublishedRollup]]:
    """
    Yield the share of cores that turned idle between each minute and those within ten of the next.

    The next one is the first in which they can be idle. If this instance is half of its cluster and
    turned idle then, only the others are counted.
    """
    own_cores = len(lines.newest.core_state)
    start = lines.idle_start
    for index, first in enumerate(minutes):
        for later in minutes[index:]:
            if later.minute_ms > first.minute_ms + MINUTE_MS + _TOGETHER_MS:
                break
            cores = first.gauges["NeuronCores"]
            fall = first.gauges["BusyCores"] - later.gauges["BusyCores"]
            falls_too = start and first.minute_ms < start.minute_ms <= later.minute_ms
            if start and falls_too and 2 * own_cores >= cores:
                cores -= own_cores
                fall -= start.busy_cores.get(first.minute_ms, 0)
            yield (fall / cores if cores > 0 else 0.0), later


def _missing(lines: LineFacts, account: AccountFacts, known: Sequence[PublishedRollup]) -> str:
    """Return when or how long a required rollup is missing; empty if none is."""
    start = lines.idle_start
    minutes = {rollup.minute_ms for rollup in known}
    if start is None:
        return "for its idle start"
    first_ms = start.minute_ms - _TOGETHER_MS - MINUTE_MS
    if isinstance(account.ec2, Ec2Facts) and account.ec2.launched_ms > first_ms - MINUTE_MS:
        # Before its first line it did no work, and its cluster may be just as new.
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
        rollup
        for rollup in lines.cluster_minutes
        if rollup.gauges.get("NeuronCores") and "BusyCores" in rollup.gauges
    ]
    falls = _turned_idle(lines, known)
    share, when = max(falls, key=lambda pair: pair[0], default=(0.0, None))
    if when and share >= _HALF:
        sentence = f"{share_words(100 * share)} of its cluster's cores turned idle"
        return failed(
            f"{sentence} within {IDLE_TOGETHER_MINUTES} min, until {moment(when.minute_ms)}"
        )
    missing = _missing(lines, account, known)
    if missing:
        return unknown(f"no rollup of cluster {lines.newest.cluster} {missing}")
    return ok(f"at most {share_words(100 * share)} of its cluster's cores turned idle together")


LINE_GUARDS: Final = checks_of(
    TABLES["guards"]["lines"],
    {
        "newest-line": _newest_line,
        "siblings": _siblings,
        "idle-cores": _idle_cores,
        "no-holder": _none_of(_holders, "held cores"),
        "no-reservation": _none_of(_reservers, "had cores reserved"),
        "reservations-known": _reservations_known,
        "whole-hour": _whole_hour,
        "known-cores": _known_cores,
        "readable": _readable,
        "host-cpu": _host_cpu,
        "not-committed": _not_committed,
        "one-emitter": _one_emitter,
        "other-streams": _other_streams,
        "coverage": _coverage,
        "no-fleet-change": _no_fleet_change,
    },
    newest=NEWEST_MINUTES,
    hour=LEAST_MINUTES_READ,
    vcpus=MOST_HOST_VCPUS,
    coverage=LEAST_COVERAGE_PERCENT,
    together=IDLE_TOGETHER_MINUTES,
)
