"""
*Then*: the sums of ledger rows over an hour, a week or a month.

`report` adds up rows, the digest adds up the summaries of hours: one object for each hour, put
after its eight parts, gzipped JSON with every owner and the instances with the highest idle cost.
Time is in micro-core-minutes, money in billionths of a dollar. Equal rows in any order give equal
bytes. Summaries are next to the rows and not among them, because Athena reads every object of a
partition.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from operator import add, attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from neuron_accounts.core_time import CoreTime, Part, avoidable_part, time_of
from neuron_accounts.ledger import LEDGER_PREFIX, gzip_lines, part_key, unpack_lines
from neuron_accounts.prices import UNKNOWN_TYPE_REASON
from neuron_accounts.savings import ClusterHour, ClusterHours, cluster_columns, pass_rows
from neuron_wire.line_members import BAD_MEMBER, WireFormatError
from neuron_wire.names import (
    DAY_HOURS,
    UNKNOWN_OWNER,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from neuron_accounts.ledger import LedgerRow
    from neuron_wire.line_members import JsonObject

MAX_INSTANCES: Final = 1_000
"""Instances that a summary lists; it includes the owners of all others."""

SUMMARIES: Final = "ledger/summaries/schema=2/"
"""The beginning of the keys of summaries; those of the first schema had no parts of idle time."""


class OwnerKey(NamedTuple):
    """An owner of cores in a cluster, with its team; None if unknown."""

    owner: str
    cluster: str
    team: str | None


class InstanceKey(NamedTuple):
    """An instance in a cluster."""

    instance_id: str
    cluster: str


class TypeKey(NamedTuple):
    """An instance type in a cluster; None if the type is unknown."""

    instance_type: str | None
    cluster: str


_Key = TypeVar("_Key", bound="tuple[str | None, ...]")


@dataclass(slots=True)
class Then:
    """
    The sums of rows of the ledger.

    Attributes:
        owners: The time of each owner, with `[unallocated]` and `[unknown]`: together all time.

        instances: Allocated and idle time of each instance; from summaries only the listed ones.

        unlisted: The number of further instances with idle cores.

        days: All owners together, by whole days since the epoch.

        types: Types of instances, from the last row; summaries have none.

        cluster_types: All owners together, by instance type and cluster. Summaries that were
            written before the price of work have none.

        unpriced: Idle micro-core-minutes without a price, by `REGION/TYPE`.

        bases: The bases of the amounts.

        cluster_hours: Hours from which savings are computed. `fold_row` does not add to them.
    """

    owners: dict[OwnerKey, CoreTime] = field(default_factory=dict)
    instances: dict[InstanceKey, CoreTime] = field(default_factory=dict)
    unlisted: int = 0
    days: dict[int, CoreTime] = field(default_factory=dict)
    types: dict[InstanceKey, str] = field(default_factory=dict)
    cluster_types: dict[TypeKey, CoreTime] = field(default_factory=dict)
    unpriced: Counter[str] = field(default_factory=Counter)
    bases: set[str] = field(default_factory=set)
    cluster_hours: ClusterHours = field(default_factory=dict)

    def fold_row(self, row: LedgerRow) -> None:
        """Add a row of the ledger."""
        time = time_of_row(row)
        owner = OwnerKey(row.owner, row.cluster, row.team)
        instance = InstanceKey(row.instance_id, row.cluster)
        self.owners.setdefault(owner, CoreTime()).fold_time(time)
        self.days.setdefault(row.hour // DAY_HOURS, CoreTime()).fold_time(time)
        self.instances.setdefault(instance, CoreTime()).fold_time(time)
        instance_type = TypeKey(row.instance_type, row.cluster)
        self.cluster_types.setdefault(instance_type, CoreTime()).fold_time(time)
        if row.instance_type is not None:
            self.types[instance] = row.instance_type
        if row.basis is not None:
            self.bases.add(row.basis)
        elif time.idle:
            self.unpriced[f"{row.region}/{row.instance_type or UNKNOWN_TYPE_REASON}"] += time.idle

    def fold_summary(self, hour: int, payload: bytes) -> None:
        """
        Add the summary of *hour* that `summary` encoded.

        Raises:
            WireFormatError: If it is not a summary.
        """
        try:
            document = json.loads(unpack_lines(payload))
            day = self.days.setdefault(hour // DAY_HOURS, CoreTime())
            for owner, cluster, team, *numbers in zip(*document["Owners"], strict=True):
                time = _time_of_numbers(numbers)
                self.owners.setdefault(OwnerKey(owner, cluster, team), CoreTime()).fold_time(time)
                day.fold_time(time)
            for instance_id, cluster, *numbers in zip(*document["Instances"], strict=True):
                instance = InstanceKey(instance_id, cluster)
                self.instances.setdefault(instance, CoreTime()).fold_time(_time_of_numbers(numbers))
            for name, cluster, *numbers in zip(*document.get("Types", ()), strict=True):
                key = TypeKey(name, cluster)
                self.cluster_types.setdefault(key, CoreTime()).fold_time(_time_of_numbers(numbers))
            self.unlisted += document["Unlisted"]
            self.unpriced.update(document["Unpriced"])
            self.bases.update(document["Bases"])
            for cluster, *sums in zip(*document.get("Clusters", ()), strict=True):
                self.cluster_hours.setdefault((cluster, hour), ClusterHour()).fold_instances(*sums)
        except (KeyError, TypeError, ValueError) as error:
            raise WireFormatError(BAD_MEMBER, "a summary of the ledger cannot be read") from error

    @property
    def total(self) -> CoreTime:
        """Return all time."""
        return time_of(self.owners.values())

    def summary(self) -> bytes:
        """Return the object; it lists the `MAX_INSTANCES` with the highest idle cost."""
        idle = {key: time for key, time in self.instances.items() if time.idle}
        listed = dearest(idle, MAX_INSTANCES)
        document = {
            "Owners": _columns(self.owners.items()),
            "Instances": _columns(listed),
            "Types": _columns(self.cluster_types.items()),
            "Unlisted": self.unlisted + len(idle) - len(listed),
            "Clusters": cluster_columns(self.cluster_hours),
            "Unpriced": dict(sorted(self.unpriced.items())),
            "Bases": sorted(self.bases),
        }
        return gzip_lines([json.dumps(document, separators=(",", ":"))])


def then_of(rows: Sequence[LedgerRow]) -> Then:
    """Return the sums of *rows*."""
    then = Then()
    for row in pass_rows(then.cluster_hours, rows):
        then.fold_row(row)
    return then


def time_of_row(row: LedgerRow) -> CoreTime:
    """Return one owner's time of an instance in an hour; money in billionths of a dollar."""
    # The first rows of the ledger do not have their core-minutes without a price.
    unpriced = row.allocated if row.list_cost is None else row.unpriced
    if row.owner == UNKNOWN_OWNER:
        return CoreTime(
            row.allocated,
            unknown=row.allocated,
            unpriced=unpriced,
            cost=row.list_cost or 0,
            unknown_cost=row.list_cost or 0,
        )
    idle = row.idle or 0
    cost = row.idle_cost
    avoidable = row.avoidable_cost or 0
    minutes = [0] * len(Part)
    money = [0] * len(Part)
    part = avoidable_part(row.owner)
    minutes[part] = row.avoidable
    minutes[Part.COMMITTED] = row.committed
    minutes[Part.SHARED] = idle - row.avoidable - row.committed
    if cost is not None:
        money[part] = avoidable
        money[Part.COMMITTED] = row.committed_cost
        money[Part.SHARED] = cost - avoidable - row.committed_cost
    is_priced = row.executions is not None and not unpriced
    return CoreTime(
        allocated=row.allocated,
        busy=row.busy or 0,
        used=row.used or 0,
        unpriced=unpriced,
        cost=row.list_cost or 0,
        unpriced_idle=idle if cost is None else 0,
        idle_by_part=minutes,
        cost_by_part=money,
        executions=row.executions,
        priced_executions=(row.executions or 0) if is_priced else 0,
        executions_cost=(row.list_cost or 0) if is_priced else 0,
    )


