"""
Holders of attached-idle cores: how they are written, read, and merged from several records.

Reading is lenient: a holder that cannot be read is omitted and added to the count of further ones,
because a name is worth less than its minute. A core's holder comes from the record that last knew
the core, like its letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from neuron_wire.core_members import core_indexes, core_ranges, cores_in
from neuron_wire.line_members import MAX_COUNT, JsonObject, Members, count_of, present_members

if TYPE_CHECKING:
    from collections.abc import Collection

MAX_HOLDERS: Final = 8
"""Holders that one line names; further ones are only counted."""

MAX_HOLDER_NAME_CHARS: Final = 128
MAX_TEAM_CHARS: Final = 63
"""The longest Kubernetes namespace."""

MAX_COMMAND_CHARS: Final = 15
"""The kernel stores a command name in 16 bytes, the last one 0: proc_pid_comm(5)."""

_ISO_MINUTE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}Z")


# Never changed, but not frozen: creating a frozen object takes three times as long.
@dataclass(slots=True)
class Holder:
    """
    One runtime that holds attached-idle cores.

    Attributes:
        cores: The attached-idle cores that it holds, for example `0-7,12`.

        name: The owner's name, for example `namespace/pod/container`; None if unknown.

        pid: Process id as neuron-monitor sees it.

        tag: Its `neuron_runtime_tag`. Pid and tag together identify a runtime.

        team: Team name from the scheduler; None if unknown.

        last_execution: The last minute in which it completed an execution, such as
            `2026-11-22T02:10Z`; None if none was seen since the emitter started to watch it.

        gone: True if its pod or Slurm job is no longer on the instance, but its process is.

        assigned_to: The other owner that its cores are assigned to; None if there is none.

        started: The minute in which its process started, such as `2026-11-22T02:10Z`; None if
            unknown.

        command: The command name of its process, without arguments; None if unknown.
    """

    cores: str
    name: str | None = None
    pid: int | None = None
    tag: str | None = None
    team: str | None = None
    last_execution: str | None = None
    gone: bool = False
    assigned_to: str | None = None
    started: str | None = None
    command: str | None = None


def printable_name(text: object, longest: int = MAX_HOLDER_NAME_CHARS) -> str | None:
    """Return *text* shortened, with `?` for unprintable characters; None without a text."""
    if not text or not isinstance(text, str):
        return None
    text = text[:longest]
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def holder_members(holders: Iterable[Holder]) -> list[Members]:
    """Return the objects of the member Holders; unknown values have no member."""
    return [
        present_members(
            {
                "Cores": holder.cores,
                "Name": printable_name(holder.name),
                "Pid": count_of(holder.pid),
                "Tag": printable_name(holder.tag),
                "Team": printable_name(holder.team, MAX_TEAM_CHARS),
                "LastExecution": holder.last_execution,
                "Gone": holder.gone or None,
                "AssignedTo": printable_name(holder.assigned_to),
                "Started": holder.started,
                "Command": printable_name(holder.command, MAX_COMMAND_CHARS),
            }
        )
        for holder in holders
    ]


def read_holders(line: JsonObject) -> tuple[tuple[Holder, ...], int]:
    """
    Return the holders of a line, and the number of further ones.

    >>> line = {"Holders": [{"Cores": "0-3", "Name": "ml/a-0"}], "HoldersMore": 2}
    >>> holders, more = read_holders(line)
    >>> holders[0].cores, holders[0].name, more
    ('0-3', 'ml/a-0', 2)
    """
    entries = line.get("Holders")
    more = line.get("HoldersMore")
    if entries is None and more is None:
        return (), 0
    entries = entries if isinstance(entries, list) else []
    holders = tuple(
        Holder(
            cores=entry["Cores"],
            name=printable_name(entry.get("Name")),
            pid=count_of(entry.get("Pid")),
            tag=printable_name(entry.get("Tag")),
            team=printable_name(entry.get("Team"), MAX_TEAM_CHARS),
            last_execution=_read_minute(entry, "LastExecution"),
            gone=entry.get("Gone") is True,
            assigned_to=printable_name(entry.get("AssignedTo")),
            started=_read_minute(entry, "Started"),
            command=printable_name(entry.get("Command"), MAX_COMMAND_CHARS),
        )
        for entry in entries[:MAX_HOLDERS]
        if isinstance(entry, dict) and cores_in(entry, "Cores")
    )
    return holders, min((count_of(more) or 0) + len(entries) - len(holders), MAX_COUNT)


def _read_minute(entry: JsonObject, member: str) -> str | None:
    text = entry.get(member)
    return text if isinstance(text, str) and _ISO_MINUTE.fullmatch(text) else None


Naming = tuple[Sequence[Holder], int]
"""Holders, and the number of further ones."""


def holders_of(naming: Naming, cores: Collection[int]) -> Naming:
    """
    Return the holders in *naming* of any of *cores*, with only these cores.

    *cores* are attached-idle ones; without any there are no holders.
    """
    if not cores:
        return (), 0
    holding = []
    holders, holders_more = naming
    for holder in holders:
        held = [core for core in core_indexes(holder.cores) if core in cores]
        if held:
            holding.append(replace(holder, cores=core_ranges(held)))
    return holding, holders_more


def merge_holders(
    sources: Iterable[tuple[Naming, Collection[int]]], idle_minutes: Sequence[int]
) -> Naming:
    """
    Merge the holders of attached-idle cores from several records of one minute.

    *sources* are the holders of each record, in order of time, with the attached-idle cores that no
    later record knows. A holder of cores in several records is one holder, with its latest name.
    The number of further holders is at least that of one record: they may be the same.
    """
    cores: dict[tuple[object, ...], set[int]] = {}
    named: dict[tuple[object, ...], Holder] = {}
    more = 0
    for naming, attached in sources:
        holders, left_out = holders_of(naming, attached)
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
    """Return *holder* with values that only an earlier record of the same minute has."""
    # Texts of one form: the later minute is the greater text.
    executed = max(before.last_execution or "", holder.last_execution or "")
    return replace(
        holder,
        name=holder.name or before.name,
        team=holder.team or before.team,
        last_execution=executed or None,
        started=holder.started or before.started,
        command=holder.command or before.command,
    )


def _runtime(holder: Holder) -> tuple[object, ...]:
    # Neither pid nor tag alone identifies a runtime, and a pod has several.
    if holder.pid is None and holder.tag is None:
        return (holder.name,)
    return holder.pid, holder.tag


def _place(holder: Holder, cores: set[int], idle_minutes: Sequence[int]) -> tuple[object, ...]:
    # In the emitter's order: the longest idle, then the most cores, then by pid.
    longest = max(idle_minutes[core_index] for core_index in cores)
    return -longest, -len(cores), holder.pid or 0, holder.tag or "", holder.name or ""
