"""
Which cores a runtime holds: the evidence is bytes on the core or a model on it.

Listing a core is not holding it: every runtime lists every core it can see.
Only a runtime without a usable memory group is taken to hold all it lists,
because nothing says otherwise. The minute's last report that had the runtime's memory
decides, else its last one that had the runtime's counters, so nothing is worked out before
the minute closes. Who holds the cores that are attached idle is named in the line.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from emitter.fold.inventory import CORE_INDEX
from emitter.fold.runtime import RuntimeOwner, runtime_key, team_name
from neuron_wire.cores import core_ranges
from neuron_wire.holders import MAX_HOLDERS, Holder
from neuron_wire.names import ATTACHED_IDLE, MAX_CORES, UNATTACHED, UNKNOWN
from neuron_wire.owners import Holding
from neuron_wire.phrases import iso_minute

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from emitter.fold.runtime import RuntimeKey
    from emitter.owners.given import Allocation
    from emitter.reports.groups import Memory, Runtime, Uses


class Holdings(NamedTuple):
    """Cores by the runtime that holds them, and the owner of each."""

    cores: Mapping[RuntimeKey, set[int]]
    owners: Mapping[RuntimeKey, RuntimeOwner]


def usable_memory(runtime: Runtime) -> Memory | None:
    """The runtime's memory group, or None when it is missing or in error."""
    memory = None if runtime.report is None else runtime.report.memory_used
    return None if memory is None or memory.error else memory


def held_by_memory(memory: Memory, cores_per_device: int | None) -> tuple[set[int], int]:
    """
    Cores with bytes on them or a loaded subgraph.

    Returns:
        The cores, and how many places were left out because no core can be there.
    """
    cores: set[int] = set()
    malformed = 0
    used = memory.neuron_runtime_used_bytes
    breakdown = None if used is None else used.usage_breakdown
    table = None if breakdown is None else breakdown.neuroncore_memory_usage
    for key, by_use in (table or {}).items():
        if key not in CORE_INDEX:
            malformed += 1
        elif by_use and any(size and size > 0 for size in by_use.values()):
            cores.add(CORE_INDEX[key])
    for model in memory.loaded_models or ():
        subgraphs = None if model is None else model.subgraphs
        for subgraph in (subgraphs or {}).values():
            if subgraph is None:
                continue
            device, index = subgraph.neuron_device_index, subgraph.neuroncore_index
            if device is None or index is None:
                continue
            core = _core_of(device, index, cores_per_device)
            if core is None:
                malformed += 1
            else:
                cores.add(core)
    return cores, malformed


def _core_of(device: int, index: int, cores_per_device: int | None) -> int | None:
    """
    The core of a subgraph, whose index counts within its device.

    Checked on a report of 32 runtimes against its memory table: right for 32
    of 32, as a global index for 2.
    """
    if cores_per_device is None:
        # Where the cores of a second device start is not known.
        core = index if device == 0 else -1
    elif index < cores_per_device:
        core = device * cores_per_device + index
    else:
        core = -1
    return core if min(device, index, core) >= 0 and core < MAX_CORES else None


class HeldCores:
    """
    What the open minute says about who holds what.

    Attributes:
        with_memory: Runtimes of the last report in which the memory group of
            any was usable; empty after a report that had no runtime, None
            before either.
    """

    def __init__(self) -> None:
        self._places = 0  # impossible places of the minutes before
        self._open_places = 0  # of the open minute, as counted last
        self.clear()

    def clear(self) -> None:
        """Begin a new minute."""
        self._places += self._open_places
        self._open_places = 0
        self.with_memory: list[Runtime] | None = None
        # By runtime: two containers can show the same pid and tag.
        self._groups: dict[RuntimeKey, list[Memory]] = {}
        self._listings: dict[RuntimeKey, list[Uses]] = {}  # beside no usable memory
        self._living: dict[RuntimeKey, None] = {}  # in that report, or in the last one
        self._unread: list[
            Runtime
        ] = []  # newest report, all with memory: the three above are older

    def add_runtimes(self, runtimes: list[Runtime]) -> None:
        """Add the runtimes of one report."""
        for runtime in runtimes:
            report = runtime.report
            memory = None if report is None else report.memory_used
            if memory is None or memory.error:
                self._read()
                self._add(runtimes)
                return
        # Nearly every report: it replaces the memory groups of earlier ones.
        self.with_memory = self._unread = runtimes

    def _read(self) -> None:
        if self._unread:
            self._add(self._unread)
            self._unread = []

    def _add(self, runtimes: list[Runtime]) -> None:
        groups: dict[RuntimeKey, list[Memory]] = {}
        listings: dict[RuntimeKey, list[Uses]] = {}
        living: dict[RuntimeKey, None] = {}
        for runtime in runtimes:
            living[key := runtime_key(runtime)] = None
            if (memory := usable_memory(runtime)) is not None:
                groups.setdefault(key, []).append(memory)
            elif (uses := _listed(runtime)) is not None:
                listings.setdefault(key, []).append(uses)
        self._listings.update(listings)
        if not groups:
            earlier_keys = map(runtime_key, self.with_memory or ())
            self._living = dict.fromkeys(earlier_keys) | living
            return
        # The group was due: runtimes that are not in this report are gone.
        earlier = {key: group for key, group in self._groups.items() if key in living}
        self._groups, self._living = earlier | groups, living
        self.with_memory = runtimes

    def add_no_runtime(self) -> None:
        """Note that a report said that there is no runtime."""
        self.clear()
        self.with_memory = []

    def memory(self) -> dict[RuntimeKey, Memory]:
        """The last usable memory group of each runtime that still counts."""
        self._read()
        return {key: groups[-1] for key, groups in self._groups.items()}

    def malformed_places(self, cores_per_device: int | None) -> int:
        """Places dropped so far because no core can be there, the open minute included."""
        if self.with_memory:
            self.held_by_runtime(cores_per_device)
        return self._places + self._open_places

    def held_by_runtime(self, cores_per_device: int | None) -> dict[RuntimeKey, set[int]]:
        """Cores that each runtime holds, by index from 0."""
        self._read()
        held: dict[RuntimeKey, set[int]] = {}
        self._open_places = 0
        for key in self._living:
            held[key] = set()
            for memory in self._groups.get(key, ()):
                cores, malformed = held_by_memory(memory, cores_per_device)
                held[key] |= cores
                self._open_places += malformed
            if key not in self._groups:
                listed = (core for uses in self._listings.get(key, ()) for core in uses)
                held[key] = {CORE_INDEX[core] for core in listed if core in CORE_INDEX}
        return held