def summary_key(hour: int) -> str:
    """Return the key of an hour's summary."""
    return part_key(hour, 0).replace(LEDGER_PREFIX, SUMMARIES).replace("/part=00", "")


def dearest(times: Mapping[_Key, CoreTime], most: int) -> list[tuple[_Key, CoreTime]]:
    """Return the *most* with the highest idle cost; those without a price last, by their time."""
    return sorted(
        times.items(),
        key=lambda pair: (-(pair[1].idle_cost or 0), -pair[1].idle, *map(str, pair[0])),
    )[:most]


_SUMS: Final = ("allocated", "unknown", "busy", "used", "unpriced", "cost", "unpriced_idle")
_UNPRICED_IDLE: Final = len(_SUMS) - 1  # the last, so the parts of the idle time follow it
_sums_of: Final = attrgetter(*_SUMS)
_WORKS: Final = ("executions", "priced_executions", "executions_cost", "unknown_cost")
_works_of: Final = attrgetter(*_WORKS)


def _columns(times: Iterable[tuple[_Key, CoreTime]]) -> list[tuple[object, ...]]:
    """Return *times* by column, the shortest form; without a row there are no columns."""
    rows: list[tuple[object, ...]] = []
    for key, time in sorted(times, key=lambda pair: tuple(map(str, pair[0]))):
        sums = *_sums_of(time), *time.idle_by_part, *time.cost_by_part, *_works_of(time)
        rows.append((*key, *sums))
    return list(zip(*rows, strict=True))


