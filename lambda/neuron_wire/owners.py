"""
Who held which cores in a minute, busy or not: written, read and merged.

An owner is a name: all runtimes of one name are one. The held cores that no
listed owner holds stand in OwnersMore, so that both together are exactly the
cores that somebody held. A reader is lenient, as with holders: a name is worth
less than the minute it stands in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from neuron_wire.errors import WireFormatError
from neuron_wire.holders import MAX_TEAM_CHARS, core_indexes, core_ranges, printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

MAX_OWNERS: Final = 16
"""Owners that one line names."""

MAX_OWNERS_BYTES: Final = 1_000
"""Bytes that the array Owners of a line has at most."""

UNNAMED: Final = "[unnamed]"
"""Of processes that nobody could name, all together."""

TEAM_OWNER: Final = "team:"
"""How the name of an owner begins that is a whole team: emitters that name no person write it."""

_ENTRY_CHARS: Final = len('{"Cores":"","Name":""},')
_TEAM_CHARS: Final = len(',"Team":""')


@dataclass(frozen=True, slots=True)
class Owner:
    """
    All runtimes of one name.

    Attributes:
        cores: The cores that they held in the minute, busy or not, such as `0-7,12`.

        name: Such as `namespace/pod/container`, or `UNNAMED`.

        team: Of whom, as the scheduler says; None where it does not, or says several.
    """

    cores: str
    name: str
    team: str | None = None


Holding: TypeAlias = "tuple[str | None, Collection[int], str | None]"
"""Name, held cores and team of one runtime, or of several."""

Owned: TypeAlias = tuple[tuple[Owner, ...], str]
"""The owners, and the cores that only owners left out of them held, as ranges."""


def owned(holdings: Iterable[Holding]) -> Owned:
    """
    *holdings* by name, most cores first, within the bounds of a line.

    Who finds no room does not keep a shorter one out.
    """
    cores: dict[str, set[int]] = {}
    teams: dict[str, str | None] = {}
    for full_name, theirs, full_team in holdings:
        if not theirs:
            continue
        name = printable(full_name) or UNNAMED
        team = printable(full_team, MAX_TEAM_CHARS)
        known = cores.get(name)
        if known is None:
            cores[name], teams[name] = set(theirs), team
        else:
            known.update(theirs)
            teams[name] = team if team == teams[name] else None
    listed: list[Owner] = []
    held_by_listed: set[int] = set()
    left_out: set[int] = set()
    room = MAX_OWNERS_BYTES - len("[]") + len(",")
    for name in sorted(cores, key=lambda name: (-len(cores[name]), name)):
        if len(listed) < MAX_OWNERS:
            owner = Owner(core_ranges(cores[name]), name, teams[name])
            size = _written_bytes(owner)
            if size <= room:
                room -= size
                listed.append(owner)
                held_by_listed |= cores[name]
                continue
        left_out |= cores[name]
    return tuple(listed), core_ranges(left_out - held_by_listed)


def _written_bytes(owner: Owner) -> int:
    """Bytes of its object and a comma: encoding it costs four times as much."""
    size = _ENTRY_CHARS + len(owner.cores) + _text_bytes(owner.name)
    return size if owner.team is None else size + _TEAM_CHARS + _text_bytes(owner.team)


def _text_bytes(text: str) -> int:
    """Bytes of a printable *text* in JSON."""
    return len(text.encode()) + text.count('"') + text.count("\\")


def owner_members(owners: Iterable[Owner]) -> list[dict[str, object]]:
    """The objects of the member Owners."""
    return [_members(owner) for owner in owners]


def _members(owner: Owner) -> dict[str, object]:
    members: dict[str, object] = {"Cores": owner.cores, "Name": owner.name}
    if owner.team is not None:
        members["Team"] = owner.team
    return members


def read_owners(line: Mapping[str, object], width: int) -> Owned:
    """
    The owners of a line of *width* cores; a line of an older emitter has none.

    Of an entry that cannot be read the cores still count as held, where these can.
    """
    given, more = line.get("Owners"), line.get("OwnersMore")
    if given is None and more is None:
        return (), ""
    owners: list[Owner] = []
    left_out = set(_cores(more, width))
    for entry in given[:MAX_OWNERS] if isinstance(given, list) else ():
        if not isinstance(entry, Mapping) or not (cores := _cores(entry.get("Cores"), width)):
            continue
        name, team = entry.get("Name"), entry.get("Team")
        if isinstance(name, str) and (text := printable(name)):
            read_team = printable(team, MAX_TEAM_CHARS) if isinstance(team, str) else None
            owners.append(Owner(entry["Cores"], text, read_team))
        else:
            left_out.update(cores)
    if left_out:
        left_out.difference_update(*(core_indexes(owner.cores) for owner in owners))
    return tuple(owners), core_ranges(left_out)


def _cores(text: object, width: int) -> Sequence[int]:
    """The cores of *text*, none where it cannot be read or names one that the line has not."""
    try:
        cores = core_indexes(text) if isinstance(text, str) else ()
    except WireFormatError:
        return ()
    return cores if cores and cores[-1] < width else ()


def merge_owners(parts: Iterable[tuple[Owned, Collection[int]]]) -> Owned:
    """
    Who held the cores of a minute that several records tell.

    *parts* are what each record says, with the cores of which it has the last word.
    """
    holdings: list[Holding] = []
    left_out: set[int] = set()
    for (owners, more), cores in parts:
        for owner in owners:
            theirs = [core for core in core_indexes(owner.cores) if core in cores]
            holdings.append((owner.name, theirs, owner.team))
        left_out.update(core for core in core_indexes(more) if core in cores)
    listed, more = owned(holdings)
    if left_out:
        left_out.update(core_indexes(more))
        left_out.difference_update(*(core_indexes(owner.cores) for owner in listed))
        more = core_ranges(left_out)
    return listed, more