def _listed(runtime: Runtime) -> Uses | None:
    """The cores it lists; None for a group in error without any."""
    counters = None if runtime.report is None else runtime.report.neuroncore_counters
    if counters is None or (counters.error and not counters.neuroncores_in_use):
        return None
    return counters.neuroncores_in_use


def idle_holders(
    holdings: Holdings,
    executed: Mapping[RuntimeKey, int],
    states: str,
    idle_minutes: Sequence[int],
    given_to: Mapping[RuntimeKey, str],
) -> tuple[tuple[Holder, ...], int]:
    """
    Name those who hold attached-idle cores; *executed* is the last epoch minute of each.

    *given_to* has the runtimes whose cores were surely given to another.

    Ordered by the longest idle of their idle cores, then by how many these
    are, then by pid.

    Returns:
        At most `MAX_HOLDERS` of them, and how many more there are.
    """
    idle = {core for core, state in enumerate(states) if state == ATTACHED_IDLE}
    if not idle:
        return (), 0
    ranked = []
    held, owners = holdings
    for key, cores in held.items():
        if theirs := cores & idle:
            longest = max(idle_minutes[core] for core in theirs)
            pid, tag = key
            ranked.append(((-longest, -len(theirs), pid or 0, tag or ""), key, theirs))
    ranked.sort(key=lambda entry: entry[0])
    named = tuple(
        Holder(
            cores=core_ranges(theirs),
            name=owners[key].name,
            pid=key[0],
            tag=key[1],
            team=owners[key].team,
            last_execution=iso_minute(executed[key]) if key in executed else None,
            gone=owners[key].gone,
            given_to=given_to.get(key),
        )
        for _, key, theirs in ranked[:MAX_HOLDERS]
    )
    return named, len(ranked) - len(named)


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

    def by_team(self, allocations: Iterable[Allocation]) -> ReservedCores:
        """The same with teams in the place of names."""
        teams = {given.name: team_name(given.team) for given in allocations}
        return ReservedCores(
            [owned._replace(name=team_name(owned.team)) for owned in self.holdings],
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
    """The owner that each core is given to, by the ids of the allocations."""
    found: dict[int, RuntimeOwner] = {}
    for given in allocations:
        for core in given_cores(given, cores_per_device, width):
            found.setdefault(core, RuntimeOwner(given.name, given.team))
    return found


def reserve_cores(
    allocations: Sequence[Allocation],
    held: Mapping[RuntimeKey, set[int]],
    owners: Mapping[RuntimeKey, RuntimeOwner],
    states: str,
    cores_per_device: int | None,
) -> ReservedCores:
    """The part of *allocations* that no runtime holds, given the cores' *states*."""
    found = ReservedCores()
    held_by: dict[str, set[int]] = defaultdict(set)
    for key, cores in held.items():
        held_by[_place_of(owners[key].name or "")] |= cores
    by_place: dict[str, list[Allocation]] = defaultdict(list)
    for allocation in allocations:
        by_place[_place_of(allocation.name)].append(allocation)
    unheld = {core for core, letter in enumerate(states) if letter == UNATTACHED}
    unknown = {core for core, letter in enumerate(states) if letter == UNKNOWN}
    left: list[tuple[Allocation, set[int], int]] = []
    taken: set[int] = set()
    for place, theirs in by_place.items():
        given = set().union(*(given_cores(part, cores_per_device, len(states)) for part in theirs))
        is_exact = all(part.is_exact for part in theirs)
        others = _held_by_others(place, given, held, owners, is_exact=is_exact)
        for key in others:
            found.given_to[key] = theirs[0].name
        blocked = unknown.union(*(held[key] for key in others)) & given
        count = max(0, len(given - blocked) - len(held_by[place]))
        if is_exact:
            count = len(given & unheld)
        if not any(part.is_verified for part in theirs):
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
    """Runtimes that surely hold cores *given* to the owner at *place*, and are of others."""
    return [
        key
        for key, cores in held.items()
        if cores & given
        and (name := owners[key].name)
        and (is_exact or owners[key].gone)
        and _place_of(name) != place
    ]


def _place_of(name: str) -> str:
    """The part of an owner's name that all of one pod, task or job share."""
    parts = name.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 and ":" not in parts[0] else name