def idle_sums(
    tables: Iterable[Sequence[Sequence[Any]]], key_size: int
) -> Iterator[tuple[tuple[str | None, ...], int, int, int]]:
    """
    Yield key, idle time, its price and its part without a price of the rows of several summaries.

    *tables* are the columns of each summary. Hours of one fleet mostly have the same keys, and
    equal keys are added up by column, because that is fastest. A key may come more than once.
    """
    sums: dict[Any, list[Sequence[int]]] = {}
    for columns in filter(None, tables):
        keys = tuple(map(tuple, columns[:key_size]))
        numbers = columns[key_size:]
        wanted = [*numbers[_UNPRICED_IDLE : len(_SUMS) + 2 * len(Part)]]
        if keys in sums:
            wanted = [list(map(add, *pair)) for pair in zip(sums[keys], wanted, strict=True)]
        sums[keys] = wanted
    for keys, (unpriced, *parts) in sums.items():
        idle = map(sum, zip(*parts[: len(Part)], strict=True))
        cost = map(sum, zip(*parts[len(Part) :], strict=True))
        yield from zip(zip(*keys, strict=True), idle, cost, unpriced, strict=True)


def cluster_times(document: JsonObject) -> dict[str, CoreTime]:
    """Return the time of all owners of each cluster, from a summary's types if it has them."""
    columns = document.get("Types")
    if columns is None:
        owner, cluster, _, *numbers = document["Owners"] or [()] * 3
        columns = (owner, cluster, *numbers)
    times: dict[str, CoreTime] = defaultdict(CoreTime)
    for _, cluster, *numbers in zip(*columns, strict=True):
        times[cluster].fold_time(_time_of_numbers(numbers))
    return times


def _time_of_numbers(numbers: list[Any]) -> CoreTime:
    """
    Return a time from `_columns`.

    Summaries that were written before the price of work have fewer numbers of executions, which
    are not read.
    """
    parts = len(_SUMS)
    money = parts + len(Part)
    works = money + len(Part)
    idle_by_part = numbers[parts:money]
    cost_by_part = numbers[money:works]
    values = [*numbers[:parts], idle_by_part, cost_by_part]
    time = CoreTime(*values)
    if len(numbers) == works + len(_WORKS):
        for name, number in zip(_WORKS, numbers[works:], strict=True):
            setattr(time, name, number)
    elif time.unknown == time.allocated:
        time.unknown_cost = time.cost
    return time
