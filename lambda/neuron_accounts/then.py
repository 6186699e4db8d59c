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
from dataclasses import dataclass, field, fields
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


_Key = TypeVar("_Key", bound=NamedTuple)


def _times() -> dict[Any, CoreTime]:
    return defaultdict(CoreTime)


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

    owners: dict[OwnerKey, CoreTime] = field(default_factory=_times)
    instances: dict[InstanceKey, CoreTime] = field(default_factory=_times)
    unlisted: int = 0
    days: dict[int, CoreTime] = field(default_factory=_times)
    types: dict[InstanceKey, str] = field(default_factory=dict)
    cluster_types: dict[TypeKey, CoreTime] = field(default_factory=_times)
    unpriced: Counter[str] = field(default_factory=Counter)
    bases: set[str] = field(default_factory=set)
    cluster_hours: ClusterHours = field(default_factory=dict)

    def fold_row(self, row: LedgerRow) -> None:
        """Add a row of the ledger."""
        time = time_of_row(row)
        owner = OwnerKey(row.owner, row.cluster, row.team)
        instance = InstanceKey(row.instance_id, row.cluster)
        self.owners[owner].fold_time(time)
        self.days[row.hour // DAY_HOURS].fold_time(time)
        self.instances[instance].fold_time(time)
        self.cluster_types[TypeKey(row.instance_type, row.cluster)].fold_time(time)
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
            day = self.days[hour // DAY_HOURS]
            for owner, time in _times_in(document["Owners"], OwnerKey):
                self.owners[owner].fold_time(time)
                day.fold_time(time)
            for instance, time in _times_in(document["Instances"], InstanceKey):
                self.instances[instance].fold_time(time)
            for instance_type, time in _times_in(document.get("Types", ()), TypeKey):
                self.cluster_types[instance_type].fold_time(time)
            self.unlisted += document["Unlisted"]
            self.unpriced.update(document["Unpriced"])
            self.bases.update(document["Bases"])
            for cluster, *sums in zip(*document.get("Clusters", ()), strict=True):
                self.cluster_hours.setdefault((cluster, hour), ClusterHour()).fold_instances(*sums)
        except (KeyError, TypeError, ValueError) as error:
            raise WireFormatError(BAD_MEMBER, "a summary of the ledger cannot be read") from error

    @property
    def total(self) -> CoreTime:
        """The time of all owners together."""
        return time_of(self.owners.values())

    def summary(self) -> bytes:
        """Return the object of a summary, with the `MAX_INSTANCES` of the highest idle cost."""
        idle = dearest(self.instances)
        document = {
            "Owners": _columns(self.owners.items()),
            "Instances": _columns(idle[:MAX_INSTANCES]),
            "Types": _columns(self.cluster_types.items()),
            "Unlisted": self.unlisted + len(idle[MAX_INSTANCES:]),
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
    is_unknown = row.owner == UNKNOWN_OWNER
    list_cost = row.list_cost or 0
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
        unknown=row.allocated if is_unknown else 0,
        busy=row.busy or 0,
        used=row.used or 0,
        unpriced=unpriced,
        cost=list_cost,
        unpriced_idle=idle if cost is None else 0,
        idle_by_part=minutes,
        cost_by_part=money,
        executions=row.executions,
        priced_executions=(row.executions or 0) if is_priced else 0,
        executions_cost=list_cost if is_priced else 0,
        unknown_cost=list_cost if is_unknown else 0,
    )


def summary_key(hour: int) -> str:
    """Return the key of an hour's summary."""
    return part_key(hour, 0).replace(LEDGER_PREFIX, SUMMARIES).replace("/part=00", "")


def dearest(times: Mapping[_Key, CoreTime]) -> list[tuple[_Key, CoreTime]]:
    """Return *times* with idle cores, highest cost first; without a price last, by idle time."""
    return sorted(
        (pair for pair in times.items() if pair[1].idle),
        key=lambda pair: (-(pair[1].idle_cost or 0), -pair[1].idle, *map(str, pair[0])),
    )


_FIELDS: Final = [column.name for column in fields(CoreTime)]
"""The columns of a time in their order, with several columns for idle time and its price."""

_numbers_of: Final = attrgetter(*_FIELDS)
_IDLE: Final = _FIELDS.index("idle_by_part")  # its columns follow the idle time without a price
_MONEY: Final = _IDLE + len(Part)
_WORK: Final = _MONEY + len(Part)
_ALL: Final = _WORK + len(_FIELDS[_IDLE + 2 :])


def _columns(times: Iterable[tuple[_Key, CoreTime]]) -> list[tuple[object, ...]]:
    """Return *times* by column, the shortest form; without a row there are no columns."""
    rows: list[tuple[object, ...]] = []
    for key, time in sorted(times, key=lambda pair: tuple(map(str, pair[0]))):
        numbers = _numbers_of(time)
        work = numbers[_IDLE + 2 :]
        rows.append((*key, *numbers[:_IDLE], *time.idle_by_part, *time.cost_by_part, *work))
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
        wanted = [*numbers[_IDLE - 1 : _WORK]]
        if keys in sums:
            wanted = [list(map(add, *pair)) for pair in zip(sums[keys], wanted, strict=True)]
        sums[keys] = wanted
    for keys, (unpriced, *parts) in sums.items():
        idle = map(sum, zip(*parts[: len(Part)], strict=True))
        cost = map(sum, zip(*parts[len(Part) :], strict=True))
        yield from zip(zip(*keys, strict=True), idle, cost, unpriced, strict=True)


def cluster_times(document: JsonObject) -> dict[str, CoreTime]:
    """Return the time of all owners of each cluster, from a summary's types if it has them."""
    rows: Iterator[tuple[OwnerKey | TypeKey, CoreTime]] = (
        _times_in(document["Types"], TypeKey)
        if "Types" in document
        else _times_in(document["Owners"], OwnerKey)
    )
    times: dict[str, CoreTime] = _times()
    for key, time in rows:
        times[key.cluster].fold_time(time)
    return times


def _times_in(
    columns: Sequence[Sequence[Any]], key_type: type[_Key]
) -> Iterator[tuple[_Key, CoreTime]]:
    """Yield the key and the time of each row that `_columns` encoded."""
    size = len(key_type._fields)
    for row in zip(*columns, strict=True):
        yield key_type(*row[:size]), _time_of_numbers(list(row[size:]))


def _time_of_numbers(numbers: list[Any]) -> CoreTime:
    """
    Return a time from the numbers of its columns.

    Summaries that were written before the price of work have fewer numbers of executions, which
    are not read.
    """
    sums = [*numbers[:_IDLE], numbers[_IDLE:_MONEY], numbers[_MONEY:_WORK]]
    if len(numbers) == _ALL:
        return CoreTime(*sums, *numbers[_WORK:])
    time = CoreTime(*sums)
    if time.unknown == time.allocated:
        time.unknown_cost = time.cost
    return time
