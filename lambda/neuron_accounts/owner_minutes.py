"""
The owner of each core in a minute, and the work of a cluster's owners on all of its instances.

The member Owners has the owner of every held or reserved core. Lines of older emitters lack it, and
name in Holders the holders of attached-idle cores. An owner that has the name of a placeholder such
as `[others]` becomes `[unnamed]`.

An owner is *fully idle* if none of its cores in the cluster has been busy, and none of its
executions has ended or failed, for a number of minutes in which both were always read. While one of
several siblings works, the others wait for it and are not fully idle either. An owner is also not
fully idle while it, or a sibling, may work on an instance that has not reported.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from neuron_accounts.now import IdleOwner
from neuron_wire.core_members import core_indexes
from neuron_wire.names import (
    ATTACHED_IDLE_STATE,
    BUSY_STATE,
    MICRO,
    NOT_REPORTED_OWNER,
    OTHER_OWNERS,
    PLACEHOLDER_OWNERS,
    UNALLOCATED_OWNER,
    UNATTACHED_STATE,
    UNKNOWN_STATE,
)
from neuron_wire.owners import UNNAMED_OWNER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from neuron_wire import MinuteRecord

# the characters of Kubernetes' random name suffixes
_RANDOM: Final = "[bcdfghjklmnpqrstvwxz2456789]"
_POD_ENDS: Final = re.compile(rf"-(?:[0-9]{{1,5}}|{_RANDOM}{{5}}|{_RANDOM}{{6,10}})$")
_ECS_PREFIX: Final = "ecs:"


MinutesOf: TypeAlias = "dict[str, OwnerMinute]"
"""The minute of each owner, by name."""

CoresOf: TypeAlias = "Mapping[str, Sequence[int]]"
"""Cores of one instance by the name of their owner."""


class OwnedCores(NamedTuple):
    """
    The owners of some cores of one instance.

    Attributes:
        cores_of: Cores by the names of their owners, ascending: one owner, several that share them,
            or one of `[others]`, `[not reported]` and `[unallocated]`.

        teams: The team of each owner, if its scheduler reports one.
    """

    cores_of: dict[tuple[str, ...], list[int]]
    teams: dict[str, str]


def core_owners(record: MinuteRecord, cores: Collection[int], cores_of: CoresOf) -> OwnedCores:
    """
    Return the owners of the known *cores* of a merged *record*: held or reserved.

    *cores_of* is the record's `cores_by_owner`. A line of an older emitter has only the holders of
    attached-idle cores.
    """
    names: dict[int, tuple[str, ...]] = dict.fromkeys(cores, ())
    for name, theirs in sorted(cores_of.items()):
        alone = (name,)
        for core in theirs:
            if core in names:
                names[core] = (*names[core], name) if names[core] else alone
    by_names: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for core, owners in names.items():
        by_names[owners].append(core)
    teams: dict[str, str] = {}
    is_complete = bool(record.owners or record.owners_more)
    for entry in record.owners if is_complete else record.holders:
        if entry.team:
            teams.setdefault(owner_name(entry.name), entry.team)
    left_out = core_indexes(record.owners_more)
    unattached_owner = NOT_REPORTED_OWNER if record.is_allocation_unknown else UNALLOCATED_OWNER
    for core in by_names.pop((), ()):
        letter = record.core_state[core]
        is_others = core in left_out or (
            not is_complete and record.holders_more and letter == ATTACHED_IDLE_STATE
        )
        name = unattached_owner if letter == UNATTACHED_STATE else NOT_REPORTED_OWNER
        by_names[OTHER_OWNERS if is_others else name,].append(core)
    return OwnedCores(by_names, teams)


def cores_by_owner(record: MinuteRecord) -> CoresOf:
    """
    Return the cores of a merged *record* by its named owners; a core may have several.

    An unattached core is not held: an owner that lists it can only have it reserved.
    """
    found: dict[str, Sequence[int]] = {}
    state = record.core_state
    width = len(record.core_state)
    is_free = UNATTACHED_STATE in state
    for entry in record.owners or (() if record.owners_more else record.holders):
        cores: Sequence[int] = core_indexes(entry.cores)
        if cores and (is_free or cores[-1] >= width):
            cores = [core for core in cores if core < width and state[core] != UNATTACHED_STATE]
        if cores:
            _append(found, entry.name, cores)
    for owner in record.owners if is_free else ():
        reserved = [
            core for core in core_indexes(owner.reserved) if state[core] == UNATTACHED_STATE
        ]
        if reserved:
            _append(found, owner.name, reserved)
    return found


def _append(
    cores_of: dict[str, Sequence[int]], full_name: str | None, cores: Sequence[int]
) -> None:
    name = owner_name(full_name)
    cores_of[name] = [*dict.fromkeys((*cores_of[name], *cores))] if name in cores_of else cores


def owner_name(name: str | None) -> str:
    """
    Return *name* as in a line; `[unnamed]` for no name and for a placeholder.

    >>> owner_name("ml/train-0"), owner_name(None), owner_name("[others]")
    ('ml/train-0', '[unnamed]', '[unnamed]')
    """
    return name if name and name not in PLACEHOLDER_OWNERS else UNNAMED_OWNER


@lru_cache(16_384)
def stem_of(owner: str) -> str:
    """
    Return the key that siblings (owners that may be one job) share, and no other owner has.

    For a pod it is its namespace and its name without the suffix `-3`, `-x7k2p` or
    `-7d9f8c6b5-x7k2p` that Kubernetes adds; for an ECS task its service. Every other owner is its
    own stem.

    >>> stem_of("ml/trainer-3/main"), stem_of("ecs:search/llama/server")
    ('ml/trainer/', 'ecs:search')
    """
    if owner.startswith(_ECS_PREFIX):
        return owner.partition("/")[0] if owner.count("/") > 1 else owner
    namespace, slash, rest = owner.partition("/")
    if not slash or ":" in namespace:
        return owner
    pod = rest.partition("/")[0]
    while end := _POD_ENDS.search(pod):
        if end.start() == 0:
            break
        pod = pod[: end.start()]
    return f"{namespace}/{pod}/"


@lru_cache(4096)
def even_shares(ways: int, micro: int = MICRO) -> tuple[int, ...]:
    """Return even shares of a core, or of *micro* parts; the first owners get the remainder."""
    share, rest = divmod(micro, ways)
    return tuple(share + (number < rest) for number in range(ways))


MAX_OWNERS_COUNTED: Final = 100_000
"""
The owners of one cluster whose cores each process adds up, in about 30 MB; with more owners, none
is added up.
"""


@dataclass(slots=True)
class OwnerMinute:
    """
    The work of one owner in a minute.

    Attributes:
        allocated: Known cores that it held or had reserved, in millionths; an even share of a core
            with several owners.

        busy: The allocated cores that were busy, in millionths.

        idle_minutes: Minutes for which it has not worked, if each of them was completely read; 0 if
            it works or this is unknown.

        executions: Executions that are known to have ended or failed.

        is_complete: True if these are all executions.
    """

    allocated: int
    busy: int
    idle_minutes: int
    executions: int
    is_complete: bool

    def fold_minute(self, other: OwnerMinute) -> None:
        """Add its work on other instances."""
        self.allocated += other.allocated
        self.busy += other.busy
        self.idle_minutes = min(self.idle_minutes, other.idle_minutes)
        self.executions += other.executions
        self.is_complete &= other.is_complete

    @property
    def worked(self) -> bool:
        """True if it is known to have worked."""
        return self.busy > 0 or self.executions > 0


def owner_minutes_of(record: MinuteRecord, cores_of: CoresOf) -> MinutesOf:
    """Return the work of each owner in a merged *record*; *cores_of* are their cores."""
    state = record.core_state
    idle_minutes = record.idle_minutes
    by_name = {owner_name(owner.name): owner for owner in record.owners}
    minutes: MinutesOf = {}
    # Most instances have one letter for all cores, and each owner has some of the cores.
    is_uniform = state == state[:1] * len(state)
    for name, cores in cores_of.items():
        letters = state[: len(cores)] if is_uniform else [state[core] for core in cores]
        busy = letters.count(BUSY_STATE)
        unknown = letters.count(UNKNOWN_STATE)
        known = len(cores) - unknown
        owner = by_name.get(name)
        quiet = (owner.quiet_minutes or 0) if owner else 0
        idle = 0
        if quiet and known and not busy and not unknown:
            idle = min(quiet, *[idle_minutes[core] for core in cores])
        executions = owner.executions if owner else None
        is_complete = owner is not None and (executions is not None or not owner.cores)
        minutes[name] = OwnerMinute(MICRO * known, MICRO * busy, idle, executions or 0, is_complete)
    if len(minutes) > 1:
        _split_shared_cores(minutes, cores_of, state)
    return minutes


def _split_shared_cores(minutes: MinutesOf, cores_of: CoresOf, state: str) -> None:
    """Split cores that several owners have: each was counted as having the whole core."""
    if len({*chain.from_iterable(cores_of.values())}) == sum(map(len, cores_of.values())):
        return
    owners_of: dict[int, list[str]] = defaultdict(list)
    for name, cores in sorted(cores_of.items()):
        for core in cores:
            owners_of[core].append(name)
    for core, owners in owners_of.items():
        for name, share in zip(owners, even_shares(len(owners)), strict=True):
            if state[core] != UNKNOWN_STATE:
                minutes[name].allocated -= MICRO - share
            if state[core] == BUSY_STATE:
                minutes[name].busy -= MICRO - share


def hides_owners(record: MinuteRecord, minutes: MinutesOf) -> bool:
    """Return True if a line omits owners, or the owner of a busy core or of an execution."""
    if record.owners_more or (not record.owners and record.holders_more):
        return True
    counted = busy = 0
    is_complete = bool(minutes)
    for minute in minutes.values():
        counted += minute.executions
        busy += minute.busy
        is_complete &= minute.is_complete
    if is_complete and record.has_executions and counted < max(1, record.executions or 0):
        return True
    return busy < MICRO * record.core_state.count(BUSY_STATE)


def quiet_minutes_of(record: MinuteRecord) -> int:
    """Return the minutes in which every owner of an instance was present and executed nothing."""
    hidden = record.owners_more or (not record.owners and (record.holders or record.holders_more))
    if hidden or record.has_executions:
        return 0
    return min(
        [owner.quiet_minutes or 0 for owner in record.owners],
        default=max(record.idle_minutes, default=0),
    )


@dataclass(slots=True)
class UnseenOwners:
    """
    The owners of one cluster that may work on instances without telemetry in a minute.

    Attributes:
        stems: Stems of the owners in the last lines of these instances.

        are_any: True if a last line omits owners or cannot be read: every owner is unseen.
    """

    stems: set[str] = field(default_factory=set)
    are_any: bool = False

    def fold_last(self, record: MinuteRecord | None) -> None:
        """Add the owners that an instance's last *record* names; None if it could not be read."""
        if record is None or hides_owners(record, owner_minutes_of(record, cores_by_owner(record))):
            self.are_any = True
            return
        named = record.owners or record.holders
        self.stems.update([stem_of(owner_name(entry.name)) for entry in named])
        self._bound()

    def fold_unseen(self, other: UnseenOwners) -> None:
        """Add the unseen owners of other instances."""
        self.are_any |= other.are_any
        self.stems |= other.stems
        self._bound()

    def _bound(self) -> None:
        if len(self.stems) > MAX_OWNERS_COUNTED:
            self.stems.clear()
            self.are_any = True

    def __contains__(self, owner: str) -> bool:
        return self.are_any or stem_of(owner) in self.stems


