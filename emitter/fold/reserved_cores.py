"""
Which unattached cores are reserved, out of what the scheduler says that it gave to whom.

Held stands above reserved. From ids alone only their number is sure, for the Neuron scheduler
extension may have given other cores: what an owner was given and does not hold is shown at its
own ids where nobody holds them, else at the lowest free cores.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from emitter.fold.runtime_owner import RuntimeOwner
from emitter.team_names import team_name
from neuron_wire.names import UNATTACHED, UNKNOWN
from neuron_wire.owners import Holding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from emitter.fold.runtime_owner import RuntimeKey
    from emitter.owners.given import Allocation


@dataclass(slots=True)
class ReservedCores:
    """
    What is reserved in one minute.

    Attributes:
        holdings: By owner, its reserved cores.

        given_to: To whom the cores of a runtime were given, where that is surely another.

        unverified: Cores given to pods that have no process and do not wait to start.
    """

    holdings: list[Holding] = field(default_factory=list)
    given_to: dict[RuntimeKey, str] = field(default_factory=dict)
    unverified: int = 0

    def of_teams(self, allocations: Iterable[Allocation]) -> ReservedCores:
        """The same where only teams are named."""
        teams = {one.name: team_name(one.team) for one in allocations}
        return ReservedCores(
            [one._replace(name=team_name(one.team)) for one in self.holdings],
            {key: team for key, name in self.given_to.items() if (team := teams[name])},
            self.unverified,
        )


def given_cores(allocation: Allocation, cores_per_device: int | None, width: int) -> set[int]:
    """The cores of *allocation* among the first *width*, those of its devices included."""
    per_device = cores_per_device or 0
    cores = {
        device * per_device + place for device in allocation.devices for place in range(per_device)
    }
    return {core for core in cores | allocation.cores if core < width}


def owners_given(
    allocations: Iterable[Allocation], cores_per_device: int | None, width: int
) -> dict[int, RuntimeOwner]:
    """To whom each core is given, as their ids say it."""
    found: dict[int, RuntimeOwner] = {}
    for one in allocations:
        for core in given_cores(one, cores_per_device, width):
            found.setdefault(core, RuntimeOwner(one.name, one.team))
    return found


def reserve(
    allocations: Sequence[Allocation],
    held: Mapping[RuntimeKey, set[int]],
    owners: Mapping[RuntimeKey, RuntimeOwner],
    states: str,
    cores_per_device: int | None,
) -> ReservedCores:
    """What of *allocations* nobody holds, given what runtimes do and the cores' *states*."""
    found = ReservedCores()
    held_by: dict[str, set[int]] = defaultdict(set)
    for key, cores in held.items():
        held_by[_place_of(owners[key].name or "")] |= cores
    by_place: dict[str, list[Allocation]] = defaultdict(list)
    for one in allocations:
        by_place[_place_of(one.name)].append(one)
    unheld = {core for core, letter in enumerate(states) if letter == UNATTACHED}
    unknown = {core for core, letter in enumerate(states) if letter == UNKNOWN}
    left: list[tuple[Allocation, set[int], int]] = []
    taken: set[int] = set()
    for place, theirs in by_place.items():
        given = set().union(*(given_cores(one, cores_per_device, len(states)) for one in theirs))
        is_exact = all(one.is_exact for one in theirs)
        others = _held_by_others(place, given, held, owners, is_exact=is_exact)
        for key in others:
            found.given_to[key] = theirs[0].name
        blocked = unknown.union(*(held[key] for key in others)) & given
        count = max(0, len(given - blocked) - len(held_by[place]))
        if is_exact:
            count = len(given & unheld)
        if not any(one.is_verified for one in theirs):
            found.unverified += count
            continue
        cores = set(sorted(given & unheld)[:count])
        taken |= cores
        left.append((theirs[0], cores, 0 if is_exact else count - len(cores)))
    free = iter(sorted(unheld - taken))
    for first, cores, more in left:
        reserved = {*cores, *islice(free, more)}
        if reserved:
            found.holdings.append(Holding(first.name, (), first.team, reserved))
    return found


def _held_by_others(
    place: str,
    given: set[int],
    held: Mapping[RuntimeKey, set[int]],
    owners: Mapping[RuntimeKey, RuntimeOwner],
    *,
    is_exact: bool,
) -> list[RuntimeKey]:
    """Runtimes of other owners that surely hold what was *given* to this one."""
    return [
        key
        for key, cores in held.items()
        if cores & given
        and (name := owners[key].name)
        and (is_exact or owners[key].gone)
        and _place_of(name) != place
    ]


def _place_of(name: str) -> str:
    """What processes and allocations of one pod, task or job have in common."""
    parts = name.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 and ":" not in parts[0] else name
