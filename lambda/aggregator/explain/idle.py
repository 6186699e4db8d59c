"""The findings about cores that do nothing: which, for how long, held by whom, at what price."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from aggregator.explain import commands
from aggregator.explain.finding import (
    MAX_INSTANCES,
    AlarmFinding,
    Case,
    Step,
    and_more,
    instance,
    instances_of,
)
from aggregator.explain.foreign_text import name
from aggregator.explain.subject import IDLE_CORES, UTILIZATION
from neuron_wire.errors import WireFormatError
from neuron_wire.holders import core_indexes
from neuron_wire.instance_types import INSTANCE_TYPES
from neuron_wire.names import NOBODY, NOT_TOLD_OWNER, OTHER_OWNERS, UNALLOCATED_OWNER
from neuron_wire.owners import UNNAMED
from neuron_wire.phrases import (
    amount,
    counted,
    duration,
    holder_marks,
    is_executing_at,
    joined,
    percent,
    usd,
    use_words,
)
from neuron_wire.prices import basis_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aggregator.explain.evidence import ClusterEvidence
    from aggregator.explain.members import Members

MAX_HOLDERS: Final = 4  # named of one instance
MAX_OWNERS: Final = 5
_LONGEST_CORES: Final = 120  # characters of a list of core ranges
_KNOWN: Final = ("BusyCores", "AttachedIdleCores", "UnattachedCores")
_UNNAMED: Final = "an unnamed process"
_NO_PRICE: Final = ", no price"
_NO_NAMES: Final = {
    UNALLOCATED_OWNER: "held by nobody",
    OTHER_OWNERS: "all other owners",
    NOT_TOLD_OWNER: "owners not reported by older emitters",
    UNNAMED: "unnamed processes",
}
_NONE_KNOWN: Final = "The last rollup has no known core of this cluster."


def idle_cores(case: Case) -> AlarmFinding:
    """How many cores are idle, and which."""
    rollup = case.rollup
    idle, per_hour = rollup.number("IdleCores"), rollup.number("IdleCostPerHour")
    figure = f"{amount(idle or 0)} of {counted(_known(rollup), 'core')} idle"
    if per_hour is not None:
        figure += f", {usd(per_hour)}/h"
    elif rollup.number("UnpricedCores"):
        figure += _NO_PRICE
    entries = rollup.entries("TopIdleInstances")
    return _finding(case, figure if idle is not None else IDLE_CORES.title, "Most idle", entries)


def idle_cost(case: Case) -> AlarmFinding:
    """The same, with the price first, and the dearest of those that the rollup names."""
    per_hour = case.rollup.number("IdleCostPerHour")
    if per_hour is None:
        return idle_cores(case)
    entries = sorted(
        case.rollup.entries("TopIdleInstances"), key=lambda one: -(one.number("UsdPerHour") or 0)
    )
    return _finding(case, f"idle cores cost {usd(per_hour)}/h", "Most expensive idle", entries)


def utilization(case: Case) -> AlarmFinding:
    """How little the known cores do, and which instances hold the others up."""
    rollup, mean, idle = case.rollup, _mean(case.rollup), idle_cores(case)
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
    figure = f"utilization {percents} over {counted(_known(rollup), 'core')}"
    return replace(
        idle,
        figure=figure if mean else UTILIZATION.title,
        worst=f"Slow: {instance(stragglers[0])}" if stragglers else idle.worst,
        sentences=tuple(dict.fromkeys((*mean, *idle.sentences))),
        list_title="Slow for their type, then most idle cores first:" if slow else idle.list_title,
        listed=(*slow, *idle.listed),
        steps=(*idle.steps, wait),
        brief=tuple(dict.fromkeys((*mean, *idle.brief))),
    )


def cost_today(evidence: ClusterEvidence) -> tuple[str, ...]:
    """What idle cores have cost today, if anything was published with a price."""
    today = evidence.cost_today
    if today is None:
        return ()
    basis = "" if evidence.rollup is None else _basis(evidence.rollup)
    marks = ["UTC", *([basis] if basis else []), f"{counted(today.minutes, 'minute')} published"]
    sentence = f"Idle cores have cost {usd(today.usd)} so far today ({'; '.join(marks)})."
    return (sentence,)


def _finding(case: Case, figure: str, order: str, entries: list[Members]) -> AlarmFinding:
    """
    What every message about idle cores says: the idle of the known, their cost, the utilization.

    One message tells all alarms on them, so each of the three stands in each.
    """
    rollup, today = case.rollup, cost_today(case.evidence)
    idle, share = rollup.number("IdleCores"), rollup.number("IdleCorePercent")
    if idle is None:
        return AlarmFinding(figure, sentences=(_NONE_KNOWN, *today), brief=(_NONE_KNOWN, *today))
    longest = max((one.number("IdleMinutes") or 0 for one in entries), default=0)
    sentence = (
        f"{amount(idle)} of {counted(_known(rollup), 'known core')}"
        f"{'' if share is None else f' ({percent(share)})'} {'has' if idle == 1 else 'have'}"
        f" not been busy for {case.idle_after_minutes} minutes or more"
        f"{f', the longest for {duration(longest)}' if longest else ''}."
    )
    price, mean = _per_hour(rollup), _mean(rollup)
    return AlarmFinding(
        figure=figure,
        worst=_worst(rollup, entries),
        sentences=(
            sentence,
            *price,
            *(_parts(rollup) if price else ()),
            *today,
            *_unpriced(rollup),
            *mean,
            *_letters(rollup),
            *_left_out(rollup),
        ),
        owners=_owners(rollup),
        list_title=f"{order} cores first:",
        listed=_listed(rollup, entries),
        steps=tuple(_steps(rollup, entries, case.region)),
        brief=(sentence, *price, *today, *mean),
    )


def _mean(rollup: Members) -> tuple[str, ...]:
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
    known = counted(_known(rollup), "known core")
    return (f"Mean utilization of {known}: {percent(mean)}{spread}.",)


def _per_hour(rollup: Members) -> tuple[str, ...]:
    """What idle cores cost, where there are any and they have a price."""
    per_hour, basis = rollup.number("IdleCostPerHour"), _basis(rollup)
    if per_hour is None or not rollup.number("IdleCores"):
        return ()
    return (f"They cost {usd(per_hour)} per hour{f' ({basis})' if basis else ''}.",)


def _unpriced(rollup: Members) -> tuple[str, ...]:
    """What is in no amount."""
    unpriced, types = rollup.number("UnpricedCores"), _some(rollup.names("UnpricedTypes"))
    if not unpriced:
        return ()
    sentence = (
        f"{counted(unpriced, 'core')} of the cluster "
        f"{('has' if unpriced == 1 else 'have')} no price and "
        f"{('is' if unpriced == 1 else 'are')} not in any amount or in the "
        f"idle-cost alarm{(f': {types}' if types else '')}. Set prices with the "
        "parameter PriceOverrides."
    )
    return (sentence,)


def _parts(rollup: Members) -> Iterator[str]:
    """What of the cost ends when instances stop, and what to do about the rest."""
    avoidable = rollup.number("AvoidableCostPerHour")
    if avoidable is None:  # a rollup of an older stack
        return
    held = rollup.number("AvoidableHeldCostPerHour") or 0
    shared, sunk = (rollup.number(f"{one}CostPerHour") or 0 for one in ("Shared", "Sunk"))
    if avoidable:
        instances = counted(rollup.number("WhollyIdleInstances") or 0, "wholly idle instance")
        parts = f"{usd(held)} held, {usd(max(0, avoidable - held))} unheld"
        yield f"Avoidable: at most {usd(avoidable)} per hour, by stopping {instances}; {parts}."
    else:
        yield "Avoidable: nothing. No wholly idle instance would cost less if stopped."
    if shared:
        yield (
            f"Shared: {usd(shared)} per hour, for idle cores on instances that do work. "
            "Pack it onto fewer instances."
        )
    if sunk:
        yield (
            f"Sunk: {usd(sunk)} per hour, paid whether or not the instances run. Give "
            "them work; stopping them saves nothing."
        )


def _basis(rollup: Members) -> str:
    """By which prices the amounts of *rollup* are; a rollup of an older stack names no region."""
    overridden = rollup.names("PricesOverridden")
    return basis_words(
        rollup.names("PriceRegions"),
        rollup.text("PricesAsOf"),
        [_some(overridden)] if overridden else [],
    )


def _some(names: list[str]) -> str:
    return joined(names[:MAX_INSTANCES], len(names) - MAX_INSTANCES)


def _known(rollup: Members) -> float:
    return sum(rollup.number(one) or 0 for one in _KNOWN)


def _letters(rollup: Members) -> tuple[str, ...]:
    busy, attached, unattached = (rollup.number(one) for one in _KNOWN)
    if busy is None or attached is None or unattached is None:
        return ()
    sentence = (
        f"In that minute {amount(busy)} cores were busy, {amount(attached)} attached idle (held,"
        f" not used) and {amount(unattached)} unattached (held by nobody)."
    )
    return (sentence,)


def _left_out(rollup: Members) -> tuple[str, ...]:
    cores, silent = rollup.number("UnknownCores"), rollup.number("SilentInstances")
    parts = [
        *([f"{counted(cores, 'core')} without telemetry"] if cores else []),
        *([f"the cores of {counted(silent, 'silent instance')}"] if silent else []),
    ]
    return (f"Not counted here: {' and '.join(parts)}.",) if parts else ()


def _listed(rollup: Members, entries: list[Members]) -> tuple[str, ...]:
    lines: list[str] = []
    for entry in entries[:MAX_INSTANCES]:
        lines.append(
            f"{instance(entry)}: {_cores(entry, 'Cores')}, up to"
            f" {duration(entry.number('IdleMinutes') or 0)} idle{_price(entry)}"
            f"{_little_used(entry)}"
        )
        lines.append(f"  {_held(entry, rollup)}")
    count = rollup.number("IdleInstanceCount") or len(entries)
    return and_more(tuple(lines), count - min(len(entries), MAX_INSTANCES))


def _cores(one: Members, member: str) -> str:
    value = one.values.get(member)
    if not value:
        return "unnamed cores"
    noun = "core" if value.isdigit() else "cores"
    return f"{noun} {name(value, _LONGEST_CORES)}"


def _held(entry: Members, rollup: Members) -> str:
    """Who holds the idle cores of one instance."""
    attached = entry.values.get("AttachedCores")
    if not attached:
        return "held by nobody"
    entries = entry.entries("Holders")
    named = [
        f"{_cores(each, 'Cores')} by {_holder(each, rollup)}" for each in entries[:MAX_HOLDERS]
    ]
    more = int(entry.number("HoldersMore") or 0) + max(0, len(entries) - MAX_HOLDERS)
    who = (
        f"held: {joined(named, more, '; ')}" if named else f"held: {_cores(entry, 'AttachedCores')}"
    )
    return who if attached == entry.values.get("Cores") else f"{who}; the others held by nobody"


def _holder(one: Members, rollup: Members) -> str:
    """Name, what tells it from others, and what is known about it."""
    owner, marks = one.text("Name"), _pid_and_tag(one)
    if team := one.text("Team"):
        marks.append(f"team {team}")
    if uses := _uses(one, rollup):
        marks.append(uses)
    marks += holder_marks(
        owner,
        one.minute("LastExecution"),
        rollup.minute("Minute"),
        is_gone=one.values.get("Gone", False),
    )
    if owner:
        return f"{owner} ({', '.join(marks)})" if marks else owner
    return ", ".join(marks) or _UNNAMED


def _pid_and_tag(one: Members) -> list[str]:
    pid, tag = one.number("Pid"), one.text("Tag")
    return [*([f"pid {pid:.0f}"] if pid is not None else []), *([f"tag {tag}"] if tag else [])]


def _who(holder: Members) -> str:
    """Its name, or its pid and tag."""
    return (holder.text("Name") or ", ".join(_pid_and_tag(holder)) or _UNNAMED) + _team(holder)


def _team(one: Members) -> str:
    team = one.text("Team")
    return f" (team {team})" if team else ""


def _uses(holder: Members, rollup: Members) -> str:
    """`uses 16 of 24 cores` of a holder whose owner works on others of the cluster."""
    owner = holder.values.get("Name")
    rows = rollup.entries("TopIdleOwners") if owner else []
    return next((_use(row) for row in rows if row.values.get("Owner") == owner), "")


def _use(row: Members) -> str:
    return use_words(row.number("HeldCores"), row.number("BusyCores"))


def _little_used(entry: Members) -> str:
    executions = entry.number("Executions")
    if not executions or entry.number("BusyCores") != 0:
        return ""
    return f", little used: {counted(executions, 'execution')} in that minute, not avoidable"


def _owners(rollup: Members) -> tuple[str, ...]:
    """Who holds the idle cores of the whole cluster, most cost first."""
    rows = rollup.entries("TopIdleOwners")
    lines = tuple(
        f"{_owner(row)}{f' {_use(row)}' if _use(row) else ''}:"
        f" {counted(row.number('Cores') or 0, 'idle core' if _use(row) else 'core')} on"
        f" {counted(row.number('Instances') or 0, 'instance')}, up to"
        f" {duration(row.number('IdleMinutes') or 0)} idle{_price(row)}"
        for row in rows[:MAX_OWNERS]
    )
    more = len(rows) - len(lines)
    return (*lines, f"and {counted(more, 'more row')} in TopIdleOwners") if more > 0 else lines


def _owner(row: Members) -> str:
    owner = row.values.get("Owner", "")
    return _NO_NAMES.get(owner) or (row.text("Owner") or "an unnamed owner") + _team(row)


def _price(row: Members) -> str:
    price = row.number("UsdPerHour")
    return _NO_PRICE if price is None else f", {usd(price)} per hour"


def _worst(rollup: Members, entries: list[Members]) -> str:
    """Who holds most of the idle cores, or where most of them are when nobody does."""
    owners = rollup.entries("TopIdleOwners")
    named = next((one for one in owners if one.values.get("Owner") not in NOBODY), None)
    if named is not None and named is owners[0]:
        idle_for = duration(named.number("IdleMinutes") or 0)
        cores, use = counted(named.number("Cores") or 0, "core"), _use(named)
        return f"Most: {_owner(named)} {f'{use}, ' if use else ''}{cores} idle for {idle_for}"
    if not entries:
        return ""
    worst = entries[0]
    idle_for = duration(worst.number("IdleMinutes") or 0)
    holders = worst.entries("Holders")
    held = f", held by {_who(holders[0])}" if holders else ""
    return f"Most: {worst.text('InstanceId')} {_cores(worst, 'Cores')} for {idle_for}{held}"


def _steps(rollup: Members, entries: list[Members], region: str) -> Iterator[Step]:
    held = [one for one in entries if one.values.get("AttachedCores")]
    pairs = [(one, each) for one in held for each in one.entries("Holders") or (None,)]
    working = [pair for pair in pairs if _work(*pair, rollup)]
    unused = [pair for pair in pairs if pair not in working]
    free = [one for one in entries if one.values.get("AttachedCores") != one.values.get("Cores")]
    if unused:
        entry, holder = unused[0]
        whom = f"ask whoever runs {_who(holder)}" if holder else "ask its owner"
        yield Step(
            f"Held, not used: {whom}. Check on {instance(entry)}:",
            (*commands.shell_on(instances_of([entry]), region), *commands.HOLDER),
            commands.HOLDER_NOTE,
        )
    if working:
        entry, holder = working[0]
        yield Step(
            f"Do not stop {_who(holder) if holder else 'its holder'}: "
            f"{_work(entry, holder, rollup)}. {_fewer(entry, holder, rollup)} What runs on"
            f" {instance(entry)}:",
            (*commands.shell_on(instances_of([entry]), region), *commands.RUNTIMES),
        )
    if free:
        is_in_use = bool(free[0].number("BusyCores") or _little_used(free[0]))
        what = (
            f"give these cores of {instance(free[0])} work: it is in use"
            if is_in_use
            else f"use {instance(free[0])}, or stop it if nothing else runs on it"
        )
        yield Step(
            f"Held by nobody: {what}. To find its owner:",
            commands.owners(instances_of(free), region),
        )


def _work(entry: Members, holder: Members | None, rollup: Members) -> str:
    """What a holder of idle cores is known to do; empty where nothing is."""
    if holder is not None:
        last, minute = holder.minute("LastExecution"), rollup.minute("Minute")
        if uses := _uses(holder, rollup):
            return f"it {uses}"
        if is_executing_at(last, minute):
            (said,) = holder_marks(None, last, minute, is_gone=False)
            return f"it is {said}"
    little = _little_used(entry)
    return f"its instance is{little[1:]}" if little else ""


def _fewer(entry: Members, holder: Members | None, rollup: Members) -> str:
    """What who uses part can give others: cores of wholly idle devices."""
    theirs = _indexes(holder, "Cores") if holder is not None and _uses(holder, rollup) else set()
    attached = _indexes(entry, "AttachedCores")
    kind = INSTANCE_TYPES.get(entry.values.get("InstanceType", ""))
    per_device = (entry.number("NeuronCores") or 0) / kind.devices if kind else 0
    if not theirs or per_device < 1 or per_device % 1:
        return "Ask whoever runs it whether fewer cores would do."
    free = Counter(core // per_device for core in theirs | (_indexes(entry, "Cores") - attached))
    freed = [core for core in theirs if free[core // per_device] == per_device]
    if not freed:
        return "No device is idle as a whole, so asking for fewer cores frees none."
    devices = counted(len({core // per_device for core in freed}), "device")
    return f"Asking for {counted(len(freed), 'core')} fewer frees {devices}."


def _indexes(cores: Members, member: str) -> set[int]:
    try:
        return set(core_indexes(cores.values.get(member, "")))
    except WireFormatError:
        return set()
