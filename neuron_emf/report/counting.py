"""
Minute records and rows of the ledger in, idle time out.

The same rule as the rollups': a core is idle in a minute that is known, and in
which it has not been busy for a number of whole minutes or more. Records become
rows of the ledger first, by the code of `settle`; what rows do not say, such as
single cores, is counted beside them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from neuron_emf.figures import idle_cores
from neuron_emf.owners import UNALLOCATED, CoreOwner, owners_of
from neuron_emf.payment import AVOIDABLE, savings
from neuron_emf.reading.records import ClusterNames
from neuron_emf.report.amounts import CoreTime, Coverage, FlopsTime, IdleAmount, idle_parts
from neuron_emf.report.buffer import MinuteBuffer
from neuron_wire.core_owners import MICRO
from neuron_wire.instance_hours import InstanceHour, LedgerRules
from neuron_wire.names import MINUTE_MS, UNATTACHED, UNKNOWN_OWNER
from neuron_wire.prices import UNKNOWN_TYPE, PriceBasis
from neuron_wire.teams import TeamRules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neuron_emf.owners import Holding
    from neuron_emf.payment import Saving
    from neuron_emf.reading.periods import Period
    from neuron_emf.report.amounts import IdlePart
    from neuron_wire import MinuteRecord
    from neuron_wire.ledger import LedgerRow
    from neuron_wire.merging import InstanceMinute
    from neuron_wire.prices import Prices

HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS


@dataclass(slots=True)
class IdleCore:
    """
    One core, in the minutes in which it was idle.

    Attributes:
        amount: How much.

        longest_minutes: For how long it had not been busy, at most.

        owners: Whose it was last.
    """

    amount: IdleAmount = field(default_factory=IdleAmount)
    longest_minutes: int = 0
    owners: tuple[CoreOwner, ...] = (UNALLOCATED,)


@dataclass(slots=True)
class InstanceTime:
    """
    One instance of one cluster.

    Attributes:
        instance_type: As told last, or None.

        cores: Core minutes by what the cores did.

        coverage: How much of it is known.

        idle: Idle cores.

        flops: FLOP/s beside what the chips could do.

        avoidable_minutes: Minutes of which a stop would have saved the price.

        executions: Those that ended or failed; None where not every minute tells.

        duplicate_minutes: Minutes in which two emitters reported.

        by_core: Cores that were idle, by index.
    """

    cluster: str
    instance_id: str
    instance_type: str | None = None
    cores: CoreTime = field(default_factory=CoreTime)
    coverage: Coverage = field(default_factory=Coverage)
    idle: IdleAmount = field(default_factory=IdleAmount)
    flops: FlopsTime = field(default_factory=FlopsTime)
    avoidable_minutes: int = 0
    executions: int | None = 0
    duplicate_minutes: int = 0
    by_core: dict[int, IdleCore] = field(default_factory=dict)
    _last_ms: int | None = None
    _is_gone: bool = False

    @property
    def is_without_busy_core(self) -> bool:
        """No core was busy in any minute, and something is known of them; it may have executed."""
        return self.cores.known > 0 and self.cores.busy == 0

    def add_row(self, row: LedgerRow, parts: Sequence[IdlePart]) -> None:
        """Add what one owner had of it in an hour, and what of that was idle."""
        self.instance_type = row.instance_type or self.instance_type
        self.cores.add(row)
        self.idle.add_parts(parts)

    def leave_out_minutes(self) -> None:
        """Of what rows do not say, tell nothing: of a part of the period it would mislead."""
        self.coverage, self.avoidable_minutes, self.by_core = Coverage(), 0, {}
        self.flops, self.executions = FlopsTime(), None

    def add(self, minute: InstanceMinute) -> None:
        """Add a minute that is later than all before."""
        record = minute.record
        self.flops.add(record)
        ended = record.executions
        if ended is None and record.core_state and not record.core_state.strip(UNATTACHED):
            ended = 0  # without a runtime nobody reads any
        if ended is None or self.executions is None:
            self.executions = None
        else:
            self.executions += max(ended, record.execution_errors or 0)
        self.coverage.minutes += 1
        self.coverage.covered_hundredths += round(100 * record.covered_seconds)
        self.duplicate_minutes += minute.duplicate_emitters
        if self._last_ms is not None and not self._is_gone:
            self.coverage.missing += (record.minute_ms - self._last_ms) // MINUTE_MS - 1
        self._last_ms, self._is_gone = record.minute_ms, minute.gone

    def add_idle(
        self,
        minute: InstanceMinute,
        saved: Mapping[int, Saving],
        holding: Holding,
        usd_per_core_hour: float | None,
    ) -> None:
        """Add the idle cores of a minute, at least one: what each is, and whose."""
        idle_minutes = minute.record.idle_minutes
        self.avoidable_minutes += not AVOIDABLE.isdisjoint(saved.values())
        for core, saving in saved.items():
            idle_core = self.by_core.setdefault(core, IdleCore())
            idle_core.amount.add(saving, MICRO, usd_per_core_hour)
            idle_core.longest_minutes = max(idle_core.longest_minutes, idle_minutes[core])
            idle_core.owners = tuple([owner for owner, _ in holding[core]])


@dataclass(slots=True)
class OwnerTime:
    """
    The time of one owner in one cluster.

    Attributes:
        cores: What it held, busy or not.

        idle: How much of it was idle.

        instances: Where.
    """

    cores: CoreTime = field(default_factory=CoreTime)
    idle: IdleAmount = field(default_factory=IdleAmount)
    instances: set[str] = field(default_factory=set)


@dataclass(slots=True)
class DayTime:
    """
    One day, from midnight to midnight UTC.

    Attributes:
        cores: Core minutes by what the cores did.

        idle: Idle cores.
    """

    cores: CoreTime = field(default_factory=CoreTime)
    idle: IdleAmount = field(default_factory=IdleAmount)


@dataclass(slots=True)
class ClusterMinute:
    """
    What the lines say of one minute of one cluster, to hold against its rollup.

    Attributes:
        records: Distinct minute records.

        idle: Idle cores.
    """

    records: int = 0
    idle: IdleAmount = field(default_factory=IdleAmount)


class Counting:
    """
    What has been counted so far.

    Attributes:
        instances: By cluster and instance id.

        owners: By cluster and owner.

        days: By start of the day, milliseconds.

        minutes: By cluster and start of the minute, milliseconds.

        outside: Records of other times or clusters than were asked for.

        others: The clusters among them, of the time that was asked for.

        basis: What the amounts are based on, and which idle cores have no price.

        settled_hours: Hours that were counted by the ledger.

        ledger_rows: Rows of it that were read.

        ledger_basis: What their amounts are based on.

        idle_after_minutes: From when on a core is idle.

        cluster: The one that counts; empty for all.
    """

    def __init__(
        self,
        period: Period,
        idle_after_minutes: int,
        prices: Prices,
        cluster: str = "",
        *,
        teams: TeamRules | None = None,
        payment: Mapping[str, str] | None = None,
    ) -> None:
        """
        Nothing yet; only what is in *period* will count, and of *cluster* if one is named.

        *teams* are rules beside what schedulers know, *payment* how instances are
        paid by type, where their lines do not say it.
        """
        self.instances: dict[tuple[str, str], InstanceTime] = {}
        self.owners: dict[tuple[str, CoreOwner], OwnerTime] = defaultdict(OwnerTime)
        self.days: dict[int, DayTime] = defaultdict(DayTime)
        self.minutes: dict[tuple[str, int], ClusterMinute] = defaultdict(ClusterMinute)
        self.outside = 0
        self.others = ClusterNames()
        self.basis = PriceBasis()
        self.settled_hours: set[int] = set()
        self.ledger_rows = 0
        self.ledger_basis: set[str] = set()
        self._period = period
        self.idle_after_minutes = idle_after_minutes
        self._rules = LedgerRules(prices, idle_after_minutes, payment or {}, teams or TeamRules())
        self._hours: dict[tuple[str, str], InstanceHour] = {}
        self._owners_as_told: dict[tuple[str, str, str | None], OwnerTime] = {}
        self.cluster = cluster
        self._buffer = MinuteBuffer()

    def add(self, record: MinuteRecord) -> None:
        """
        Add *record*, which no earlier call gave.

        Raises:
            SettingsError: If more wait than can be kept.
        """
        is_within = record.minute_ms in self._period
        if not is_within or self.cluster not in {"", record.cluster}:
            self.outside += 1
            if is_within:
                self.others.add(record.cluster)
            return
        self._buffer.add(record)

    def close(self) -> None:
        """Count what was added: all that there is of these minutes, later ones follow."""
        for minute in self._buffer.take():
            self._count(minute)

    def finish(self) -> None:
        """Count the hours that were begun: no record of them follows."""
        while self._hours:
            _, hour = self._hours.popitem()
            self._count_hour(hour)
        if self.settled_hours:
            for instance in self.instances.values():
                instance.leave_out_minutes()

    def settle(self, hours: Iterable[int], rows: Iterable[LedgerRow]) -> None:
        """Count the *rows* of *hours* that are settled; no record of these is added."""
        self.settled_hours.update(hours)
        unpriced: Counter[str] = Counter()
        for row in rows:
            self.ledger_rows += 1
            if self.cluster not in {"", row.cluster}:
                self.others.add(row.cluster)
                continue
            if row.basis is not None:
                self.ledger_basis.add(row.basis)
            elif row.idle:
                unpriced[f"{row.region}/{row.instance_type or UNKNOWN_TYPE}"] += row.idle
            self._count_row(row)
        for name, micros in unpriced.items():
            self.basis.unpriced[name] += micros // MICRO

    def _count(self, minute: InstanceMinute) -> None:
        record = minute.record
        key = record.cluster, record.instance_id
        self._instance(*key).add(minute)
        self._hour_of(key, record.minute_ms // HOUR_MS).add(record)
        of_cluster = self.minutes[record.cluster, record.minute_ms]
        of_cluster.records += minute.records
        idle = idle_cores(record, self.idle_after_minutes)
        if not idle:
            return
        price = self.basis.usd_per_core_hour(
            self._rules.prices, record.instance_type, len(record.core_state), record.region,
            len(idle),
        )  # fmt: skip
        saved = savings(record, idle, self._rules.paid_by_type)
        holding = owners_of(record, idle, self._rules.teams)
        self._instance(*key).add_idle(minute, saved, holding, price)
        for saving, cores in Counter(saved.values()).items():
            of_cluster.idle.add(saving, cores * MICRO, price)

    def _hour_of(self, key: tuple[str, str], hour: int) -> InstanceHour:
        begun = self._hours.get(key)
        if begun is None or begun.hour != hour:
            if begun is not None:
                self._count_hour(begun)
            begun = self._hours[key] = InstanceHour(hour, self._rules)
        return begun

    def _count_hour(self, hour: InstanceHour) -> None:
        for row in hour.rows():
            self._count_row(row)

    def _count_row(self, row: LedgerRow) -> None:
        parts = idle_parts(row)
        self._instance(row.cluster, row.instance_id).add_row(row, parts)
        day = self.days[row.hour * HOUR_MS // DAY_MS * DAY_MS]
        day.cores.add(row)
        if row.owner == UNKNOWN_OWNER:
            return
        owner = self._owner(row.cluster, row.owner, row.team)
        owner.cores.add(row)
        if not parts:
            return
        day.idle.add_parts(parts)
        owner.idle.add_parts(parts)
        owner.instances.add(row.instance_id)

    def _owner(self, cluster: str, name: str, told_team: str | None) -> OwnerTime:
        key = cluster, name, told_team
        owner = self._owners_as_told.get(key)
        if owner is None:
            team = self._rules.teams.team_of(*key)
            owner = self._owners_as_told[key] = self.owners[cluster, CoreOwner(name, team)]
        return owner

    def _instance(self, cluster: str, instance_id: str) -> InstanceTime:
        key = cluster, instance_id
        instance = self.instances.get(key)
        if instance is None:
            instance = self.instances[key] = InstanceTime(*key)
        return instance
