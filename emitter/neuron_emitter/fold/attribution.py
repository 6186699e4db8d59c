"""
Assign each core of a minute to the owner that holds it or has it reserved.

The owner of a runtime is the owner of its process, otherwise the owner that its cores are
assigned to. The line names the holders of attached-idle cores. A core is reserved if it is
assigned and no process holds it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_emitter.fold.inventory import CORE_INDEX
from neuron_emitter.fold.runtimes import UNOWNED, team_name
from neuron_emitter.owners.assignments import Allocation, RuntimeOwner, with_job
from neuron_wire.core_members import core_ranges
from neuron_wire.holders import MAX_HOLDER_NAME_CHARS, MAX_HOLDERS, Holder
from neuron_wire.line_members import iso_minute
from neuron_wire.names import (
    ATTACHED_IDLE_STATE,
    RESERVATIONS_KNOWN,
    UNATTACHED_STATE,
    UNKNOWN_STATE,
)
from neuron_wire.owners import Holding, group_holdings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from neuron_emitter.fold.runtimes import MinuteRuntimes, RuntimeFold, RuntimeKey
    from neuron_emitter.fold.state import FoldState
    from neuron_emitter.owners.assignments import Allocations, Assignments, OwnerOf
    from neuron_emitter.reports.groups import KubernetesInfo, Pod, Text, Whole
    from neuron_wire.owners import OwnerHolding

    Held = Mapping[RuntimeKey, set[int]]
    """The cores that each runtime holds."""

ALLOCATED_MINUTES: Final = 2
"""Minutes for which a report's allocation of a core counts, including the minute of the report."""

NAMED_MINUTES: Final = 10
"""
Minutes for which a runtime keeps its pod while no report has allocations: its pid may be reused.
"""


class Holdings(NamedTuple):
    """Cores by the runtime that holds them, and the owner of each runtime."""

    cores: Held
    owners: Mapping[RuntimeKey, RuntimeOwner]


class Attribution(NamedTuple):
    """
    The owners of the cores of one minute.

    Attributes:
        holdings: The cores that each runtime held, and its owner.

        holders: Holders of attached-idle cores, at most MAX_HOLDERS.

        holders_more: The number of further holders.

        by_owner: The cores that each owner holds and has reserved.

        reservations: `known`, `none` or `unknown`: whether scheduler assignments were read; None
            without a source.

        unverified: Cores assigned to pods that have no process and do not wait to start.
    """

    holdings: Holdings
    holders: tuple[Holder, ...]
    holders_more: int
    by_owner: dict[str, OwnerHolding]
    reservations: Text
    unverified: int


