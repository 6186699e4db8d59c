"""
Who holds the idle cores, out of what one or several records say.

A holder is named by the record that last knew the core it holds: the same
record that the core's letter comes from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from neuron_wire import WireFormatError
from neuron_wire.holders import MAX_HOLDERS, Holder, core_indexes, core_ranges

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from neuron_wire import MinuteRecord

Naming = tuple[Sequence[Holder], int]
"""Holders, and how many more there are."""


def holders_of(said: Naming, cores: Collection[int]) -> Naming:
    """
    Who of those that a record *said* holds any of *cores*, and only which of these.

    *cores* are attached-idle ones; where there is none, nobody holds one.
    """
    if not cores:
        return (), 0
    holding = []
    unreadable = 0
    holders, holders_more = said
    for holder in holders:
        try:
            held = core_indexes(holder.cores)
        except WireFormatError:
            unreadable += 1
            continue
        theirs = [core_index for core_index in held if core_index in cores]
        if theirs:
            holding.append(replace(holder, cores=core_ranges(theirs)))
    return holding, holders_more + unreadable


def merge_holders(
    sources: Iterable[tuple[MinuteRecord, Collection[int]]], idle_minutes: Sequence[int]
) -> Naming:
    """
    Who holds the attached-idle cores of a minute that several records tell.

    *sources* are the records in order of time, each with the attached-idle
    cores of which it has the last word. Who holds cores in several of them is
    one holder, under the name last given. How many more there are is at least
    what one record says: they may be the same.
    """
    cores: dict[tuple[object, ...], set[int]] = {}
    named: dict[tuple[object, ...], Holder] = {}
    more = 0
    for record, theirs in sources:
        holders, left_out = holders_of((record.holders, record.holders_more), theirs)
        more = max(more, left_out)
        for holder in holders:
            key = _runtime(holder)
            cores.setdefault(key, set()).update(core_indexes(holder.cores))
            before = named.get(key)
            named[key] = holder if before is None else _later(before, holder)
    ordered = sorted(named, key=lambda key: _place(named[key], cores[key], idle_minutes))
    listed = [replace(named[key], cores=core_ranges(cores[key])) for key in ordered[:MAX_HOLDERS]]
    return listed, more + len(ordered) - len(listed)


def _later(before: Holder, holder: Holder) -> Holder:
    """*holder*, with what only an earlier record of the same minute knew of it."""
    # Texts of one form: the later minute is the greater text.
    executed = max(before.last_execution or "", holder.last_execution or "")
    return replace(
        holder,
        name=holder.name or before.name,
        team=holder.team or before.team,
        last_execution=executed or None,
    )


def _runtime(holder: Holder) -> tuple[object, ...]:
    # Neither pid nor tag alone tells two runtimes apart, and a pod has several.
    if holder.pid is None and holder.tag is None:
        return (holder.name,)
    return holder.pid, holder.tag


def _place(holder: Holder, cores: set[int], idle_minutes: Sequence[int]) -> tuple[object, ...]:
    # As the emitter orders them: the longest idle, then the most cores, then by pid.
    longest = max(idle_minutes[core_index] for core_index in cores)
    return -longest, -len(cores), holder.pid or 0, holder.tag or "", holder.name or ""
