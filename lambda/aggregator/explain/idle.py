"""
The summary of idle cores, shared by three alarms: their owner, how long and at what price.

Only a fully idle owner gets the words of an idle owner. A message never advises to stop an owner
that works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from aggregator.explain.alarm_summary import (
    MAX_COMMANDS_OF_OWNER,
    MESSAGE_WORDS,
    PROCESSES,
    TAGGED,
    AlarmSummary,
    commands_about,
    commands_there,
    describe_owner,
    instance_region,
    instance_words,
    process_commands,
    process_words,
)
from aggregator.explain.event import LOW_UTILIZATION
from aggregator.explain.idle_instance import (
    core_set,
    cores_words,
    fewer_cores_advice,
    host_sentence,
    idle_cores_of,
    is_fully_idle,
    is_in_other_clusters,
    work_words,
)
from neuron_accounts.now import IdleOwner
from neuron_accounts.owner_minutes import owner_name
from neuron_wire.line_members import (
    NOTHING,
    Entries,
    JsonObject,
    entries_in,
    minute_in,
    number_in,
    text_in,
)
from neuron_wire.names import MICRO, NOT_REPORTED_OWNER, OTHER_OWNERS, UNALLOCATED_OWNER
from neuron_words.name_words import safe_name
from neuron_words.now_words import (
    ALLOCATION_UNKNOWN,
    CAN_WAIT,
    NO_OWNERS,
    NOW,
    TODAY,
    holder_marks,
    idle_words,
    is_executing_at,
    owner_words,
)
from neuron_words.owner_commands import Commands, instance_commands, owner_commands
from neuron_words.quantity_words import amount, clock, counted, duration, per_hour, percent, usd

if TYPE_CHECKING:
    from aggregator.explain.evidence import Evidence

_NEXT: Final = 2  # owners named after the first
IDLE_SENTENCES: Final[dict[str, list[str]]] = MESSAGE_WORDS["idle"]
"""
Headline, reason against haste, next step and reason for haste, by the state of the owner.