class CoreOwners:
    """
    Names the owners of each minute.

    Attributes:
        pods: The pods that Kubernetes assigned cores to, according to reports.

        state: The state of earlier minutes.
    """

    def __init__(
        self,
        state: FoldState,
        owner_of: OwnerOf,
        current_assignments: Callable[[], Assignments | None],
        *,
        only_teams: bool,
    ) -> None:
        self.pods = CorePods()
        self.state = state
        self._owner_of = owner_of
        self._current_assignments = current_assignments
        self._only_teams = only_teams

    def attribute_cores(
        self,
        epoch_minute: int,
        runtimes: MinuteRuntimes,
        held: Held,
        states: str,
        idle_minutes: Sequence[int],
        *,
        cores_per_device: Whole,
        is_local: bool,
    ) -> Attribution:
        """
        Assign the cores of *epoch_minute*, which closes, to holders and owners.

        It uses the assignments of a look-up, or without a look-up those in reports.
        """
        folds = runtimes.folds
        assignments = self._current_assignments() if is_local else None
        status = None if assignments is None else assignments.status
        allocations = self.pods.allocations()
        if assignments is not None and (status == RESERVATIONS_KNOWN or assignments.allocations):
            allocations = assignments.allocations
        elif allocations is not None:
            status = RESERVATIONS_KNOWN
        pods = None
        if allocations is not None:
            pods = owners_assigned(allocations, cores_per_device, len(states))
        owner_of = self._owner_of if is_local else _unknown_owner
        owners = self._owners(owner_of, held, folds, pods, allocations or ())
        reserved = reserve_cores(allocations or (), held, owners, states, cores_per_device)
        if self._only_teams:
            owners = {
                key: owner._replace(name=team_name(owner.team), command=None)
                for key, owner in owners.items()
            }
            reserved = reserved.by_team(allocations or ())
        self.state.histories.record_minute(epoch_minute, folds, owners, is_empty=runtimes.had_none)
        executed = self.state.histories.last_executed(epoch_minute)
        holdings = Holdings(held, owners)
        holders, more = idle_holders(holdings, executed, states, idle_minutes, reserved.assigned_to)
        owned = group_holdings((*_owned(holdings, folds), *reserved.holdings))
        return Attribution(holdings, holders, more, owned, status, reserved.unverified)

    def _owners(
        self,
        owner_of: OwnerOf,
        held: Held,
        folds: Iterable[RuntimeFold],
        pods: Mapping[int, RuntimeOwner] | None,
        allocations: Iterable[Allocation],
    ) -> dict[RuntimeKey, RuntimeOwner]:
        """Return the owner of each runtime: by its process, otherwise by its cores."""
        owners = {}
        listed = (fold.key for fold in folds if fold.key is not None)
        for key in dict.fromkeys((*held, *listed)):
            pid, _ = key
            owner = None if pid is None else owner_of(pid)
            # The cores of a dead pod may now be assigned to another pod, or under another ID.
            if owner is None or not (owner.gone or owner.is_sure):
                cores = sorted(held.get(key, ()))
                process = owner or UNOWNED
                owner = self.pods.owner_by_cores(key, cores, pods) or process
                owner = owner._replace(started=process.started, command=process.command)
            owners[key] = with_job(owner, allocations)
        return owners


def _unknown_owner(_pid: int) -> None:
    """Return None: the owner of a process is unknown."""


def _owned(holdings: Holdings, folds: Iterable[RuntimeFold]) -> Iterator[Holding]:
    """Yield the cores of each runtime, with its executions if its reports have them."""
    done = {fold.key or (None, None): fold.executions.done for fold in folds}
    for key, cores in holdings.cores.items():
        owner = holdings.owners[key]
        yield Holding(owner.name, cores, owner.team, executions=done.get(key))


class CorePods:
    """Pods by core and device in the newest report, and by runtime while reports have no pods."""

    def __init__(self) -> None:
        self._info: KubernetesInfo | None = None
        self._silent_minutes = 0
        self._named: dict[RuntimeKey, RuntimeOwner | None] = {}  # in the open minute
        self._named_before: dict[RuntimeKey, RuntimeOwner | None] = {}

    def add_pods(self, info: KubernetesInfo) -> None:
        """Add the Kubernetes group of one report."""
        tables = (info.neuroncores_k8s_info, info.neurondevices_k8s_info)
        if not info.error and tables != (None, None):
            self._info = info
            self._silent_minutes = 0

    def end_minute(self) -> None:
        """Start a new minute, and forget allocations and names that are too old."""
        if self._named:
            self._named, self._named_before = {}, self._named
        self._silent_minutes += 1
        if self._silent_minutes >= ALLOCATED_MINUTES:
            self._info = None
        if self._silent_minutes > NAMED_MINUTES:
            self._named_before = {}

    def allocations(self) -> tuple[Allocation, ...] | None:
        """Return the assignments of pods in reports; None if reports have none."""
        if self._info is None:
            return None
        tables = (self._info.neuroncores_k8s_info, self._info.neurondevices_k8s_info)
        found: dict[RuntimeOwner, tuple[set[int], set[int]]] = {}
        for place, table in enumerate(tables):
            for text, pod in (table or {}).items():
                if (owner := _pod_owner(pod)) is not None and text in CORE_INDEX:
                    found.setdefault(owner, (set(), set()))[place].add(CORE_INDEX[text])
        return tuple(
            Allocation(owner.name or "", owner.team, frozenset(cores), frozenset(devices))
            for owner, (cores, devices) in found.items()
        )

    def owner_by_cores(
        self,
        runtime: RuntimeKey,
        cores: Iterable[int],
        pods: Mapping[int, RuntimeOwner] | None,
    ) -> RuntimeOwner | None:
        """
        Return the owner in *pods*, by core, of most of *cores*; on a tie, of the first core.

        Without *pods*, return the owner of *runtime* in the minute before.
        """
        if pods is None:
            owner = self._named_before.get(runtime)
        else:
            counts = Counter(pods[core] for core in cores if core in pods)
            owner = counts.most_common(1)[0][0] if counts else None
        self._named[runtime] = owner
        return owner


