"""The findings about cores that do nothing: which, for how long, held by whom, at what price."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from aggregator.explain.finding import MAX_INSTANCES, AlarmFinding, Step, instance
from aggregator.explain.foreign_text import name
from aggregator.explain.idle_instances import (
    NO_PRICE,
    cores_of,
    listed,
    steps,
    team_mark,
    who,
)
from aggregator.explain.subject import IDLE_CORES, UTILIZATION
from neuron_wire import phrases
from neuron_wire.core_owners import MICRO
from neuron_wire.names import NOBODY
from neuron_wire.now import cluster_now
from neuron_wire.phrases import amount, counted, duration, percent, usd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aggregator.explain.evidence import ClusterEvidence
    from aggregator.explain.finding import Case
    from aggregator.explain.members import Members
    from neuron_wire.now import ClusterNow, IdleOwner

MAX_OWNERS: Final = 5
_LONGEST_BASIS: Final = 300
_SLOW_FIRST: Final = "Slow for their type, then most idle cores first:"
_NONE_KNOWN: Final = "The last rollup has no known core of this cluster."


def idle_cores(case: Case) -> AlarmFinding:
    """How many cores are idle, and which."""
    figure = phrases.idle_words(case.now)
    if figure:
        cost = phrases.per_hour(case.now.cost)
        figure += f" idle{f', {cost}' if cost else NO_PRICE if case.now.unpriced else ''}"
    entries = case.rollup.entries("TopIdleInstances")
    return _finding(case, figure or IDLE_CORES.title, "Most idle", entries)


def idle_cost(case: Case) -> AlarmFinding:
    """The same, with the price first, and the dearest of those that the rollup names."""
    if case.now.cost is None:
        return idle_cores(case)
    entries = case.rollup.entries("TopIdleInstances")
    entries.sort(key=lambda one: -(one.number("UsdPerHour") or 0))
    figure = f"idle cores cost {phrases.per_hour(case.now.cost)}"
    return _finding(case, figure, "Most expensive idle", entries)


def utilization(case: Case) -> AlarmFinding:
    """How little the known cores do, and which instances hold the others up."""
    rollup, finding, now = case.rollup, idle_cores(case), case.now
    mean = _mean(rollup, now)
    stragglers = rollup.entries("StragglerInstances")
    slow = tuple(
        f"{instance(one)}: busy cores at "
        f"{percent(one.number('BusyUtilization') or 0)}, the median of its type "
        f"{percent(one.number('TypeMedian') or 0)}"
        for one in stragglers[:MAX_INSTANCES]
    )
    wait = Step(
        "Check for a bottleneck on the host. The query below shows, per "
        "instance, how long an execution waits outside the device and how busy "
        "the host is."
    )
    percents = percent(rollup.number("NeuronCoreUtilization") or 0)
    figure = f"utilization {percents} over {counted(now.known or 0, 'core')}"
    return replace(
        finding,
        figure=figure if mean else UTILIZATION.title,
        worst=f"Slow: {instance(stragglers[0])}" if stragglers else finding.worst,
        sentences=tuple(dict.fromkeys((*mean, *finding.sentences))),
        list_title=_SLOW_FIRST if slow else finding.list_title,
        listed=(*slow, *finding.listed),
        steps=(*finding.steps, wait),
        brief=tuple(dict.fromkeys((*mean, *finding.brief))),
    )


def cost_today(evidence: ClusterEvidence) -> tuple[str, ...]:
    """What idle cores have cost today, if anything was published with a price."""
    today = evidence.cost_today
    if today is None:
        return ()
    basis = "" if evidence.rollup is None else _basis(cluster_now(evidence.rollup.given))
    marks = ["UTC", *([basis] if basis else []), f"{counted(today.minutes, 'minute')} published"]
    sentence = f"Idle cores have cost {usd(today.usd)} so far today ({'; '.join(marks)})."
    return (sentence,)


def _finding(case: Case, figure: str, order: str, entries: list[Members]) -> AlarmFinding:
    """
    What every message about idle cores says: the idle of the known, their cost, the utilization.

    One message tells all alarms on them, so each of the three stands in each.
    """
    now, today, said = case.now, cost_today(case.evidence), phrases.idle_words(case.now)
    if not said:
        return AlarmFinding(figure, sentences=(_NONE_KNOWN, *today), brief=(_NONE_KNOWN, *today))
    longest = max((one.number("IdleMinutes") or 0 for one in entries), default=0)
    sentence = (
        f"{said} {'has' if now.idle == 1 else 'have'} not been busy for {case.idle_after_minutes}"
        f" minutes or more{f', the longest for {duration(longest)}' if longest else ''}."
    )
    price, mean = tuple(_price_now(now)), _mean(case.rollup, now)
    return AlarmFinding(
        figure=figure,
        worst=_worst(now, entries),
        sentences=(
            sentence,
            *price,
            *(_parts(now) if price else ()),
            *today,
            *_unpriced(now),
            *mean,
            *_letters(case.rollup),
            *_left_out(now),
        ),
        owners=_owners(now),
        list_title=f"{order} cores first:",
        listed=listed(case, entries),
        steps=tuple(steps(case, entries)),
        brief=(sentence, *price, *today, *mean),
    )


def _mean(rollup: Members, now: ClusterNow) -> tuple[str, ...]:
    """How little the known cores do, if any is known."""
    mean, half, nine_tenths = (
        rollup.number(f"NeuronCoreUtilization{one}") for one in ("", "P50", "P90")
    )
    if mean is None:
        return ()
    spread = (
        ""
        if half is None or nine_tenths is None
        else f"; median {percent(half)}, 90th percentile {percent(nine_tenths)}"
    )
    known = counted(now.known or 0, "known core")
    return (f"Mean utilization of {known}: {percent(mean)}{spread}.",)


def _price_now(now: ClusterNow) -> Iterator[str]:
    """What idle cores cost, where there are any and they have a price."""
    if now.cost is not None and now.idle:
        basis = _basis(now)
        yield f"They cost {phrases.per_hour(now.cost)}{f' ({basis})' if basis else ''}."


def _unpriced(now: ClusterNow) -> tuple[str, ...]:
    """What is in no amount."""
    said = phrases.unpriced_words(now, MAX_INSTANCES)
    line = phrases.price_overrides_line(now.unpriced_types)
    advice = f" Set {line}." if line else ""
    return (f"{said}: not in any amount or in the idle-cost alarm.{advice}",) if said else ()


def _parts(now: ClusterNow) -> Iterator[str]:
    """What of the cost ends when instances stop, and what to do about the rest."""
    if now.avoidable is None:  # a rollup of an older stack
        return
    if now.avoidable:
        told = [phrases.wholly_idle_words(now), phrases.avoidable_parts_words(now)]
        instances, parts = (one or "not told" for one in told)
        yield (
            f"Avoidable: at most {phrases.per_hour(now.avoidable)}, by stopping {instances};"
            f" {parts}."
        )
    else:
        yield "Avoidable: nothing. No wholly idle instance would cost less if stopped."
    if now.shared:
        yield (
            f"Shared: {phrases.per_hour(now.shared)}, for idle cores on instances that do work. "
            "Pack it onto fewer instances."
        )
    if now.sunk:
        yield (
            f"Sunk: {phrases.per_hour(now.sunk)}, paid whether or not the instances run. Give "
            "them work; stopping them saves nothing."
        )


def _basis(now: ClusterNow) -> str:
    """By which prices the amounts are; a rollup of an older stack names no region."""
    return name(now.basis, _LONGEST_BASIS)


def _letters(rollup: Members) -> tuple[str, ...]:
    letters = ("BusyCores", "AttachedIdleCores", "UnattachedCores")
    busy, attached, unattached = (rollup.number(one) for one in letters)
    if busy is None or attached is None or unattached is None:
        return ()
    sentence = (
        f"In that minute {amount(busy)} cores were busy, {amount(attached)} attached idle (held,"
        f" not used) and {amount(unattached)} unattached (held by nobody)."
    )
    return (sentence,)


def _left_out(now: ClusterNow) -> tuple[str, ...]:
    parts = [f"{counted(now.unknown, 'core')} without telemetry"] if now.unknown else []
    parts += [f"the cores of {counted(now.silent, 'silent instance')}"] if now.silent else []
    return (f"Not counted here: {' and '.join(parts)}.",) if parts else ()


def _owners(now: ClusterNow) -> tuple[str, ...]:
    """Who holds the idle cores of the whole cluster, most cost first."""
    lines = []
    for row in now.owners[:MAX_OWNERS]:
        uses, cost = phrases.use_of(row), phrases.per_hour(row.cost)
        where = "" if row.instances is None else f" on {counted(row.instances, 'instance')}"
        since = "" if row.minutes is None else f", up to {duration(row.minutes)} idle"
        cores = counted(row.idle / MICRO, "idle core" if uses else "core")
        price = f", {cost}" if cost else NO_PRICE
        lines.append(f"{_owner(row)}{f' {uses}' if uses else ''}: {cores}{where}{since}{price}")
    more = len(now.owners) - len(lines)
    return (*lines, *([f"and {counted(more, 'more row')} in TopIdleOwners"] if more > 0 else []))


def _owner(row: IdleOwner) -> str:
    none = phrases.NO_OWNERS.get(row.owner)
    return none or name(row.owner) + team_mark(name(row.team) if row.team else None)


def _worst(now: ClusterNow, entries: list[Members]) -> str:
    """Who holds most of the idle cores, or where most of them are when nobody does."""
    owners = now.owners
    if owners and owners[0].owner not in NOBODY:
        first, uses = owners[0], phrases.use_of(owners[0])
        cores = counted(first.idle / MICRO, "core")
        idle_for = duration(first.minutes or 0)
        return f"Most: {_owner(first)} {f'{uses}, ' if uses else ''}{cores} idle for {idle_for}"
    if not entries:
        return ""
    worst = entries[0]
    idle_for = duration(worst.number("IdleMinutes") or 0)
    holders = worst.entries("Holders")
    held = f", held by {who(holders[0])}" if holders else ""
    return f"Most: {worst.text('InstanceId')} {cores_of(worst, 'Cores')} for {idle_for}{held}"