Only a state with a fourth text cannot wait. A message has owners in the order of these states.
"""

UNASKED_KINDS: Final = (
    "assigned elsewhere, holder gone",
    "assigned elsewhere",
    "left behind",
    "unknown and left behind",
    "unnamed",
)
"""Kinds without an owner to ask, or with a process to compare: a message names the process."""

STOPPABLE: Final = ("idle", "reserved", "left behind", "unallocated")
"""Kinds for which a stop may save money: they rank as one, by how much it would save."""

RANKS: Final = {
    kind: list(IDLE_SENTENCES).index("idle" if kind in STOPPABLE else kind)
    for kind in IDLE_SENTENCES
}


class RankedOwner(NamedTuple):
    """
    An owner of idle cores, and the instance with most of them.

    Attributes:
        kind: The state of the owner, a key of `IDLE_SENTENCES`.

        row: Its sums over the whole cluster.

        entry: Its worst instance; `NOTHING` if the rollup lists none.

        cores: Its idle cores on that instance.

        holder: Its process there that executed last; `NOTHING` if unknown.
    """

    kind: str
    row: IdleOwner
    entry: JsonObject = NOTHING
    cores: frozenset[int] = frozenset()
    holder: JsonObject = NOTHING

    @property
    def works(self) -> bool:
        """True if it, or a sibling, works."""
        return self.kind in {"waits", "low activity", "partly used"}

    @property
    def is_process_named(self) -> bool:
        """True if a message names its process, because no other name leads to it."""
        return self.kind in UNASKED_KINDS or self.row.owner.startswith("process:")


def find_idle_cores(evidence: Evidence) -> AlarmSummary:
    """Find what a message about idle cores, their cost or low utilization contains."""
    ranked = _ranked(evidence)
    total = total_words(evidence)
    entries = entries_in(evidence.rollup, "TopIdleInstances")
    worst = entries[0] if entries else NOTHING
    if not evidence.now.idle or not ranked:
        return _without_owners(evidence, total, worst)
    first = ranked[0]
    headline, short, against, next_step, fails = owner_sentences(evidence, first)
    named = [owner for owner in ranked[1:] if owner.row.owner != first.row.owner][:_NEXT]
    following = [f"next: {', '.join(map(_next, named))}"] if named else []
    return AlarmSummary(
        headline=headline,
        short=short,
        facts=(_where(evidence, first), against),
        urgency=NOW if fails else CAN_WAIT,
        reason=fails or can_wait_reason(evidence, first.row.cost),
        total=f"Cluster: {'; '.join([*total, *following])}.",
        commands=_commands(evidence, first, worst),
        next_step=next_step,
        teams=tuple(owner.row.team for owner in ranked if owner.row.team),
    )


def _commands(evidence: Evidence, first: RankedOwner, worst: JsonObject) -> Commands:
    """Return the commands about *first*; the last one asks whether its instance can be released."""
    entry = first.entry or worst
    holder = first.holder
    if text_in(holder, "AssignedTo"):
        return _assigned_elsewhere_commands(evidence, entry, holder)
    owner = "" if is_gone(holder) else first.row.owner
    commands = commands_about(evidence, entry, owner)
    if len(commands) < MAX_COMMANDS_OF_OWNER:
        commands = (*commands, *process_commands(evidence, entry, holder))
    instances = [text_in(entry, "InstanceId")]
    return (*commands, *instance_commands("findings", instances, evidence.region))


def _without_owners(evidence: Evidence, total: list[str], worst: JsonObject) -> AlarmSummary:
    """Find what is known of the whole cluster, if its rollup has no owners or no idle cores."""
    slow = entries_in(evidence.rollup, "StragglerInstances")[:1]
    headline, *others = total or ["no core is known"]
    instances = [text_in(worst, "InstanceId")]
    findings = instance_commands("findings", instances, evidence.region)
    commands = (*commands_about(evidence, worst, ""), *findings)
    return AlarmSummary(
        headline=headline,
        facts=tuple(f"{instance_words(entry)} is slow for its type." for entry in slow),
        urgency=CAN_WAIT if total else TODAY,
        reason=can_wait_reason(evidence, None) if total else "the cores are unknown, not idle.",
        total=f"Cluster: {'; '.join(others)}." if others else "",
        next_step="" if total else "run neuron-emf check on an instance. It reports the reason.",
        commands=commands or commands_there(evidence, slow[0] if slow else NOTHING, PROCESSES),
    )


def can_wait_reason(evidence: Evidence, cost: int | None) -> str:
    """Return the reason why idle cores can wait: their cost, and whether anything fails."""
    price = "" if cost is None else f"it costs {per_hour(cost)}"
    failing = (number_in(evidence.rollup, name) for name in ("HardwareErrors", "SilentInstances"))
    is_calm = number_in(evidence.rollup, "ExecutionErrors") == 0 and not any(failing)
    parts = [*filter(None, [price, "nothing is failing" if is_calm else ""])]
    return f"{', '.join(parts) or 'only cost is at stake'}."


def _ranked(evidence: Evidence) -> list[RankedOwner]:
    """Return the owners of idle cores: owners you can help first, then by avoidable cost."""
    entries = entries_in(evidence.rollup, "TopIdleInstances")
    owners = [_with_worst_instance(evidence, entries, row) for row in evidence.now.owners]
    saved = {
        owner.row.owner: sum(
            number_in(entry, "UsdPerHour") or 0
            for entry in entries
            if is_fully_idle(entry)
            and not is_in_other_clusters(entry)
            and idle_cores_of(entry, owner.row.owner)
        )
        for owner in owners
        if owner.kind in STOPPABLE
    }

    def rank(owner: RankedOwner) -> tuple[float, ...]:
        row = owner.row
        return RANKS[owner.kind], -saved.get(row.owner, 0), -(row.cost or 0), -row.idle

    return sorted([*_assigned_elsewhere(evidence, entries), *owners], key=rank)


def _assigned_elsewhere(evidence: Evidence, entries: Entries) -> list[RankedOwner]:
    """Return the processes that hold cores assigned to another owner, with those cores alone."""
    teams = {row.owner: row.team for row in evidence.now.owners}
    owners = []
    for entry in entries:
        idle = number_in(entry, "IdleCores")
        usd_per_hour = number_in(entry, "UsdPerHour")
        for holder in entries_in(entry, "Holders"):
            cores = core_set(holder, "Cores")
            owner = owner_name(text_in(holder, "Name"))
            if text_in(holder, "AssignedTo") and cores:
                cost = None
                if usd_per_hour and idle:
                    cost = round(usd_per_hour / idle * len(cores) * MICRO)
                row = IdleOwner(owner, MICRO * len(cores), teams.get(owner), cost=cost)
                kind = "assigned elsewhere"
                last = minute_in(holder, "LastExecution")
                if is_gone(holder) and not is_executing_at(last, evidence.now.minute):
                    kind = "assigned elsewhere, holder gone"
                owners.append(RankedOwner(kind, row, entry, frozenset(cores), holder))
    return owners


def _assigned_elsewhere_commands(
    evidence: Evidence, entry: JsonObject, holder: JsonObject
) -> Commands:
    """Return the commands that check both owners and the process of *holder*."""
    region = instance_region(evidence, entry)
    waiting, own = (
        owner_commands(text_in(holder, member), evidence.now.cluster, region)
        for member in ("AssignedTo", "Name")
    )
    commands = [
        each._replace(purpose="Does it fail?") for each in waiting[-MAX_COMMANDS_OF_OWNER:][:1]
    ]
    commands += [each._replace(purpose="Is the other gone?") for each in own[:1]]
    return (*commands, *process_commands(evidence, entry, holder))


def _with_worst_instance(evidence: Evidence, entries: Entries, row: IdleOwner) -> RankedOwner:
    """Return the owner of *row* with the first of *entries* that has idle cores of the owner."""
    entry = next((entry for entry in entries if idle_cores_of(entry, row.owner)), NOTHING)
    cores = idle_cores_of(entry, row.owner)
    own = [
        holder
        for holder in entries_in(entry, "Holders")
        if owner_name(text_in(holder, "Name")) == row.owner
    ]
    last = max(own, key=lambda holder: minute_in(holder, "LastExecution") or 0, default=NOTHING)
    return RankedOwner(kind_of(evidence, row, entry, last), row, entry, frozenset(cores), last)


def _where(evidence: Evidence, owner: RankedOwner) -> str:
    """Return since when, on which cores and instances, and when the owner executed last."""
    row = owner.row
    entry = owner.entry
    minute = evidence.now.minute
    marks = list[str]()
    minutes = (not owner.works and row.fully_idle_minutes) or row.minutes or 0
    if minute is not None and 0 < minutes <= minute:
        marks.append(f"since {clock(minute + 1 - minutes, minute)}")
    if entry:
        is_whole = len(owner.cores) == number_in(entry, "NeuronCores")
        more = (row.instances or 1) - 1
        part = "" if is_whole else f"{cores_words(owner.cores)} of "
        marks.append(f"on {part}{instance_words(entry)}")
        marks[-1] += f" and {counted(more, 'more instance')}" if more else ""
    text = " ".join(marks)
    if owner.holder and not owner.works:
        known = holder_marks(
            row.owner,
            minute_in(owner.holder, "LastExecution"),
            minute,
            is_gone=is_gone(owner.holder),
        )
        process = process_words(owner.holder, minute) if owner.is_process_named else ""
        text = "; ".join(filter(None, [text, process, *known]))
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def total_words(evidence: Evidence) -> list[str]:
    """Return how much is idle in the whole cluster, its cost, and the mean utilization."""
    now = evidence.now
    mean = number_in(evidence.rollup, "NeuronCoreUtilization")
    words = idle_words(now, state=" idle")
    if not words:
        return []
    parts = [words]
    if now.cost is not None:
        parts[0] += f", {per_hour(now.cost)}"
    if now.cost is not None and now.avoidable is not None:
        most = f"at most {per_hour(now.avoidable)}" if now.avoidable else "nothing"
        parts[0] += f", {most} avoidable"
    today = evidence.cost_today
    if today is not None:
        parts.append(f"{usd(today.usd)} so far today")
    if mean is not None:
        parts.append(f"mean utilization {percent(mean)}")
    return parts[::-1] if evidence.subject == LOW_UTILIZATION and not now.idle else parts


def _next(owner: RankedOwner) -> str:
    row = owner.row
    words = owner_words(row)
    name = NO_OWNERS.get(row.owner, "").lower() or safe_name(row.owner)
    return f"{name} {amount(row.idle / MICRO)}{f' ({words})' if words else ''}"


def is_gone(holder: JsonObject) -> bool:
    """Return True if the pod or job of a process is gone."""
    return holder.get("Gone") is True


def kind_of(evidence: Evidence, row: IdleOwner, entry: JsonObject, holder: JsonObject) -> str:
    """Return the state of the owner of *row*, by its worst instance and its process there."""
    last = minute_in(holder, "LastExecution")
    has_gone = is_gone(holder)
    is_idle = (row.fully_idle_minutes or 0) >= evidence.idle_after_minutes
    has_executed = number_in(entry, "BusyCores") == 0 and number_in(entry, "Executions")
    kinds = (
        ("unallocated", row.owner == UNALLOCATED_OWNER),
        (ALLOCATION_UNKNOWN, row.owner == NOT_REPORTED_OWNER and row.unallocated),
        ("of an older emitter", row.owner == NOT_REPORTED_OWNER),
        ("others", row.owner == OTHER_OWNERS),
        ("partly used", row.busy),
        ("low activity", row.executions),
        ("waits", (row.idle_siblings or 0) < (row.siblings or 0)),
        ("left behind", is_idle and has_gone),
        ("reserved", is_idle and row.reserved == row.allocated),
        ("idle", is_idle),
        ("low activity", has_executed or is_executing_at(last, evidence.now.minute)),
        ("unnamed", row.owner in NO_OWNERS),
        ("unknown and left behind", has_gone),
        ("unknown", True),
    )
    return next(kind for kind, is_so in kinds if is_so)


def owner_sentences(evidence: Evidence, owner: RankedOwner) -> list[str]:
    """Return headline, short headline, reason against haste, next step, and why not to wait."""
    row = owner.row
    entry = owner.entry
    holder = owner.holder
    words = describe_owner(row.owner, row.team)
    allocated = row.allocated or row.idle
    facts = {
        **MESSAGE_WORDS["phrases"],
        "tagged": TAGGED,
        "who": words.words,
        "short": words.short,
        "asked": words.asked,
        "cores": counted(row.idle / MICRO, "core"),
        "are": "is" if row.idle == MICRO else "are",
        "used": "not used its core"
        if allocated == MICRO
        else f"used none of its {amount(allocated / MICRO)} cores",
        "lasted": f" for up to {duration(row.minutes)}" if row.minutes else "",
        "quiet": duration(row.fully_idle_minutes or 0),
        "siblings": f"None of its {row.siblings} siblings works. " if row.siblings else "",
        "words": owner_words(row) or "low activity",
        "host": host_sentence(entry),
        "saving": _saving(evidence, entry, words.end),
        "work": work_words(entry, row),
        "fewer": fewer_cores_advice(entry, row),
        "waiting": describe_owner(text_in(holder, "AssignedTo")).short,
    }
    headline, *others = IDLE_SENTENCES[owner.kind]
    others = [*others, ""][:3]
    cost = "no price" if row.cost is None else per_hour(row.cost)
    sentences = [f"{headline}, {cost}"]
    sentences += [sentences[0].replace("{who}", "{short}"), *others]
    return [sentence.format_map(facts) for sentence in sentences]


def _saving(evidence: Evidence, entry: JsonObject, end: str) -> str:
    """Return when the cost ends, if it can; *end* is empty if the cores have no owner."""
    if evidence.now.committed and evidence.now.committed == evidence.now.cost:
        return "The capacity is paid for anyway."
    if is_in_other_clusters(entry):
        return "The instance reports in two clusters, so no stop is certain to end the cost."
    if entry and not is_fully_idle(entry):
        others = f"Others can use the cores when {end}, but the" if end else "The"
        return f"{others} cost continues: other cores of the instance work."
    return f"The cost ends when {f'{end} and ' if end else ''}the instance is released."
