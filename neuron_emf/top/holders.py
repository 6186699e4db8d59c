"""Who holds the cores of an instance, in words: of its idle cores together, and core by core."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from neuron_emf.figures import idle_cores
from neuron_emf.owners import UNALLOCATED, owners_of
from neuron_wire import WireFormatError
from neuron_wire.holders import core_indexes, core_ranges
from neuron_wire.names import UNKNOWN
from neuron_wire.owners import UNNAMED
from neuron_wire.phrases import holder_marks, iso
from neuron_wire.teams import TeamRules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_wire import MinuteRecord
    from neuron_wire.holders import Holder

_NO_RULES = TeamRules()


def idle_owners(record: MinuteRecord, idle_after: int) -> list[tuple[str, str, list[str]]]:
    """
    Who holds the idle cores, most of them first: name, cores as ranges, and what is known.

    A core that several hold is with each of them.
    """
    held: dict[str, list[int]] = defaultdict(list)
    most: Counter[str] = Counter()
    holding = owners_of(record, idle_cores(record, idle_after), _NO_RULES)
    for core, owners in holding.items():
        for owner, micros in owners:
            held[owner.name].append(core)
            most[owner.name] += micros
    return [
        (name, core_ranges(held[name]), _facts_of(record, name))
        for name in sorted(held, key=lambda name: (-most[name], name))
    ]


def owner_line(name: str, cores: str, facts: Sequence[str]) -> str:
    """`cores 0-31: slurm:4711 ada, no execution since 02:10 UTC`."""
    return ", ".join([f"cores {cores}: {name}", *facts])


def held_by(record: MinuteRecord) -> dict[int, str]:
    """Who holds each held core: of an idle one its process, of a busy one its owners."""
    known = [core for core, letter in enumerate(record.core_state) if letter != UNKNOWN]
    words = {
        core: ", ".join(owner.name for owner, _ in owners)
        for core, owners in owners_of(record, known, _NO_RULES).items()
        if owners[0][0] != UNALLOCATED
    }
    for holder in record.holders:
        try:
            cores = core_indexes(holder.cores)
        except WireFormatError:
            continue
        words.update(dict.fromkeys(cores, ", ".join(_words(holder, record.minute_ms))))
    return words


def _words(holder: Holder, minute_ms: int) -> list[str]:
    parts = [holder.name or ""]
    if holder.tag:
        parts.append(f"tag {holder.tag}")
    if holder.pid is not None:
        parts.append(f"pid {holder.pid}")
    named = list(filter(None, parts)) or ["somebody unnamed"]
    return named + _facts([holder], minute_ms)


def _facts_of(record: MinuteRecord, name: str) -> list[str]:
    holders = [holder for holder in record.holders if (holder.name or UNNAMED) == name]
    return _facts(holders, record.minute_ms)


def _facts(holders: Sequence[Holder], minute_ms: int) -> list[str]:
    """What is strange of *holders* of one name, of all of them or of the latest."""
    executed = max((holder.last_execution or "" for holder in holders), default="")
    is_gone = bool(holders) and all(holder.gone for holder in holders)
    name = holders[0].name if holders else None
    return holder_marks(name, executed, iso(minute_ms), is_gone=is_gone)