def _pod_owner(pod: Pod | None) -> RuntimeOwner | None:
    if pod is None or not pod.pod_name:
        return None
    name = f"{pod.namespace}/{pod.pod_name}" if pod.namespace else pod.pod_name
    containers = pod.container_name or ()
    if pod.namespace and len(containers) == 1 and containers[0]:
        name = f"{name}/{containers[0]}"
    return RuntimeOwner(name[:MAX_HOLDER_NAME_CHARS], team=pod.namespace or None)


def idle_holders(
    holdings: Holdings,
    executed: Mapping[RuntimeKey, int],
    states: str,
    idle_minutes: Sequence[int],
    assigned_to: Mapping[RuntimeKey, str],
) -> tuple[tuple[Holder, ...], int]:
    """
    Return the holders of attached-idle cores; *executed* is the last epoch minute of each.

    *assigned_to* contains the runtimes whose cores were certainly assigned to another owner.
    Holders are sorted by their longest idle core, then by the number of idle cores, then by pid.

    Returns:
        At most `MAX_HOLDERS` of them, and how many more there are.
    """
    idle = {core for core, state in enumerate(states) if state == ATTACHED_IDLE_STATE}
    if not idle:
        return (), 0
    ranked = []
    held, owners = holdings
    for key, cores in held.items():
        if theirs := cores & idle:
            longest = max(idle_minutes[core] for core in theirs)
            pid, tag = key
            ranked.append(((-longest, -len(theirs), pid or 0, tag or ""), key, owners[key], theirs))
    ranked.sort(key=lambda entry: entry[0])
    named = tuple(
        Holder(
            cores=core_ranges(theirs),
            name=owner.name,
            pid=key[0],
            tag=key[1],
            team=owner.team,
            last_execution=iso_minute(executed[key]) if key in executed else None,
            gone=owner.gone,
            assigned_to=assigned_to.get(key),
            started=owner.started,
            command=owner.command,
        )
        for _, key, owner, theirs in ranked[:MAX_HOLDERS]
    )
    return named, len(ranked) - len(named)


@dataclass(slots=True)
class ReservedCores:
    """
    The reserved cores of one minute.

    Attributes:
        holdings: The reserved cores of each owner.

        assigned_to: The owner to which the cores of a runtime were assigned, if it is certainly
            another owner.

        unverified: Cores assigned to pods that have no process and do not wait to start.
    """

    holdings: list[Holding] = field(default_factory=list)
    assigned_to: dict[RuntimeKey, str] = field(default_factory=dict)
    unverified: int = 0

    def by_team(self, allocations: Iterable[Allocation]) -> ReservedCores:
        """Return the same reserved cores with team names instead of owner names."""
        teams = {part.name: team_name(part.team) for part in allocations}
        return ReservedCores(
            [owned._replace(name=team_name(owned.team)) for owned in self.holdings],
            {key: team for key, name in self.assigned_to.items() if (team := teams[name])},
            self.unverified,
        )


def assigned_cores(allocation: Allocation, cores_per_device: Whole, width: int) -> set[int]:
    """Return the cores of *allocation* below *width*, including those of its devices."""
    per_device = cores_per_device or 0
    cores = {
        device * per_device + place for device in allocation.devices for place in range(per_device)
    }
    return {core for core in cores | allocation.cores if core < width}


