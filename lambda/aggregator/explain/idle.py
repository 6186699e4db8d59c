"""The finding about cores that do nothing, one for three alarms: whose, how long, what price."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aggregator.explain.finding import AlarmFinding, basis_of, instance
from aggregator.explain.foreign_text import name
from aggregator.explain.idle_instance import cores_words, idle_cores_of, indexes, is_wholly_idle
from aggregator.explain.idle_sentences import RANKS, STOPPABLE, Told, is_gone, kind_of, sentences_of
from aggregator.explain.subject import UTILIZATION
from aggregator.explain.whose import PROCESSES, commands_of, given_away_commands, present, shell_and
from neuron_wire import phrases
from neuron_wire.core_owners import MICRO, owner_name
from neuron_wire.now import IdleOwner
from neuron_wire.owner_commands import findings_command
from neuron_wire.phrases import amount, counted, percent, usd

if TYPE_CHECKING:
    from aggregator.explain.finding import Case
    from aggregator.explain.members import Members

_NEXT: Final = 2  # owners named behind the first


def idle(case: Case) -> AlarmFinding:
    """What a message about idle cores, their cost or low utilization says."""
    ranked, total = _ranked(case), _total(case)
    worst = [one.raw("InstanceId") for one in case.rollup.entries("TopIdleInstances")[:1]]
    over = f"Now {'; '.join(total)}." if total else "No core of it is known."
    if not case.now.idle or not ranked:
        return _without_owners(case, total, worst, over)
    first = ranked[0]
    headline, short, against, answer, urgency = sentences_of(case, first)
    named = [one for one in ranked[1:] if one.row.owner != first.row.owner][:_NEXT]
    following = [f"next: {', '.join(map(_next, named))}"] if named else []
    commands = commands_of(case, first.ids, "" if is_gone(first.holder) else first.row.owner)
    if first.holder is not None and first.holder.raw("GivenTo"):
        commands = given_away_commands(case, first.holder)
    findings = findings_command(first.ids or worst, case.region)
    return AlarmFinding(
        headline=headline,
        short=short,
        facts=(_where(case, first), against),
        urgency=urgency,
        total=(f"In all {'; '.join([*total, *following])}.", _unpriced(case)),
        commands=present(*commands, findings),
        answer=answer,
        over=over,
        basis=basis_of(case),
        teams=tuple(one.row.team for one in ranked if one.row.team),
    )


def _without_owners(case: Case, total: list[str], worst: list[str], over: str) -> AlarmFinding:
    """Of a rollup that tells no owners, or no idle core: what is known of the whole cluster."""
    slow = case.rollup.entries("StragglerInstances")[:1]
    headline, *others = total or ["no core of it is known"]
    commands = present(*commands_of(case, worst, ""), findings_command(worst, case.region))
    slow_ids = [one.raw("InstanceId") for one in slow]
    return AlarmFinding(
        headline=headline,
        facts=tuple(f"{instance(one)} is slow for its type." for one in slow),
        urgency="Can wait until morning: nothing fails." if total else "",
        total=(f"{'; '.join(others)}." if others else "", _unpriced(case)),
        commands=commands or shell_and(PROCESSES, slow_ids, case.region),
        over=over,
        basis=basis_of(case),
    )


def _ranked(case: Case) -> list[Told]:
    """The owners of idle cores: who can be helped at once, then most that a stop would save."""
    entries = case.rollup.entries("TopIdleInstances")
    found = [_told(case, entries, row) for row in case.now.owners]
    saved = {
        one.row.owner: sum(
            entry.number("UsdPerHour") or 0
            for entry in entries
            if is_wholly_idle(entry) and idle_cores_of(entry, one.row.owner)
        )
        for one in found
        if one.kind in STOPPABLE
    }
    return sorted(
        [*_given_away(case, entries), *found],
        key=lambda one: (
            RANKS[one.kind], -saved.get(one.row.owner, 0), -(one.row.cost or 0), -one.row.idle
        ),
    )  # fmt: skip


def _given_away(case: Case, entries: list[Members]) -> list[Told]:
    """Processes that hold what was given to somebody else, with those cores alone."""
    teams, found = {row.owner: row.team for row in case.now.owners}, []
    for entry in entries:
        idle, usd_per_hour = entry.number("IdleCores"), entry.number("UsdPerHour")
        for holder in entry.entries("Holders"):
            cores, owner = indexes(holder, "Cores"), owner_name(holder.raw("Name"))
            if holder.raw("GivenTo") and cores:
                price = usd_per_hour / idle * len(cores) if usd_per_hour and idle else None
                cost = None if price is None else round(price * MICRO)
                row = IdleOwner(owner, MICRO * len(cores), teams.get(owner), cost=cost)
                last = holder.minute("LastExecution")
                works = phrases.is_executing_at(last, case.now.minute)
                is_left = is_gone(holder) and not works
                kind = "given away by who is gone" if is_left else "given away"
                found.append(Told(kind, row, entry, frozenset(cores), holder))
    return found


def _told(case: Case, entries: list[Members], row: IdleOwner) -> Told:
    """With its worst instance: the first in their order, most idle cores first."""
    for entry in entries:
        if cores := idle_cores_of(entry, row.owner):
            theirs = [
                one for one in entry.entries("Holders") if owner_name(one.raw("Name")) == row.owner
            ]
            holder = max(theirs, key=lambda one: one.minute("LastExecution") or 0, default=None)
            return Told(kind_of(case, row, entry, holder), row, entry, frozenset(cores), holder)
    return Told(kind_of(case, row, None, None), row)


def _where(case: Case, found: Told) -> str:
    """Since when, on which cores and instances, and when it executed last."""
    row, entry, minute, marks = found.row, found.entry, case.now.minute, list[str]()
    minutes = (not found.works and row.wholly_idle_minutes) or row.minutes or 0
    if minute is not None and 0 < minutes <= minute:
        marks.append(f"since {phrases.clock(minute + 1 - minutes, minute)}")
    if entry is not None:
        is_whole = len(found.there) == entry.number("NeuronCores")
        more = (row.instances or 1) - 1
        part = "" if is_whole else f"{cores_words(found.there)} of "
        marks.append(f"on {part}{instance(entry)}")
        marks[-1] += f" and {counted(more, 'more instance')}" if more else ""
    text = " ".join(marks)
    if found.holder is not None and not found.works:
        last = found.holder.minute("LastExecution")
        known = phrases.holder_marks(row.owner, last, minute, is_gone=is_gone(found.holder))
        text = "; ".join([text, *known])
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _total(case: Case) -> list[str]:
    """How much is idle in the whole cluster, what it costs, and how little is used."""
    now, mean = case.now, case.rollup.number("NeuronCoreUtilization")
    if not (words := phrases.idle_words(now)):
        return []
    parts = [f"{words} idle"]
    if now.cost is not None:
        parts[0] += f", {phrases.per_hour(now.cost)}"
    if now.cost is not None and now.avoidable is not None:
        most = f"of which at most {phrases.per_hour(now.avoidable)}" if now.avoidable else "nothing"
        parts[0] += f", {most} avoidable"
    if (today := case.evidence.cost_today) is not None:
        parts.append(f"{usd(today.usd)} so far today")
    if mean is not None:
        parts.append(f"mean utilization {percent(mean)}")
    return parts[::-1] if case.subject == UTILIZATION and not now.idle else parts


def _next(one: Told) -> str:
    words = phrases.owner_words(one.row)
    owner = phrases.NO_OWNERS.get(one.row.owner, "").lower() or name(one.row.owner)
    return f"{owner} {amount(one.row.idle / MICRO)}{f' ({words})' if words else ''}"


def _unpriced(case: Case) -> str:
    """What is in no amount, and what to type for it."""
    said = phrases.unpriced_words(case.now)
    line = phrases.price_overrides_line(case.now.unpriced_types)
    return f"{said}: in no amount.{f' Set {line}.' if line else ''}" if said else ""
