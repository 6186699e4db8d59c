"""
The finding about idle cores, shared by three alarms: whose, for how long, at what price.

Only an owner that is wholly idle gets the words of an idle one; one that works is never to be
stopped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from aggregator.explain.event import UTILIZATION
from aggregator.explain.finding import (
    MOST_COMMANDS,
    PROCESSES,
    AlarmFinding,
    commands_about,
    commands_there,
    describe_owner,
    instance_words,
)
from aggregator.explain.idle_instance import (
    core_set,
    cores_words,
    fewer_cores_advice,
    host_sentence,
    idle_cores_of,
    is_wholly_idle,
    work_words,
)
from neuron_wire import phrases
from neuron_wire.line_members import (
    NOTHING,
    JsonObject,
    entries_in,
    minute_in,
    number_in,
    text_in,
)
from neuron_wire.names import MICRO, OTHER_OWNERS, UNALLOCATED_OWNER, UNSTATED_OWNER
from neuron_wire.now import IdleOwner
from neuron_wire.owner_commands import ShownCommand, findings_commands, owner_commands
from neuron_wire.owner_minutes import owner_name
from neuron_wire.phrases import amount, counted, duration, percent, safe_name, usd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aggregator.explain.evidence import Evidence

_NEXT: Final = 2  # owners named behind the first
_MORNING: Final = "Can wait until morning: {price}nothing fails."
_FAILS: Final = "Do not wait: {waiting} has not opened them and may fail to start."
_UNASKED: Final = "Nobody can be asked. Do not end it unseen."
_UNKNOWN: Final = "Whether it executes is not told."
_TAGS: Final = "nothing. Ask in the morning whom the tags name."

SENTENCES: Final = {
    "given away by who is gone": (
        "{cores} given to {waiting} are held by a process of {who}, which is gone", "",
        "if {waiting} waits and {short} is gone, end process{pid} there, if it is the same.",
        _FAILS),
    "given away": (
        "{cores} given to {waiting} are held by {who}", "",
        "ask {asked}: it holds what is not its own.", _FAILS),
    "idle": (
        "{who} has {used} for {quiet}", "{siblings}{host}. Do not cancel it unasked.",
        "ask {asked}. {saving}"),
    "reserved": (
        "{who} was given {cores} and no process of it has opened them for {quiet}",
        "{siblings}It may wait for its image or for others. Do not delete it unasked.",
        "ask {asked}. {saving}"),
    "left behind": ("what is left of {who} has {used} for {quiet}", _UNASKED, _TAGS),
    "free": (
        "{cores} unallocated and idle{lasted}", "{host}.",
        "nothing to cancel. Give these cores work. {saving}"),
    "unknown": ("{who} has {cores} idle{lasted}", f"{_UNKNOWN} Do not cancel it unasked.",
               "ask {asked}."),
    "unknown and left behind": ("what is left of {who} has {cores} idle{lasted}",
                               f"{_UNKNOWN} {_UNASKED}", _TAGS),
    "unnamed": ("unnamed processes have {cores} idle{lasted}", f"{_UNKNOWN} {_UNASKED}", _TAGS),
    "unread": (
        "{cores} idle{lasted}, given to: unknown",
        "Do not stop the instance: what its scheduler gave to whom is not read there.",
        "nothing. neuron-emf check on the instance says in the morning what is missing."),
    "of an older emitter": (
        "{cores} idle{lasted}, held by: unknown",
        "Do not stop the instance: its emitter, an older one, tells no owners.",
        "nothing. Upgrade the emitter in the morning."),
    "waits": (
        "{who} waits, {words}",
        "Do not stop it: its siblings work, and a rank that waits for them is no waste.",
        "nothing."),
    "little used": (
        "{who} is {words}, {cores} idle{lasted}",
        "Do not stop it: it executes, though it keeps no core busy. No stop saves this.",
        "nothing. In the morning: a smaller instance, or several such services on one."),
    "uses part": (
        "{who} {words} cores, {cores} idle{lasted}", "Do not stop it: {work}.",
        "nothing. In the morning: {fewer}."),
    "others": ("other owners have {cores} idle{lasted}", f"{_UNKNOWN} Do not stop them.",
               "nothing."),
}  # fmt: skip
"""
Headline, what speaks against haste, what to do now, and whether that can wait: by what is known.