def owners_assigned(
    allocations: Iterable[Allocation], cores_per_device: Whole, width: int
) -> dict[int, RuntimeOwner]:
    """Return the owner that each core is assigned to, by the ids of the allocations."""
    found: dict[int, RuntimeOwner] = {}
    for allocation in allocations:
        for core in assigned_cores(allocation, cores_per_device, width):
            found.setdefault(core, RuntimeOwner(allocation.name, allocation.team))
    return found


class _Workload(NamedTuple):
    """
    One pod, task or job.

    Attributes:
        place: The part of owners' names that its containers share.

        allocation: The first of its allocations.

        cores: Cores at the IDs of its allocations.

        held: Cores that its own runtimes hold.

        is_exact: True if its cores certainly have these IDs.

        is_verified: True if one of its processes runs or its container waits to start.
    """

    place: str
    allocation: Allocation
    cores: set[int]
    held: set[int]
    is_exact: bool
    is_verified: bool

    def is_displaced_by(self, owner: RuntimeOwner) -> bool:
        """Return True if *owner*, which holds cores at its IDs, is certain to be another one."""
        if not owner.name or _place_of(owner.name) == self.place:
            return False
        # IDs that are not exact prove only a number: the extension may have assigned other cores.
        return self.is_exact or owner.gone


def _workloads(
    allocations: Iterable[Allocation],
    held: Held,
    owners: Mapping[RuntimeKey, RuntimeOwner],
    cores_per_device: Whole,
    width: int,
) -> Iterator[_Workload]:
    """Return the workloads of *allocations*, in the order of the first allocation of each."""
    held_by: dict[str, set[int]] = defaultdict(set)
    for key, cores in held.items():
        held_by[_place_of(owners[key].name or "")] |= cores
    by_place = defaultdict(list)
    for allocation in allocations:
        by_place[_place_of(allocation.name)].append(allocation)
    for place, parts in by_place.items():
        yield _Workload(
            place,
            allocation=parts[0],
            cores=set().union(*(assigned_cores(part, cores_per_device, width) for part in parts)),
            held=held_by[place],
            is_exact=all(part.is_exact for part in parts),
            is_verified=any(part.is_verified for part in parts),
        )


def reserve_cores(
    allocations: Allocations,
    held: Held,
    owners: Mapping[RuntimeKey, RuntimeOwner],
    states: str,
    cores_per_device: Whole,
) -> ReservedCores:
    """Return the part of *allocations* that no runtime holds, by the cores' *states*."""
    reserved = ReservedCores()
    unattached = {core for core, letter in enumerate(states) if letter == UNATTACHED_STATE}
    unknown = {core for core, letter in enumerate(states) if letter == UNKNOWN_STATE}
    at_ids = []  # workloads, each with its number of held cores outside of its IDs
    for workload in _workloads(allocations, held, owners, cores_per_device, len(states)):
        displacing = [
            key
            for key, cores in held.items()
            if cores & workload.cores and workload.is_displaced_by(owners[key])
        ]
        for key in displacing:
            reserved.assigned_to[key] = workload.allocation.name
        open_ids = workload.cores & unattached
        if workload.is_exact:
            count = len(open_ids)
        else:
            blocked = unknown.union(*(held[key] for key in displacing)) - workload.held
            count = max(0, len(workload.cores - blocked) - len(workload.held))
        if workload.is_verified:
            cores = set(sorted(open_ids)[:count])
            at_ids.append((workload.allocation, cores, count - len(cores)))
        else:
            reserved.unverified += count
    elsewhere = iter(sorted(unattached.difference(*(cores for _, cores, _ in at_ids))))
    for allocation, cores, more in at_ids:
        cores.update(islice(elsewhere, more))
        if cores:
            reserved.holdings.append(Holding(allocation.name, (), allocation.team, cores))
    return reserved


def _place_of(name: str) -> str:
    """Return the part of an owner's name that all containers of one pod, task or job share."""
    parts = name.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 and ":" not in parts[0] else name
