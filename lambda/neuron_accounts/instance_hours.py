"""
Turn the minutes of one instance in one hour into its rows of the ledger.

A minute with a record counts as a whole minute, however much its samples cover. A minute in which
the instance was silent counts as unknown, with the cores of its last record. Every core belongs to
one row in every minute, or is split evenly between several: the rows add up to cores times minutes.
All sums are whole numbers, rounded once.

Whether an idle minute is avoidable is known only after all instances of the cluster were read: the
owners of its cores may have worked on others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from neuron_accounts.core_time import (
    FINE,
    OwnerTime,
    Part,
    avoidable_part,
    round_shares,
)
from neuron_accounts.ledger import USD_PLACES, LedgerRow
from neuron_accounts.owner_minutes import (
    MAX_OWNERS_COUNTED,
    MinutesOf,
    UnseenOwners,
    core_owners,
    cores_by_owner,
    even_shares,
    hides_owners,
    owner_minutes_of,
    stem_of,
    waits_for,
)
from neuron_accounts.payment import SPOT, is_committed
from neuron_accounts.prices import PRICES_AS_OF, PriceBasis, basis_words
from neuron_wire.core_members import idle_cores, round_half_even
from neuron_wire.names import (
    BUSY_STATE,
    HOUR_MINUTES,
    MICRO,
    UNKNOWN_OWNER,
    UNKNOWN_STATE,
)
from neuron_wire.owners import UNNAMED_OWNER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_accounts.core_time import CoreTime, CostRules
    from neuron_wire import MinuteRecord
    from neuron_wire.line_members import Counts

_COST_UNIT: Final = FINE // 10**USD_PLACES * MICRO * HOUR_MINUTES
"""The parts in which costs are added up, per billionth of a dollar."""

_HUNDREDTH: Final = MICRO // 10_000
"""Micro-cores in a hundredth of a percent of a core, the precision of utilization in a line."""

_Waiting: TypeAlias = "tuple[tuple[str, ...], int | None, tuple[tuple[str, int], ...]]"
"""
The key of idle minutes whose owners may have worked on other instances: these owners, the price of
a core, and the cores of each owner.
"""

_LABEL_FIELDS: Final = ("account_id", "region", "instance_type", "lifecycle")
"""Labels of a record and of a row."""

_COVERED_UNIT: Final = 6_000  # hundredths of a second in a minute


ALL_MINUTES: Final = (1 << HOUR_MINUTES) - 1
"""One bit for each minute of an hour."""

MAX_OVERLAP_MINUTES: Final = 2
"""Minutes of an hour with records in two clusters, up to which the instance may just have moved."""


class Ec2Instance(NamedTuple):
    """Purchase and type of an instance from EC2's answer; None if the answer has no such member."""

    lifecycle: str
    capacity_reservation_id: str | None = None
    instance_type: str | None = None


@dataclass(slots=True)
class OwnerWork:
    """
    The minutes in which owners of one cluster are not fully idle: a bit for each minute.

    Attributes:
        not_idle: The minutes by owner.

        working: Minutes in which an owner works, or may work unseen, by name stem.

        hidden: Minutes in which a line hides owners.
    """

    not_idle: Counter[str] = field(default_factory=Counter)
    working: Counter[str] = field(default_factory=Counter)
    hidden: int = 0

    def fold_record(
        self, record: MinuteRecord, minutes: MinutesOf, after_minutes: int, bit: int
    ) -> None:
        """Add the work of an instance's owners in the minute of *bit*."""
        if hides_owners(record, minutes):
            self.hidden |= bit
        for name, minute in minutes.items():
            if minute.idle_minutes < after_minutes:
                self.not_idle[name] |= bit
            if minute.worked and name != UNNAMED_OWNER:
                self.working[stem_of(name)] |= bit
        if len(self.not_idle) > MAX_OWNERS_COUNTED:
            self.hidden = ALL_MINUTES
            self.not_idle.clear()

    def fold_unseen(self, record: MinuteRecord, bit: int) -> None:
        """Add an instance without a line in the minute of *bit*; *record* is its last."""
        unseen = UnseenOwners()
        unseen.fold_last(record)
        if unseen.are_any:
            self.hidden |= bit
        for stem in unseen.stems:
            self.working[stem] |= bit

    def fold_work(self, other: OwnerWork) -> None:
        """Add the work seen on other instances."""
        self.hidden |= other.hidden
        for mine, theirs in ((self.not_idle, other.not_idle), (self.working, other.working)):
            for name, bits in theirs.items():
                mine[name] |= bits

    def idle_bits(self, owners: Sequence[str]) -> int:
        """Return the minutes in which all *owners* are fully idle; all minutes without an owner."""
        bits = self.hidden if owners else 0
        for owner in owners:
            bits |= self.not_idle[owner] | self.working[stem_of(owner)]
        return ALL_MINUTES & ~bits


