"""
What is said of an owner of idle cores, by what is known of it.

Only who is wholly idle gets the words of an idle one; who works is never to be stopped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from aggregator.explain.idle_instance import fewer_cores, host_of, is_wholly_idle, work_of
from aggregator.explain.whose import owner_of
from neuron_wire import phrases
from neuron_wire.core_owners import MICRO
from neuron_wire.names import NOT_TOLD_OWNER, OTHER_OWNERS, UNALLOCATED_OWNER
from neuron_wire.phrases import amount, counted, duration

if TYPE_CHECKING:
    from aggregator.explain.finding import Case
    from aggregator.explain.members import Members
    from neuron_wire.now import IdleOwner

_MORNING: Final = "Can wait until morning: {price}nothing fails."
_FAILS: Final = "Do not wait: {waiting} has not opened them and may fail to start."
_UNASKED: Final = "Nobody can be asked. Do not end it unseen."
_UNTOLD: Final = "Whether it executes is not told."
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
    "untold": ("{who} has {cores} idle{lasted}", f"{_UNTOLD} Do not cancel it unasked.",
               "ask {asked}."),
    "untold and left behind": ("what is left of {who} has {cores} idle{lasted}",
                               f"{_UNTOLD} {_UNASKED}", _TAGS),
    "unnamed": ("unnamed processes have {cores} idle{lasted}", f"{_UNTOLD} {_UNASKED}", _TAGS),
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
    "others": ("other owners have {cores} idle{lasted}", f"{_UNTOLD} Do not stop them.",
               "nothing."),
}  # fmt: skip
"""
Headline, what speaks against haste, what to do now, and whether that can wait: by what is known.

What stands first here is told first.
"""

STOPPABLE: Final = ("idle", "reserved", "left behind", "free")
"""What a stop may save; of these, told together, the one comes first whose it saves most."""

RANKS: Final = {
    kind: list(SENTENCES).index("idle" if kind in STOPPABLE else kind) for kind in SENTENCES
}


class Told(NamedTuple):
    """
    An owner of idle cores, and where it has most of them.

    Attributes:
        kind: What is known of it, a key of `SENTENCES`.

        row: What the whole cluster tells of it.

        entry: Its worst instance; None where the rollup lists none of its.

        there: Its idle cores on that.

        holder: Its process there that executed last, where that is told.
    """

    kind: str
    row: IdleOwner
    entry: Members | None = None
    there: frozenset[int] = frozenset()
    holder: Members | None = None

    @property
    def works(self) -> bool:
        """Whether it, or a sibling, works."""
        return self.kind in {"waits", "little used", "uses part"}

    @property
    def ids(self) -> list[str]:
        """Its worst instance."""
        return [self.entry.raw("InstanceId")] if self.entry else []


def is_gone(holder: Members | None) -> bool:
    """Whether the pod or job of a process is gone."""
    return holder is not None and holder.given.get("Gone") is True


def kind_of(case: Case, row: IdleOwner, entry: Members | None, holder: Members | None) -> str:
    """What is known of the owner of *row*, by its worst instance and its process there."""
    last = holder.minute("LastExecution") if holder else None
    has_gone = is_gone(holder)
    is_idle = (row.wholly_idle_minutes or 0) >= case.idle_after_minutes
    has_executed = entry and entry.number("BusyCores") == 0 and entry.number("Executions")
    kinds = (
        ("free", row.owner == UNALLOCATED_OWNER),
        ("unread", row.owner == NOT_TOLD_OWNER and row.unheld),
        ("of an older emitter", row.owner == NOT_TOLD_OWNER),
        ("others", row.owner == OTHER_OWNERS),
        ("uses part", row.busy),
        ("little used", row.executions),
        ("waits", (row.idle_siblings or 0) < (row.siblings or 0)),
        ("left behind", is_idle and has_gone),
        ("reserved", is_idle and row.reserved == row.held),
        ("idle", is_idle),
        ("little used", has_executed or phrases.is_executing_at(last, case.now.minute)),
        ("unnamed", row.owner in phrases.NO_OWNERS),
        ("untold and left behind", has_gone),
        ("untold", True),
    )
    return next(kind for kind, is_so in kinds if is_so)


def sentences_of(case: Case, found: Told) -> list[str]:
    """Headline, the same in short, what speaks against haste, what to do, whether it can wait."""
    row, entry, holder = found.row, found.entry, found.holder
    owner, held = owner_of(row.owner, row.team), row.held or row.idle
    pid, held_cores = holder.number("Pid") if holder else None, amount(held / MICRO)
    facts = {
        "who": owner.words,
        "short": owner.short,
        "asked": owner.asked,
        "cores": counted(row.idle / MICRO, "core"),
        "used": "not used its core" if held == MICRO else f"used none of its {held_cores} cores",
        "lasted": f" for up to {duration(row.minutes)}" if row.minutes else "",
        "quiet": duration(row.wholly_idle_minutes or 0),
        "price": "" if row.cost is None else f"{phrases.usd(row.cost / MICRO)} an hour, ",
        "siblings": f"None of its {row.siblings} siblings works. " if row.siblings else "",
        "words": phrases.owner_words(row) or "little used",
        "host": host_of(entry),
        "saving": _saving(case, entry, owner.end),
        "work": work_of(entry, row),
        "fewer": fewer_cores(entry, row),
        "waiting": owner_of(holder.raw("GivenTo") if holder else "").short,
        "pid": "" if pid is None else f" {pid:.0f}",
    }
    headline, *others = SENTENCES[found.kind]
    others = [*others, _MORNING][:3]
    cost = "no price" if row.cost is None else phrases.per_hour(row.cost)
    said = [f"{headline}, {cost}", f"{headline.replace('{who}', '{short}')}, {cost}", *others]
    return [one.format_map(facts) for one in said]


def _saving(case: Case, entry: Members | None, end: str) -> str:
    """When money is saved, if it can be; *end* is empty where nobody has the cores."""
    if case.now.sunk and case.now.sunk == case.now.cost:
        return "It is paid anyway."
    if entry is not None and not is_wholly_idle(entry):
        others = f"Others can have the cores when {end}; no" if end else "No"
        return f"{others} stop saves money: their instance works."
    return f"Money is saved when {f'{end} and ' if end else ''}the instance goes back."
