"""
*Now*: idle cores, their owners and their cost in the newest rollup of each cluster.

`page`, `top` and messages show it; close writes its owners. A line is read leniently: a missing or
damaged value is None, never 0, and a sum over clusters is None if one of its parts is None. All
numbers are whole, so that sums do not depend on their order: cores of a cluster, millionths of
cores of an owner, and micro-USD per hour.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from neuron_accounts.prices import basis_words
from neuron_wire.holders import MAX_TEAM_CHARS, printable_name
from neuron_wire.line_members import (
    Counts,
    JsonObject,
    Members,
    count_in,
    filled,
    micros_in,
    minute_in,
    object_in,
    rows_in,
    stands_as,
    stated_fields,
    text_in,
    texts_in,
)
from neuron_wire.names import (
    CLUSTER_DIMENSION,
    MICRO,
    NOT_REPORTED_OWNER,
    REASON_WORDS,
    UNALLOCATED_OWNER,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

OWNER_ROWS: Final = "TopIdleOwners"
BY_REASON: Final = "UnknownCoresByReason"


@dataclass(frozen=True, slots=True)
class IdleOwner:
    """
    The idle cores of one owner in a cluster: a row of TopIdleOwners.

    Attributes:
        owner: Its name, or `[unallocated]`, `[others]`, `[unnamed]`, `[not reported]`.

        idle: Its idle cores, in millionths.

        team: The team from its scheduler; None if unknown or not the same everywhere.

        instances: The number of instances with its idle cores; for `[others]` an upper limit.

        allocated: All its held and reserved cores, in millionths; None for placeholders and if a
            line hides owners. For `[not reported]` its allocated idle cores.

        busy: The allocated cores that are busy, in millionths.

        reserved: The idle cores, in millionths, that no process has opened.

        fully_idle_minutes: Minutes for which neither it nor its siblings have worked; None if it
            works, or a line hides owners.

        executions: Executions of the minute that ended or failed; None if a line hides some.

        siblings: Owners that may be of the same job, including itself; None if there is no other.

        idle_siblings: The siblings that are not known to work.

        minutes: Minutes for which its longest idle core has not been busy.

        cost: The price of its idle cores, in micro-USD per hour; None if none of them has one.

        unpriced: The idle cores without a price, in millionths.
    """

    owner: str
    idle: int = stands_as("Cores", in_micros=True)
    team: str | None = None
    instances: int | None = stands_as("Instances")
    allocated: int | None = stands_as("AllocatedCores", in_micros=True)
    busy: int | None = stands_as("BusyCores", in_micros=True)
    reserved: int = stands_as("ReservedCores", 0, in_micros=True)
    fully_idle_minutes: int | None = stands_as("FullyIdleMinutes")
    executions: int | None = stands_as("Executions")
    siblings: int | None = stands_as("Siblings")
    idle_siblings: int | None = stands_as("IdleSiblings")
    minutes: int | None = stands_as("IdleMinutes")
    cost: int | None = stands_as("UsdPerHour", in_micros=True)
    unpriced: int = stands_as("UnpricedCores", 0, in_micros=True)

    @property
    def unallocated(self) -> int:
        """Its idle cores, in millionths, that are neither held nor known to be reserved."""
        if self.owner == NOT_REPORTED_OWNER and self.allocated is not None:
            return max(0, self.idle - self.allocated)
        return self.idle if self.owner == UNALLOCATED_OWNER else 0

    def members(self) -> Members:
        """Return the row, without members for unknown values and for 0 reserved cores."""
        members: Members = {
            "Owner": self.owner,
            "Team": printable_name(self.team, MAX_TEAM_CHARS),
        }
        for member, (name, is_micro) in _ROW.items():
            value = getattr(self, name)
            members[member] = value / MICRO if is_micro and value is not None else value
        return {
            name: value
            for name, value in members.items()
            if value is not None and (value or name != "ReservedCores")
        }


_ROW: Final = {member: (name, in_micros) for name, member, in_micros in stated_fields(IdleOwner)}
"""The numeric members of a row, in order: field, and True if the value is in millionths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNow:
    """
    The numbers of one rollup, or of several clusters together.

    Attributes:
        cluster: Its name; empty for several clusters.

        minute: The newest minute, since the epoch; None without a rollup.

        instances: Instances that reported.

        silent: Instances that stopped reporting.

        covered: Sum of the coverage of each instance, in millionths of a percent.

        cores: All cores of instances that reported.

        unknown: Cores without telemetry.

        unknown_by_reason: Unknown cores by reason, if the rollup reports reasons.

        idle: Idle cores.

        unallocated: Idle cores neither held nor reserved; None if unknown.

        unknown_allocation: Idle cores that no process holds, of unknown reservation.

        used: Sum of the utilization of each known core, in millionths of a percent.

        cost: The price of the idle cores, in micro-USD per hour like every amount here.

        avoidable: The upper bound of the cost that ends when fully idle instances stop.

        avoidable_allocated: The part of the avoidable cost for allocated cores.

        shared: The price of idle cores on instances that do work.

        committed: The price of idle cores that are paid whether they run or not.

        fully_idle_instances: Fully idle instances whose stop saves money.

        in_other_clusters: Instances that also report to another cluster.

        unpriced: Cores without a price, idle or not.

        idle_unpriced: Idle cores without a price.

        unpriced_types: Types without a price, as `REGION/TYPE`.

        price_regions: The Regions of the list prices in the amounts.

        prices_as_of: The date of the price list.

        overridden: The price overrides that the amounts use.

        owners_known: True if the rollup has the owners of idle cores.

        owners: The owners of all idle cores; empty for several clusters.
    """

    cluster: str
    minute: int | None
    instances: int | None = stands_as("Instances")
    silent: int | None = stands_as("SilentInstances")
    covered: int | None
    used: int | None
    cores: int | None = stands_as("NeuronCores")
    unknown: int | None = stands_as("UnknownCores")
    idle: int | None = stands_as("IdleCores")
    unallocated: int | None = stands_as("UnallocatedIdleCores")
    unknown_allocation: int | None = stands_as("UnknownAllocationIdleCores")
    cost: int | None = stands_as("IdleCostPerHour", in_micros=True)
    avoidable: int | None = stands_as("AvoidableCostPerHour", in_micros=True)
    avoidable_allocated: int | None = stands_as("AvoidableAllocatedCostPerHour", in_micros=True)
    shared: int | None = stands_as("SharedCostPerHour", in_micros=True)
    committed: int | None = stands_as("CommittedCostPerHour", in_micros=True)
    fully_idle_instances: int | None = stands_as("FullyIdleInstances")
    in_other_clusters: int | None = stands_as("InstancesInOtherClusters")
    unpriced: int | None = stands_as("UnpricedCores")
    idle_unpriced: int | None = stands_as("UnpricedIdleCores")
    unpriced_types: tuple[str, ...] = ()
    price_regions: tuple[str, ...] = ()
    prices_as_of: str | None = None
    overridden: tuple[str, ...] = ()
    unknown_by_reason: Counts = field(default_factory=dict)
    owners_known: bool = True
    owners: tuple[IdleOwner, ...] = ()

    @property
    def known(self) -> int | None:
        """Cores with telemetry."""
        return _known(self.cores, self.unknown)

    @property
    def utilization_percent(self) -> float | None:
        """Mean utilization of the known cores."""
        return None if self.used is None or not self.known else self.used / self.known / MICRO

    @property
    def idle_percent(self) -> float | None:
        """The percentage of known cores that are idle."""
        return None if self.idle is None or not self.known else 100 * self.idle / self.known

    @property
    def allocated(self) -> int | None:
        """The number of idle cores that an owner holds or has reserved."""
        if self.idle is None or self.unallocated is None or self.unknown_allocation is None:
            return None
        return max(0, self.idle - self.unallocated - self.unknown_allocation)

    @property
    def avoidable_unallocated(self) -> int | None:
        """The part of the avoidable amount for unallocated cores."""
        if self.avoidable is None or self.avoidable_allocated is None:
            return None
        return max(0, self.avoidable - self.avoidable_allocated)

    @property
    def basis(self) -> str:
        """The prices behind the amounts, in words; empty if unknown."""
        return basis_words(self.price_regions, self.prices_as_of, self.overridden)

    @property
    def coverage_percent(self) -> float | None:
        """The share of the minute that telemetry covers, over reporting and silent instances."""
        expected = (self.instances or 0) + (self.silent or 0)
        return None if self.covered is None or not expected else self.covered / expected / MICRO