The first kind here comes first in a message.
"""

STOPPABLE: Final = ("idle", "reserved", "left behind", "free")
"""Where a stop may save money: these kinds rank as one, by how much it would save."""

RANKS: Final = {
    kind: list(SENTENCES).index("idle" if kind in STOPPABLE else kind) for kind in SENTENCES
}


class RankedOwner(NamedTuple):
    """
    An owner of idle cores, and where it has most of them.

    Attributes:
        kind: What is known of it, a key of `SENTENCES`.

        row: Its sums over the whole cluster.

        entry: Its worst instance; `NOTHING` where the rollup lists none.

        cores: Its idle cores on that instance.

        holder: Its process there that executed last; `NOTHING` where unknown.
    """

    kind: str
    row: IdleOwner
    entry: JsonObject = NOTHING
    cores: frozenset[int] = frozenset()
    holder: JsonObject = NOTHING

    @property
    def works(self) -> bool:
        """Whether it, or a sibling, works."""
        return self.kind in {"waits", "little used", "uses part"}

    @property
    def ids(self) -> list[str]:
        """Its worst instance."""
        return [text_in(self.entry, "InstanceId")] if self.entry else []


def find_idle_cores(evidence: Evidence) -> AlarmFinding:
    """What a message about idle cores, their cost or low utilization says."""
    ranked, total = _ranked(evidence), _total(evidence)
    entries = entries_in(evidence.rollup, "TopIdleInstances")
    worst = [text_in(entry, "InstanceId") for entry in entries[:1]]
    over = f"Now {'; '.join(total)}." if total else "No core of it is known."
    if not evidence.now.idle or not ranked:
        return _without_owners(evidence, total, worst, over)
    first = ranked[0]
    headline, short, against, answer, urgency = owner_sentences(evidence, first)
    named = [owner for owner in ranked[1:] if owner.row.owner != first.row.owner][:_NEXT]
    following = [f"next: {', '.join(map(_next, named))}"] if named else []
    commands = commands_about(evidence, first.ids, "" if is_gone(first.holder) else first.row.owner)
    if text_in(first.holder, "GivenTo"):
        commands = _given_away_commands(evidence, first.holder)
    findings = findings_commands(first.ids or worst, evidence.region)
    return AlarmFinding(
        headline=headline,
        short=short,
        facts=(_where(evidence, first), against),
        urgency=urgency,
        total=(f"In all {'; '.join([*total, *following])}.", _unpriced(evidence)),
        commands=(*commands, *findings),
        answer=answer,
        over=over,
        teams=tuple(owner.row.team for owner in ranked if owner.row.team),
    )


def _without_owners(
    evidence: Evidence, total: list[str], worst: list[str], over: str
) -> AlarmFinding:
    """What is known of the whole cluster, for a rollup without owners or without idle cores."""
    slow = entries_in(evidence.rollup, "StragglerInstances")[:1]
    headline, *others = total or ["no core of it is known"]
    commands = (*commands_about(evidence, worst, ""), *findings_commands(worst, evidence.region))
    slow_ids = [text_in(entry, "InstanceId") for entry in slow]
    return AlarmFinding(
        headline=headline,
        facts=tuple(f"{instance_words(entry)} is slow for its type." for entry in slow),
        urgency="Can wait until morning: nothing fails." if total else "",
        total=(f"{'; '.join(others)}." if others else "", _unpriced(evidence)),
        commands=commands or commands_there(evidence, slow_ids, PROCESSES),
        over=over,
    )


def _ranked(evidence: Evidence) -> list[RankedOwner]:
    """The owners of idle cores: who can be helped at once, then by what a stop would save."""
    entries = entries_in(evidence.rollup, "TopIdleInstances")
    owners = [_with_worst_instance(evidence, entries, row) for row in evidence.now.owners]
    saved = {
        owner.row.owner: sum(
            number_in(entry, "UsdPerHour") or 0
            for entry in entries
            if is_wholly_idle(entry) and idle_cores_of(entry, owner.row.owner)
        )
        for owner in owners
        if owner.kind in STOPPABLE
    }

    def rank(owner: RankedOwner) -> tuple[float, ...]:
        row = owner.row
        return RANKS[owner.kind], -saved.get(row.owner, 0), -(row.cost or 0), -row.idle

    return sorted([*_given_away(evidence, entries), *owners], key=rank)


def _given_away(evidence: Evidence, entries: Sequence[JsonObject]) -> list[RankedOwner]:
    """Processes that hold cores given to another owner, with those cores alone."""
    teams, owners = {row.owner: row.team for row in evidence.now.owners}, []
    for entry in entries:
        idle, usd_per_hour = number_in(entry, "IdleCores"), number_in(entry, "UsdPerHour")
        for holder in entries_in(entry, "Holders"):
            cores, owner = core_set(holder, "Cores"), owner_name(text_in(holder, "Name"))
            if text_in(holder, "GivenTo") and cores:
                price = usd_per_hour / idle * len(cores) if usd_per_hour and idle else None
                cost = None if price is None else round(price * MICRO)
                row = IdleOwner(owner, MICRO * len(cores), teams.get(owner), cost=cost)
                last = minute_in(holder, "LastExecution")
                works = phrases.is_executing_at(last, evidence.now.minute)
                is_left = is_gone(holder) and not works
                kind = "given away by who is gone" if is_left else "given away"
                owners.append(RankedOwner(kind, row, entry, frozenset(cores), holder))
    return owners


def _given_away_commands(evidence: Evidence, holder: JsonObject) -> tuple[ShownCommand, ...]:
    """Does the owner that waits fail, is *holder* gone, and is its process the same."""
    waiting, own = (
        owner_commands(text_in(holder, member), evidence.now.cluster, evidence.region)
        for member in ("GivenTo", "Name")
    )
    commands = [each._replace(label="Whether it fails") for each in waiting[-MOST_COMMANDS:][:1]]
    commands += [each._replace(label="Whether that is gone") for each in own[:1]]
    if (pid := number_in(holder, "Pid")) is not None:
        text = f"ps -o pid,lstart,args -p {pid:.0f}"
        commands.append(ShownCommand("The process there", text))
    return tuple(commands)


def _with_worst_instance(
    evidence: Evidence, entries: Sequence[JsonObject], row: IdleOwner
) -> RankedOwner:
    """The owner of *row* with the first of *entries* that it is on, most idle cores first."""
    entry = next((entry for entry in entries if idle_cores_of(entry, row.owner)), NOTHING)
    cores, holders = idle_cores_of(entry, row.owner), entries_in(entry, "Holders")
    own = [holder for holder in holders if owner_name(text_in(holder, "Name")) == row.owner]
    last = max(own, key=lambda holder: minute_in(holder, "LastExecution") or 0, default=NOTHING)
    return RankedOwner(kind_of(evidence, row, entry, last), row, entry, frozenset(cores), last)


def _where(evidence: Evidence, owner: RankedOwner) -> str:
    """Since when, on which cores and instances, and when it executed last."""
    row, entry, minute, marks = owner.row, owner.entry, evidence.now.minute, list[str]()
    minutes = (not owner.works and row.wholly_idle_minutes) or row.minutes or 0
    if minute is not None and 0 < minutes <= minute:
        marks.append(f"since {phrases.clock(minute + 1 - minutes, minute)}")
    if entry:
        is_whole = len(owner.cores) == number_in(entry, "NeuronCores")
        more = (row.instances or 1) - 1
        part = "" if is_whole else f"{cores_words(owner.cores)} of "
        marks.append(f"on {part}{instance_words(entry)}")
        marks[-1] += f" and {counted(more, 'more instance')}" if more else ""
    text = " ".join(marks)
    if owner.holder and not owner.works:
        last = minute_in(owner.holder, "LastExecution")
        known = phrases.holder_marks(row.owner, last, minute, is_gone=is_gone(owner.holder))
        text = "; ".join([text, *known])
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _total(evidence: Evidence) -> list[str]:
    """How much is idle in the whole cluster, what it costs, and how little is used."""
    now, mean = evidence.now, number_in(evidence.rollup, "NeuronCoreUtilization")
    if not (words := phrases.idle_words(now)):
        return []
    parts = [f"{words} idle"]
    if now.cost is not None:
        parts[0] += f", {phrases.per_hour(now.cost)}"
    if now.cost is not None and now.avoidable is not None:
        most = f"of which at most {phrases.per_hour(now.avoidable)}" if now.avoidable else "nothing"
        parts[0] += f", {most} avoidable"
    if (today := evidence.cost_today) is not None:
        parts.append(f"{usd(today.usd)} so far today")
    if mean is not None:
        parts.append(f"mean utilization {percent(mean)}")
    return parts[::-1] if evidence.subject == UTILIZATION and not now.idle else parts


def _next(owner: RankedOwner) -> str:
    row = owner.row
    words = phrases.owner_words(row)
    name = phrases.NO_OWNERS.get(row.owner, "").lower() or safe_name(row.owner)
    return f"{name} {amount(row.idle / MICRO)}{f' ({words})' if words else ''}"


def _unpriced(evidence: Evidence) -> str:
    """The types without a price, and the setting that gives them one."""
    words = phrases.unpriced_words(evidence.now)
    line = phrases.price_overrides_line(evidence.now.unpriced_types)
    return f"{words}: in no amount.{f' Set {line}.' if line else ''}" if words else ""


def is_gone(holder: JsonObject) -> bool:
    """Whether the pod or job of a process is gone."""
    return holder.get("Gone") is True


def kind_of(evidence: Evidence, row: IdleOwner, entry: JsonObject, holder: JsonObject) -> str:
    """What is known of the owner of *row*, by its worst instance and its process there."""
    last = minute_in(holder, "LastExecution")
    has_gone = is_gone(holder)
    is_idle = (row.wholly_idle_minutes or 0) >= evidence.idle_after_minutes
    has_executed = number_in(entry, "BusyCores") == 0 and number_in(entry, "Executions")
    kinds = (
        ("free", row.owner == UNALLOCATED_OWNER),
        ("unread", row.owner == UNSTATED_OWNER and row.unheld),
        ("of an older emitter", row.owner == UNSTATED_OWNER),
        ("others", row.owner == OTHER_OWNERS),
        ("uses part", row.busy),
        ("little used", row.executions),
        ("waits", (row.idle_siblings or 0) < (row.siblings or 0)),
        ("left behind", is_idle and has_gone),
        ("reserved", is_idle and row.reserved == row.held),
        ("idle", is_idle),
        ("little used", has_executed or phrases.is_executing_at(last, evidence.now.minute)),
        ("unnamed", row.owner in phrases.NO_OWNERS),
        ("unknown and left behind", has_gone),
        ("unknown", True),
    )
    return next(kind for kind, is_so in kinds if is_so)


def owner_sentences(evidence: Evidence, owner: RankedOwner) -> list[str]:
    """Headline, the same in short, what speaks against haste, what to do, whether it can wait."""
    row, entry, holder = owner.row, owner.entry, owner.holder
    words, held = describe_owner(row.owner, row.team), row.held or row.idle
    pid, held_cores = number_in(holder, "Pid"), amount(held / MICRO)
    facts = {
        "who": words.words,
        "short": words.short,
        "asked": words.asked,
        "cores": counted(row.idle / MICRO, "core"),
        "used": "not used its core" if held == MICRO else f"used none of its {held_cores} cores",
        "lasted": f" for up to {duration(row.minutes)}" if row.minutes else "",
        "quiet": duration(row.wholly_idle_minutes or 0),
        "price": "" if row.cost is None else f"{phrases.usd(row.cost / MICRO)} an hour, ",
        "siblings": f"None of its {row.siblings} siblings works. " if row.siblings else "",
        "words": phrases.owner_words(row) or "little used",
        "host": host_sentence(entry),
        "saving": _saving(evidence, entry, words.end),
        "work": work_words(entry, row),
        "fewer": fewer_cores_advice(entry, row),
        "waiting": describe_owner(text_in(holder, "GivenTo")).short,
        "pid": "" if pid is None else f" {pid:.0f}",
    }
    headline, *others = SENTENCES[owner.kind]
    others = [*others, _MORNING][:3]
    cost = "no price" if row.cost is None else phrases.per_hour(row.cost)
    short = headline.replace("{who}", "{short}")
    sentences = [f"{headline}, {cost}", f"{short}, {cost}", *others]
    return [sentence.format_map(facts) for sentence in sentences]


def _saving(evidence: Evidence, entry: JsonObject, end: str) -> str:
    """When money is saved, if it can be; *end* is empty where the cores have no owner."""
    if evidence.now.sunk and evidence.now.sunk == evidence.now.cost:
        return "It is paid anyway."
    if entry and not is_wholly_idle(entry):
        others = f"Others can have the cores when {end}; no" if end else "No"
        return f"{others} stop saves money: their instance works."
    return f"Money is saved when {f'{end} and ' if end else ''}the instance goes back."