@dataclass(slots=True)
class OwnerMinutes:
    """
    The owners of one cluster in one minute.

    Attributes:
        by_owner: The work of each owner, by name.

        are_more: True if a line omits owners, or does not name the owner of a busy core or
            execution.

        are_too_many: True if there are too many owners to add up; then none is known.

        unseen: Owners that may work on instances that have not reported.
    """

    by_owner: MinutesOf = field(default_factory=dict)
    are_more: bool = False
    are_too_many: bool = False
    unseen: UnseenOwners = field(default_factory=UnseenOwners)
    _stems: tuple[Counter[str], Counter[str]] | None = None

    def fold_record(self, record: MinuteRecord, cores_of: CoresOf) -> MinutesOf:
        """
        Add an instance by its merged record and owners.

        Return the work of each owner on the instance, valid until the next instance is added.
        """
        minutes = owner_minutes_of(record, cores_of)
        self.are_more |= hides_owners(record, minutes)
        self._fold(minutes)
        return minutes

    def fold_minutes(self, other: OwnerMinutes) -> None:
        """Add the minutes of other instances."""
        self.are_more |= other.are_more
        self.are_too_many |= other.are_too_many
        self._fold(other.by_owner)

    def _fold(self, minutes: MinutesOf) -> None:
        for name, minute in minutes.items():
            known = self.by_owner.get(name)
            if known is None:
                self.by_owner[name] = minute
            else:
                known.fold_minute(minute)
        self.are_too_many |= len(self.by_owner) > MAX_OWNERS_COUNTED
        if self.are_too_many:  # an owner added later would seem to hold less
            self.by_owner.clear()

    def row_of(self, owner: str) -> IdleOwner:
        """
        Return all cores of *owner*; nothing for a placeholder, and if a line hides owners.

        A working owner is known to work even if a line hides owners. Some unnamed processes may
        work.
        """
        minute = self.by_owner.get(owner)
        row = IdleOwner(owner, 0)
        if minute is None or not minute.allocated or owner == UNNAMED_OWNER:
            return row
        if self.are_more and not minute.worked:
            return row
        owners, working = self._siblings()
        stem = stem_of(owner)
        has_siblings = owners[stem] > 1
        return replace(
            row,
            allocated=minute.allocated,
            busy=minute.busy,
            fully_idle_minutes=self.fully_idle_minutes(owner) or None,
            executions=minute.executions if minute.is_complete else None,
            siblings=owners[stem] if has_siblings else None,
            idle_siblings=owners[stem] - working[stem] if has_siblings else None,
        )

    def fully_idle_minutes(self, owner: str) -> int:
        """Return the minutes for which *owner* has been fully idle; 0 if it is not, or unknown."""
        return 0 if owner in self.unseen else self.seen_idle_minutes(owner)

    def seen_idle_minutes(self, owner: str) -> int:
        """Return the minutes for which *owner* is fully idle on instances that have reported."""
        minute = self.by_owner.get(owner)
        if minute is None or self.are_more or owner == UNNAMED_OWNER:
            return 0
        return 0 if self.has_working_sibling(owner) else minute.idle_minutes

    def has_working_sibling(self, owner: str) -> bool:
        """Return True if *owner* or an owner that may be of the same job works."""
        return self._siblings()[1][stem_of(owner)] > 0

    def _siblings(self) -> tuple[Counter[str], Counter[str]]:
        """Return the number of owners with each stem, and how many work, once all are added."""
        if self._stems is None:
            owners = Counter(map(stem_of, self.by_owner))
            working = (name for name, minute in self.by_owner.items() if minute.worked)
            self._stems = owners, Counter(map(stem_of, working))
        return self._stems


def waits_for(
    record: MinuteRecord,
    idle: Sequence[int],
    idle_of: Iterable[Sequence[str]],
    minutes: MinutesOf,
    after_minutes: int,
    *,
    is_excluded: bool,
) -> tuple[str, ...] | None:
    """
    Return the owners that must be fully idle in the cluster before the instance can be stopped.

    *idle_of* has the owners of its *idle* cores, one entry for owners that share a core; *minutes*
    is the owners' work on the instance. None if the instance is not fully idle itself, if a line
    hides owners, or if it *is_excluded*. Unnamed processes count only here.
    """
    if is_excluded or len(idle) < len(record.core_state) or record.has_executions:
        return None
    for owners in idle_of:
        if OTHER_OWNERS in owners or NOT_REPORTED_OWNER in owners:
            return None
    if any(minute.idle_minutes < after_minutes for minute in minutes.values()):
        return None
    return tuple(sorted(name for name in minutes if name != UNNAMED_OWNER))
