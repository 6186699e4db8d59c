"""
The owners of cores in a minute, busy, idle or reserved: how they are written, read and merged.

An owner is a name: all runtimes with one name, and its reservations, are one owner. The cores of
owners that are not listed are in OwnersMore, so that both together are exactly the held and
reserved cores. Reading is lenient, as with holders: a name is worth less than its minute.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from neuron_wire.core_members import core_indexes, core_ranges, cores_in
from neuron_wire.holders import MAX_TEAM_CHARS, printable_name
from neuron_wire.line_members import JsonObject, count_in, present_members
from neuron_wire.names import UNATTACHED_STATE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

MAX_OWNERS_IN_LINE: Final = 32
"""Owners that one line names; readers of a release before reservations use the first 16."""

MAX_OWNERS_BYTES: Final = 1_800
"""The most bytes of the array Owners in a line."""

UNNAMED_OWNER: Final = "[unnamed]"
"""The owner of all processes without a known owner."""

TEAM_OWNER: Final = "team:"
"""The beginning of the name of an owner that is a whole team, from emitters that name no person."""


# Never changed, but not frozen: creating a frozen object takes three times as long.
@dataclass(slots=True)
class Owner:
    """
    All runtimes with one name.

    Attributes:
        cores: The cores that they held in the minute, busy or not, such as `0-7,12`; empty if it
            only has reserved cores.

        name: Such as `namespace/pod/container`, or `UNNAMED_OWNER`.

        team: Team from the scheduler; None if unknown, or if there are several.

        reserved: Unattached cores that the scheduler assigned to it, such as `4-7`.

        executions: Executions of the minute that ended or failed; None if they were not read, or if
            it holds no core.

        quiet_minutes: Consecutive whole minutes, including this one, in which it was present, its
            executions were read and none ended or failed; None otherwise.
    """

    cores: str
    name: str
    team: str | None = None
    reserved: str = ""
    executions: int | None = None
    quiet_minutes: int | None = None


class Holding(NamedTuple):
    """The part of an instance that one runtime holds, or one reservation; members as in `Owner`."""

    name: str | None
    cores: Collection[int]
    team: str | None = None
    reserved: Collection[int] = ()
    executions: int | None = None


@dataclass(slots=True)
class OwnerHolding:
    """All holdings of one name; members as in `Owner`."""

    team: str | None
    cores: set[int] = field(default_factory=set)
    reserved: set[int] = field(default_factory=set)
    executions: int | None = None
    quiet_minutes: int | None = None

    def owner(self, name: str) -> Owner:
        """Return the entry of a line."""
        return Owner(
            core_ranges(self.cores),
            name,
            self.team,
            core_ranges(self.reserved),
            self.executions,
            self.quiet_minutes,
        )


Owned: TypeAlias = "tuple[tuple[Owner, ...], str]"
"""The listed owners, and the cores that only unlisted owners have, as ranges."""


def group_holdings(holdings: Iterable[Holding]) -> dict[str, OwnerHolding]:
    """
    Return *holdings* by printable name; the executions are None if one of them has none.

    A holding without a team does not remove a team; two different teams of one name give None.
    """
    owners: dict[str, OwnerHolding] = {}
    teams: defaultdict[str, set[str]] = defaultdict(set)
    for holding in holdings:
        if not holding.cores and not holding.reserved:
            continue
        name = printable_name(holding.name) or UNNAMED_OWNER
        team = printable_name(holding.team, MAX_TEAM_CHARS)
        if team and name != UNNAMED_OWNER:  # a name that stands for several owners
            teams[name].add(team)
        known = owners.setdefault(name, OwnerHolding(None))
        if holding.cores:
            known.executions = (
                holding.executions
                if not known.cores
                else _sum_if_both(known.executions, holding.executions)
            )
            known.cores.update(holding.cores)
        known.reserved.update(holding.reserved)
    for name, named in teams.items():
        if len(named) == 1:
            owners[name].team = min(named)
    return owners


def _sum_if_both(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def list_owners(owners: Mapping[str, OwnerHolding], others: Collection[int] = ()) -> Owned:
    """
    Return *owners*, most cores first, within the limits of a line; *others* have further cores.

    An owner that does not fit does not exclude a shorter one.
    """
    listed: list[Owner] = []
    listed_cores: set[int] = set()
    left_out = set(others)
    # each size includes a comma, which the last entry does not have
    room = MAX_OWNERS_BYTES - len("[]") + len(",")
    cores = {name: owner.cores | owner.reserved for name, owner in owners.items()}
    for name in sorted(owners, key=lambda name: (-len(cores[name]), name)):
        if len(listed) < MAX_OWNERS_IN_LINE:
            owner = owners[name].owner(name)
            size = _written_bytes(owner)
            if size <= room:
                room -= size
                listed.append(owner)
                listed_cores |= cores[name]
                continue
        left_out |= cores[name]
    return tuple(listed), core_ranges(left_out - listed_cores)


def _written_bytes(owner: Owner) -> int:
    """Return the bytes of its object and a comma; encoding it takes four times as long."""
    size = len("{},") - len(",")
    for name, value in _members(owner).items():
        size += len(name) + len('"":,')
        text = str(value)
        if not isinstance(value, int):
            size += len('""') + text.count('"') + text.count("\\")
        size += len(text.encode())
    return size


def owner_members(owners: Iterable[Owner]) -> list[dict[str, str | int]]:
    """Return the objects of the member Owners."""
    return [_members(owner) for owner in owners]


def _members(owner: Owner) -> dict[str, str | int]:
    return present_members(
        {
            "Cores": owner.cores or None,
            "Name": owner.name,
            "Team": owner.team,
            "Reserved": owner.reserved or None,
            "Executions": owner.executions,
            "QuietMinutes": owner.quiet_minutes or None,
        }
    )


def read_owners(line: JsonObject, state: str) -> Owned:
    """
    Return the owners of a line whose cores have *state*; none for a line of an older emitter.

    The cores of an entry that cannot be read still count as owned, if they can be read.

    >>> owners, others = read_owners({"Owners": [{"Name": "ml/a-0", "Cores": "0-1"}]}, "ab?u")
    >>> owners[0].name, owners[0].cores, others
    ('ml/a-0', '0-1', '')
    """
    given = line.get("Owners")
    more = line.get("OwnersMore")
    if given is None and more is None:
        return (), ""
    owners: list[Owner] = []
    left_out = set(cores_in(line, "OwnersMore", len(state)))
    for entry in given[:MAX_OWNERS_IN_LINE] if isinstance(given, list) else ():
        if not isinstance(entry, dict):
            continue
        held = cores_in(entry, "Cores", len(state))
        reserved: Sequence[int] = ()
        if "Reserved" in entry:  # few entries have it, and each call takes time
            reserved = [
                core
                for core in cores_in(entry, "Reserved", len(state))
                if state[core] == UNATTACHED_STATE
            ]
        if not held and not reserved:
            continue
        name = printable_name(entry.get("Name"))
        if name is None:
            left_out.update(held, reserved)
            continue
        owners.append(
            Owner(
                entry["Cores"] if held else "",
                name,
                printable_name(entry.get("Team"), MAX_TEAM_CHARS),
                core_ranges(reserved) if reserved else "",
                count_in(entry, "Executions") if held else None,
                count_in(entry, "QuietMinutes") or None,
            )
        )
    if not left_out:
        return tuple(owners), ""
    for owner in owners:
        left_out.difference_update(core_indexes(owner.cores), core_indexes(owner.reserved))
    return tuple(owners), core_ranges(left_out)


def merge_owners(parts: Sequence[tuple[Owned, Collection[int]]]) -> Owned:
    """
    Merge the owners of several records of one minute.

    *parts* are in order of time: each record's owners, and the cores that no later record
    reports. Executions are added where each part has them; an owner that executed in one part is
    not quiet.
    """
    holdings: list[Holding] = []
    quiet: dict[str, int | None] = {}
    executions: dict[str, int | None] = {}
    left_out: set[int] = set()
    for (owners, more), cores in parts:
        for owner in owners:
            held, reserved = (
                [core for core in core_indexes(text) if core in cores]
                for text in (owner.cores, owner.reserved)
            )
            holdings.append(Holding(owner.name, held, owner.team, reserved))
            quiet[owner.name] = owner.quiet_minutes
            if owner.cores:
                done = owner.executions
                if owner.name in executions:
                    done = _sum_if_both(executions[owner.name], done)
                executions[owner.name] = done
        left_out.update(core for core in core_indexes(more) if core in cores)
    merged = group_holdings(holdings)
    for name, holding in merged.items():
        holding.executions = executions.get(name) if holding.cores else None
        holding.quiet_minutes = None if executions.get(name) else quiet[name]
    return list_owners(merged, left_out)