@dataclass(slots=True)
class InstanceHour:
    """
    One instance of one cluster in one hour.

    Attributes:
        hour: Whole hours since the epoch.

        rules: The settings of cost and team.

        ec2: EC2's answer about it; None if EC2 was not asked or does not know it.

        overlap_minutes: Minutes in which another cluster has a record of the instance, however
            short.
    """

    hour: int
    rules: CostRules
    ec2: Ec2Instance | None = None
    overlap_minutes: int = 0
    _owners: dict[str, OwnerTime] = field(default_factory=lambda: defaultdict(OwnerTime))
    _executions: Counter[str] = field(default_factory=Counter)  # known executions, by owner
    _waiting: Counter[_Waiting] = field(default_factory=Counter)
    _covered_hundredths: int = 0
    _basis: PriceBasis = field(default_factory=PriceBasis)
    _last: MinuteRecord | None = None
    _texts: dict[str, str] = field(default_factory=dict)  # by field of a row, as last reported

    def fold_minute(
        self, record: MinuteRecord, work: OwnerWork, *, in_other_clusters: bool = False
    ) -> None:
        """
        Add a minute's merged *record*, later than all before.

        The work of its owners is added to the *work* of its cluster in the hour. The cost of an
        instance that is also *in_other_clusters* is not avoidable.
        """
        record = self._as_ec2_says(record)
        self._note(record)
        self._covered_hundredths += round(100 * record.covered_seconds)
        state = record.core_state
        after_minutes = self.rules.idle_after_minutes
        bit = 1 << (record.epoch_minute % HOUR_MINUTES)
        cores_of = cores_by_owner(record)
        did = owner_minutes_of(record, cores_of)
        work.fold_record(record, did, after_minutes, bit)
        price = self._price(record)
        idle = idle_cores(state, record.idle_minutes, after_minutes)
        known = [index for index, letter in enumerate(state) if letter != UNKNOWN_STATE]
        owned, teams = core_owners(record, known, cores_of)
        if len(known) < len(state):
            owned[UNKNOWN_OWNER,] = [index for index in range(len(state)) if index not in known]
        waits = waits_for(record, idle, owned, did, after_minutes, is_excluded=in_other_clusters)
        is_paid_anyway = self._is_committed(record)
        idle_of = self._fold_cores(record, owned, price, idle)
        if waits is None or is_paid_anyway:
            part = Part.COMMITTED if is_paid_anyway else Part.SHARED
            for owner, micros in idle_of.items():
                self._owners[owner].fold_idle(part, micros, price)
        else:
            key = waits, price, tuple(sorted(idle_of.items()))
            self._waiting[key] |= bit
        for name, owner_minute in did.items():
            if owner_minute.is_complete or owner_minute.executions:
                self._executions[name] += owner_minute.executions
        for owner, team in teams.items():
            if owner in self._owners:
                self._owners[owner].fold_team(team)

    def _fold_cores(
        self,
        record: MinuteRecord,
        owned: Mapping[tuple[str, ...], Sequence[int]],
        price: int | None,
        idle: Sequence[int],
    ) -> Counts:
        """Count the cores of each owner. Return the number of *idle* cores of each."""
        state = record.core_state
        percents = record.utilization_percent
        is_idle = set(idle)
        idle_of = Counter[str]()
        for owners, cores in owned.items():
            ways = len(owners)
            hundredths = [round(100 * (percents[core] or 0)) for core in cores]
            # Each core is split separately: a remainder goes to the first owner.
            used = [even_shares(ways, core_used * _HUNDREDTH) for core_used in hundredths]
            busy = sum([state[core] == BUSY_STATE for core in cores])
            idle_cores_of = len(is_idle.intersection(cores))
            for place, share in enumerate(even_shares(ways)):
                owner_hour = self._owners[owners[place]]
                owner_hour.fold_allocated(share * len(cores), price)
                owner_hour.used += sum([shares[place] for shares in used])
                owner_hour.busy += share * busy
                if idle_cores_of:
                    idle_of[owners[place]] += share * idle_cores_of
        return idle_of

    def fold_unknown_minute(self, record: MinuteRecord) -> None:
        """Add a minute without a record; *record* is the last record, of this hour or before."""
        record = self._as_ec2_says(record)
        self._note(record)
        if record.core_state:
            micros = MICRO * len(record.core_state)
            self._owners[UNKNOWN_OWNER].fold_allocated(micros, self._price(record))

    def rows(self, work: OwnerWork) -> list[LedgerRow]:
        """
        Return the rows, one per owner, which add up to exactly the hour.

        *work* has all owners of the cluster in the hour. No minute may be added afterwards.
        """
        last = self._last
        if last is None:
            return []
        self._divide_waiting(work)
        for name, executions in self._executions.items():
            if executions or name in self._owners:  # also for an owner with only unknown cores
                self._owners[name].fold_executions(executions)
        self._executions.clear()
        owners = sorted(self._owners.items())
        # Unknown time is rounded separately: a reader that misses a clean shutdown has other
        # unknown minutes, and must still get the same amounts for every owner.
        known = [
            part
            for owner, owner_hour in owners
            if owner != UNKNOWN_OWNER
            for part in _costs_of(owner_hour)
        ]
        unknown = _costs_of(self._owners[UNKNOWN_OWNER]) if UNKNOWN_OWNER in self._owners else ()
        costs = round_shares(known, _COST_UNIT)
        unknown_costs = round_shares(unknown, _COST_UNIT)
        basis = basis_words(
            self._basis.regions,
            PRICES_AS_OF if self._basis.regions else None,
            sorted(self._basis.overridden),
        )
        texts: dict[str, Any] = {"region": self.rules.prices.region, **self._texts}
        overlap_minutes = self.overlap_minutes
        common = LedgerRow(
            hour=self.hour,
            cluster=last.cluster,
            instance_id=last.instance_id,
            owner="",
            allocated=0,
            covered=round_half_even(self._covered_hundredths * MICRO, _COVERED_UNIT),
            overlap_minutes=overlap_minutes if overlap_minutes > MAX_OVERLAP_MINUTES else None,
            capacity_reservation_id=self.ec2.capacity_reservation_id if self.ec2 else None,
            **texts,
        )
        rows = []
        left = iter(costs)
        for owner, owner_hour in owners:
            is_known = owner != UNKNOWN_OWNER
            avoidable, committed, shared, not_idle = islice(left, 4) if is_known else unknown_costs
            is_priced = owner_hour.unpriced < owner_hour.allocated
            rows.append(
                common._replace(
                    owner=owner,
                    team=self.rules.teams.team_of(last.cluster, owner, owner_hour.team),
                    allocated=owner_hour.allocated,
                    executions=owner_hour.executions,
                    busy=owner_hour.busy if is_known else None,
                    used=owner_hour.used if is_known else None,
                    idle=owner_hour.idle if is_known else None,
                    avoidable=owner_hour.avoidable,
                    committed=owner_hour.idle_by_part[Part.COMMITTED],
                    unpriced=owner_hour.unpriced,
                    list_cost=avoidable + committed + shared + not_idle if is_priced else None,
                    idle_cost=avoidable + committed + shared if is_priced and is_known else None,
                    avoidable_cost=avoidable if is_priced and is_known else None,
                    committed_cost=committed,
                    basis=basis if is_priced else None,
                )
            )
        return rows

    def _divide_waiting(self, work: OwnerWork) -> None:
        """Divide idle time into avoidable and shared, once all owners of the cluster are known."""
        for (waits, price, micros_of), bits in self._waiting.items():
            avoidable = (bits & work.idle_bits(waits)).bit_count()
            for owner, micros in micros_of:
                owner_hour = self._owners[owner]
                owner_hour.fold_idle(avoidable_part(owner), micros * avoidable, price)
                owner_hour.fold_idle(Part.SHARED, micros * (bits.bit_count() - avoidable), price)
        self._waiting.clear()

    def _note(self, record: MinuteRecord) -> None:
        self._last = record
        for name in _LABEL_FIELDS:
            if text := getattr(record, name):
                self._texts[name] = text

    def _price(self, record: MinuteRecord) -> int | None:
        usd = self._basis.usd_per_core_hour(
            self.rules.prices, record.instance_type, len(record.core_state), record.region
        )
        return None if usd is None else round(usd * FINE)

    def _as_ec2_says(self, record: MinuteRecord) -> MinuteRecord:
        """Return *record* with the type and the lifecycle from EC2's answer, if there is one."""
        if self.ec2 is None:
            return record
        instance_type = self.ec2.instance_type or record.instance_type
        return replace(record, lifecycle=self.ec2.lifecycle, instance_type=instance_type)

    def _is_committed(self, record: MinuteRecord) -> bool:
        bought = self.ec2
        is_reserved = (
            bought is not None
            and bought.capacity_reservation_id is not None
            and bought.lifecycle != SPOT
        )
        return is_committed(record, self.rules.paid_by_type, reserved=is_reserved)


def _costs_of(time: CoreTime) -> tuple[int, int, int, int]:
    """Return the cost of *time* in four parts: avoidable, committed, shared, not idle."""
    not_idle, avoidable, shared, committed, _ = time.leaves
    return avoidable, committed, shared, not_idle
