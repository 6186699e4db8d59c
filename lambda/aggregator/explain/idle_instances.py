"""Instances with idle cores: which these are, who holds them, and what to do on them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from aggregator.explain import commands
from aggregator.explain.finding import MAX_INSTANCES, Step, and_more, instance, instances_of
from aggregator.explain.foreign_text import name
from neuron_wire.errors import WireFormatError
from neuron_wire.holders import core_indexes
from neuron_wire.instance_types import INSTANCE_TYPES
from neuron_wire.phrases import (
    counted,
    duration,
    holder_marks,
    is_executing_at,
    joined,
    usd,
    use_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aggregator.explain.finding import Case
    from aggregator.explain.members import Members
    from neuron_wire.now import ClusterNow

MAX_HOLDERS: Final = 4  # named of one instance
NO_PRICE: Final = ", no price"
_LONGEST_CORES: Final = 120  # characters of a list of core ranges
_UNNAMED: Final = "an unnamed process"


def listed(case: Case, entries: list[Members]) -> tuple[str, ...]:
    lines: list[str] = []
    for entry in entries[:MAX_INSTANCES]:
        lines.append(
            f"{instance(entry)}: {cores_of(entry, 'Cores')}, up to"
            f" {duration(entry.number('IdleMinutes') or 0)} idle{_price(entry)}"
            f"{_little_used(entry)}"
        )
        lines.append(f"  {_held(entry, case.now)}")
    count = case.rollup.number("IdleInstanceCount") or len(entries)
    return and_more(tuple(lines), count - min(len(entries), MAX_INSTANCES))


def cores_of(one: Members, member: str) -> str:
    value = one.raw(member)
    if not value:
        return "unnamed cores"
    noun = "core" if value.isdigit() else "cores"
    return f"{noun} {name(value, _LONGEST_CORES)}"


def _held(entry: Members, now: ClusterNow) -> str:
    """Who holds the idle cores of one instance."""
    attached = entry.raw("AttachedCores")
    if not attached:
        return "held by nobody"
    holders = entry.entries("Holders")
    named = [f"{cores_of(one, 'Cores')} by {_holder(one, now)}" for one in holders[:MAX_HOLDERS]]
    more = int(entry.number("HoldersMore") or 0) + max(0, len(holders) - MAX_HOLDERS)
    said = joined(named, more, "; ") if named else cores_of(entry, "AttachedCores")
    others = "" if attached == entry.raw("Cores") else "; the others held by nobody"
    return f"held: {said}{others}"


def _holder(one: Members, now: ClusterNow) -> str:
    """Name, what tells it from others, and what is known about it."""
    owner, marks = one.text("Name"), _pid_and_tag(one)
    if team := one.text("Team"):
        marks.append(f"team {team}")
    if uses := _uses(one, now):
        marks.append(uses)
    marks += holder_marks(
        owner,
        one.minute("LastExecution"),
        now.minute,
        is_gone=one.given.get("Gone") is True,
    )
    if owner:
        return f"{owner} ({', '.join(marks)})" if marks else owner
    return ", ".join(marks) or _UNNAMED


def _pid_and_tag(one: Members) -> list[str]:
    pid, tag = one.number("Pid"), one.text("Tag")
    return [*([f"pid {pid:.0f}"] if pid is not None else []), *([f"tag {tag}"] if tag else [])]


def who(holder: Members) -> str:
    """Its name, or its pid and tag."""
    owner = holder.text("Name") or ", ".join(_pid_and_tag(holder)) or _UNNAMED
    return owner + team_mark(holder.text("Team"))


def team_mark(team: str | None) -> str:
    return f" (team {team})" if team else ""


def _uses(holder: Members, now: ClusterNow) -> str:
    """`uses 16 of 24 cores` of a holder whose owner works on others of the cluster."""
    owner = holder.raw("Name")
    return next((use_of(row) for row in now.owners if owner and row.owner == owner), "")


def _little_used(entry: Members) -> str:
    executions = entry.number("Executions")
    if not executions or entry.number("BusyCores") != 0:
        return ""
    return f", little used: {counted(executions, 'execution')} in that minute, not avoidable"


def _price(row: Members) -> str:
    price = row.number("UsdPerHour")
    return NO_PRICE if price is None else f", {usd(price)}/h"


def steps(case: Case, entries: list[Members]) -> Iterator[Step]:
    held = [one for one in entries if one.raw("AttachedCores")]
    pairs = [(one, each) for one in held for each in one.entries("Holders") or (None,)]
    working = [pair for pair in pairs if _work(*pair, case.now)]
    unused = [pair for pair in pairs if pair not in working]
    free = [one for one in entries if one.raw("AttachedCores") != one.raw("Cores")]
    if unused:
        entry, holder = unused[0]
        whom = f"ask whoever runs {who(holder)}" if holder else "ask its owner"
        yield Step(
            f"Held, not used: {whom}. Check on {instance(entry)}:",
            (*commands.shell_on(instances_of([entry]), case.region), *commands.HOLDER),
            commands.HOLDER_NOTE,
        )
    if working:
        entry, holder = working[0]
        yield Step(
            f"Do not stop {who(holder) if holder else 'its holder'}: "
            f"{_work(entry, holder, case.now)}. {_fewer(entry, holder, case.now)} What runs on"
            f" {instance(entry)}:",
            (*commands.shell_on(instances_of([entry]), case.region), *commands.RUNTIMES),
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
            commands.owners(instances_of(free), case.region),
        )


def _work(entry: Members, holder: Members | None, now: ClusterNow) -> str:
    """What a holder of idle cores is known to do; empty where nothing is."""
    if holder is not None:
        last = holder.minute("LastExecution")
        if uses := _uses(holder, now):
            return f"it {uses}"
        if is_executing_at(last, now.minute):
            (said,) = holder_marks(None, last, now.minute, is_gone=False)
            return f"it is {said}"
    little = _little_used(entry)
    return f"its instance is{little[1:]}" if little else ""


def _fewer(entry: Members, holder: Members | None, now: ClusterNow) -> str:
    """What who uses part can give others: cores of wholly idle devices."""
    theirs = _indexes(holder, "Cores") if holder is not None and _uses(holder, now) else set()
    attached = _indexes(entry, "AttachedCores")
    kind = INSTANCE_TYPES.get(entry.raw("InstanceType"))
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
        return set(core_indexes(cores.raw(member)))
    except WireFormatError:
        return set()
