"""The idle report itself, as values: sums, rows in order, and what was read for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neuron_emf.figures import MONTH_HOURS, prices_of
from neuron_emf.report.amounts import CoreTime, Coverage, FlopsTime, IdleAmount, Number
from neuron_emf.report.comparison import NEWEST_MS
from neuron_emf.report.trends import DayRow, TrendRow, days_of, months_of, weeks_of
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from neuron_emf.owners import CoreOwner
    from neuron_emf.reading.periods import Period
    from neuron_emf.report.comparison import Comparison
    from neuron_emf.report.counting import Counting, IdleCore, InstanceTime, OwnerTime
    from neuron_wire.prices import PriceBasis


@dataclass(frozen=True, slots=True)
class Provenance:
    """
    What was read for the report.

    Attributes:
        origin: From where, as a person would say it.

        records: Distinct minute records.

        repeated: Lines that had been read before.

        unreadable: Lines that are none of ours, or damaged.

        outside: Records of other times or clusters than were asked for.

        bytes_scanned: What Logs Insights billed; None when it was not asked.

        rollups_problem: Why the rollups could not be read; empty when they could.

        settled_hours: Hours whose rows of the ledger were read instead of lines.

        rows: Of the ledger that were read.

        damaged: Rows and objects of it that could not be.

        not_counted: Records that came too late or were refused, by the stack's metric;
            None where nobody knows.

        ledger_problem: Why lines were read although the ledger was asked for.
    """

    origin: str
    records: int = 0
    settled_hours: int = 0
    rows: int = 0
    damaged: int = 0
    not_counted: Mapping[str, int] | None = None
    ledger_problem: str = ""
    repeated: int = 0
    unreadable: int = 0
    outside: int = 0
    bytes_scanned: int | None = None
    rollups_problem: str = ""


@dataclass(slots=True)
class Sums:
    """
    Sums over instances.

    Attributes:
        instances: How many.

        without_busy_core: Those of them whose cores were busy in no minute.
    """

    instances: int = 0
    without_busy_core: int = 0
    cores: CoreTime = field(default_factory=CoreTime)
    coverage: Coverage = field(default_factory=Coverage)
    idle: IdleAmount = field(default_factory=IdleAmount)
    flops: FlopsTime = field(default_factory=FlopsTime)

    def add(self, instance: InstanceTime) -> None:
        """Add *instance*."""
        self.instances += 1
        self.without_busy_core += instance.is_without_busy_core
        self.cores.merge(instance.cores)
        self.coverage.merge(instance.coverage)
        self.idle.merge(instance.idle)
        self.flops.merge(instance.flops)


@dataclass(frozen=True, slots=True)
class OwnerRow:
    """One owner in one cluster."""

    cluster: str
    owner: CoreOwner
    time: OwnerTime


@dataclass(frozen=True, slots=True)
class CoreRow:
    """
    Cores of one instance that were idle for as long as each other, under the same owner.

    Attributes:
        cores: Their indexes, ascending.

        each: What there is to say of each.
    """

    instance: InstanceTime
    cores: Sequence[int]
    each: IdleCore

    @property
    def owner_names(self) -> str:
        """Whose they were last; several where they held the same core."""
        return ", ".join(owner.name for owner in self.each.owners)


@dataclass(frozen=True, slots=True)
class IdleReport:
    """
    The idle report.

    Attributes:
        start_ms: Start of the first minute with a line, or of the period asked for.

        end_ms: End of the last.

        made_ms: When it was made.

        cluster: The one that was asked for; empty for all.

        idle_after_minutes: From when on a core is idle.

        total: All clusters.

        clusters: Name and sums; in this and all lists but *days* the most expensive first.

        teams: Whose the idle time is; None is what nobody says, or what nobody holds.

        days: Every day of the period in its order, also those without a line.

        cores: The worst cores, at most as many rows as were asked for.

        core_count: Cores that were idle at all, in these rows or not.

        basis: What the amounts of lines are based on, and the idle core minutes without a price.

        ledger_basis: What those of the ledger are based on.
    """

    start_ms: int
    end_ms: int
    made_ms: int
    cluster: str
    idle_after_minutes: int
    provenance: Provenance
    total: Sums
    clusters: Sequence[tuple[str, Sums]]
    instances: Sequence[InstanceTime]
    owners: Sequence[OwnerRow]
    teams: Sequence[tuple[str | None, IdleAmount]]
    days: Sequence[DayRow]
    cores: Sequence[CoreRow]
    core_count: int
    basis: PriceBasis
    comparison: Comparison
    ledger_basis: Collection[str] = ()

    @property
    def minutes(self) -> int:
        """Length of the period."""
        return (self.end_ms - self.start_ms) // MINUTE_MS

    @property
    def has_teams(self) -> bool:
        """Whether anybody said of any owner to which team it belongs."""
        return any(team is not None for team, _ in self.teams)

    @property
    def price_words(self) -> str:
        """What the amounts are based on; empty when nothing has a price."""
        return "; ".join(sorted({*self.ledger_basis, *filter(None, [prices_of(self.basis)])}))

    @property
    def weeks(self) -> list[TrendRow]:
        """The weeks of the period, from Monday to Monday UTC."""
        return weeks_of(self.days)

    @property
    def months(self) -> list[TrendRow]:
        """Its months."""
        return months_of(self.days)

    @property
    def told_minutes(self) -> int:
        """Minutes of the period with a line of anybody, or settled."""
        return sum(day.told_minutes for day in self.days)

    @property
    def told_percent(self) -> float | None:
        """Share of the time asked for that there are data for; what is too new is not missed."""
        missable = min(self.end_ms, self.made_ms - NEWEST_MS) - self.start_ms
        minutes = max(self.told_minutes, -(-missable // MINUTE_MS))
        return 100 * self.told_minutes / minutes if minutes else None

    @property
    def unknown(self) -> list[tuple[str, int]]:
        """Core minutes without telemetry of each cluster that has any."""
        told = ((name, sums.cores.unknown) for name, sums in self.clusters)
        return [(name, minutes) for name, minutes in told if minutes]

    def a_month(self, usd: float | None) -> float | None:
        """What *usd* of this report are in a month at this rate; None if nobody knows."""
        if usd is None or not self.told_minutes:
            return None
        return usd * 60 * MONTH_HOURS / self.told_minutes

    @property
    def without_busy_core(self) -> list[InstanceTime]:
        """Instances whose cores were busy in no minute."""
        return [instance for instance in self.instances if instance.is_without_busy_core]


def idle_report(
    counting: Counting,
    comparison: Comparison,
    provenance: Provenance,
    *,
    asked: Period | None,
    made_ms: int,
    worst_cores: int,
) -> IdleReport:
    """Put in order what was counted; *asked* is the period, None for all there is."""
    counting.finish()
    total = Sums()
    clusters: dict[str, Sums] = {}
    for instance in counting.instances.values():
        total.add(instance)
        clusters.setdefault(instance.cluster, Sums()).add(instance)
    starts_ms = {minute_ms for _, minute_ms in counting.minutes}
    start_ms = asked.start_ms if asked else min(starts_ms)
    end_ms = asked.end_ms if asked else max(starts_ms) + MINUTE_MS
    cores = [row for instance in counting.instances.values() for row in _core_rows(instance)]
    cores.sort(key=_worst_first)
    return IdleReport(
        start_ms=start_ms,
        end_ms=end_ms,
        made_ms=made_ms,
        cluster=counting.cluster,
        idle_after_minutes=counting.idle_after_minutes,
        provenance=provenance,
        total=total,
        clusters=sorted(
            clusters.items(), key=lambda pair: (*_dearest_first(pair[1].idle), pair[0])
        ),
        instances=sorted(
            counting.instances.values(),
            key=lambda row: (*_dearest_first(row.idle), row.cluster, row.instance_id),
        ),
        owners=_owner_rows(counting),
        teams=_teams(counting),
        days=days_of(counting, start_ms, end_ms),
        cores=cores[:worst_cores],
        core_count=sum(len(row.cores) for row in cores),
        basis=counting.basis,
        comparison=comparison,
        ledger_basis=counting.ledger_basis,
    )


def _core_rows(instance: InstanceTime) -> list[CoreRow]:
    alike: dict[tuple[object, ...], list[int]] = {}
    for core_index, core in sorted(instance.by_core.items()):
        amount = core.amount
        key = core.owners, core.longest_minutes, amount.core_minutes, amount.usd
        alike.setdefault(key, []).append(core_index)
    return [CoreRow(instance, cores, instance.by_core[cores[0]]) for cores in alike.values()]


def _owner_rows(counting: Counting) -> list[OwnerRow]:
    rows = [
        OwnerRow(cluster, owner, time)
        for (cluster, owner), time in counting.owners.items()
        if time.idle.micros
    ]
    rows.sort(key=lambda row: (row.cluster, row.owner.name, row.owner.team or ""))
    rows.sort(key=lambda row: _dearest_first(row.time.idle))
    return rows


def _teams(counting: Counting) -> list[tuple[str | None, IdleAmount]]:
    teams: dict[str | None, IdleAmount] = {}
    for (_, owner), time in counting.owners.items():
        if not time.idle.micros:
            continue
        teams.setdefault(owner.team, IdleAmount()).merge(time.idle)
    return sorted(teams.items(), key=lambda pair: (*_dearest_first(pair[1]), pair[0] or ""))


def _dearest_first(idle: IdleAmount) -> tuple[float, Number]:
    # What has no price stands behind what has one, by its hours.
    return -(idle.usd or 0.0), -idle.core_minutes


def _worst_first(row: CoreRow) -> tuple[object, ...]:
    instance, longest = row.instance, row.each.longest_minutes
    place = instance.cluster, instance.instance_id, row.cores[0]
    return (*_dearest_first(row.each.amount), -longest, *place)