_NOW_NUMBERS: Final = stated_fields(ClusterNow)
NOW_COUNTS: Final = {name: member for name, member, in_micros in _NOW_NUMBERS if not in_micros}
NOW_COSTS: Final = {name: member for name, member, in_micros in _NOW_NUMBERS if in_micros}


def cluster_now(line: JsonObject) -> ClusterNow:
    """Return the numbers of *line*, a rollup."""
    counts = {name: count_in(line, member) for name, member in NOW_COUNTS.items()}
    costs = {name: micros_in(line, member) for name, member in NOW_COSTS.items()}
    rows = rows_in(line, OWNER_ROWS)
    owners = tuple(owner for row in rows or () if (owner := _owner(row)))
    expected = total_of([counts["instances"], counts["silent"]])
    share = micros_in(line, "CoveragePercent") if expected else expected
    used = known = _known(counts["cores"], counts["unknown"])
    if known:
        mean = micros_in(line, "NeuronCoreUtilization")
        used = None if mean is None else mean * known
    return ClusterNow(
        cluster=text_in(line, CLUSTER_DIMENSION),
        minute=minute_in(line, "Minute"),
        covered=None if share is None or expected is None else share * expected,
        used=used,
        unpriced_types=tuple(texts_in(line, "UnpricedTypes")),
        price_regions=tuple(texts_in(line, "PriceRegions")),
        prices_as_of=text_in(line, "PricesAsOf") or None,
        overridden=tuple(texts_in(line, "PricesOverridden")),
        unknown_by_reason=_unknown_by_reason(line),
        owners_known=not counts["idle"] or rows is not None,
        owners=owners,
        **counts,
        **costs,
    )


def _known(cores: int | None, unknown: int | None) -> int | None:
    return None if cores is None or unknown is None else max(0, cores - unknown)


def _unknown_by_reason(line: JsonObject) -> Counts:
    by_reason = object_in(line, BY_REASON)
    return filled({reason: count_in(by_reason, reason) for reason in REASON_WORDS})


def _owner(row: JsonObject) -> IdleOwner | None:
    """Return the owner in *row*; None if the row has no number of cores."""
    idle = micros_in(row, "Cores")
    if idle is None:
        return None
    numbers = {
        field: (micros_in if is_micro else count_in)(row, member)
        for member, (field, is_micro) in _ROW.items()
    }
    for name in ("reserved", "unpriced"):
        numbers[name] = numbers[name] or 0
    return IdleOwner(
        owner=text_in(row, "Owner"),
        team=text_in(row, "Team") or None,
        **numbers,  # type: ignore[arg-type]  # the table names the fields that may be None
    )


def total_of(values: Sequence[int | None]) -> int | None:
    """Return the sum of *values*; None if one of them is None, or there is none."""
    present = [value for value in values if value is not None]
    return sum(present) if present and len(present) == len(values) else None
