"""
A rollup as EMF lines: one of at most 32 KB for the cluster, one for each type in it.

Built and checked by `neuron_wire`, the same code that the tests and the
emitter hold every line against; whoever prints them must not log them, because
a logger would wrap them and CloudWatch would no longer see their metrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aggregator.minutes import start_ms
from aggregator.rollups.listing import cut, lists_of, owner_members
from neuron_wire import CLUSTER_NAMESPACE, VERSION
from neuron_wire.catalogue import BY_TYPE, ROLLUP
from neuron_wire.emf import MAX_VALUE, emf_line
from neuron_wire.names import CLUSTER_DIMENSION, TYPE, TYPE_DIMENSION
from neuron_wire.names import ROLLUP as ROLLUP_KIND
from neuron_wire.phrases import iso_minute
from neuron_wire.prices import PRICES_AS_OF

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aggregator.rollups.publication import Due
    from aggregator.rollups.rollup import Rollup
    from neuron_wire.catalogue import Member

MAX_LINE_BYTES: Final = 32 * 1024
"""Far below CloudWatch's megabyte: a person should be able to read a rollup."""


def lines_of(rollup: Rollup, minute: int, due: Due) -> list[str]:
    """
    Write *rollup* as lines with the amounts that are *due*.

    First one line for each instance type, with gauges only, then the line of
    the whole cluster: while that one is not out, nothing is said to be published.
    A metric too large for CloudWatch is left out, so that one absurd record
    cannot hide a cluster. Lists of names are cut until the line fits; the
    numbers beside them stay whole.

    Raises:
        WireFormatError: If CloudWatch would not extract one of the lines.
    """
    number = due.publication.number
    return [
        *(_type_line(rollup, instance_type, minute, number) for instance_type in rollup.types),
        _cluster_line(rollup, minute, due),
    ]


def rollup_id(cluster: str, minute: int, number: int) -> str:
    """The name of one publication; a line repeated after a crash has the same."""
    return f"{cluster}@{iso_minute(minute)}#{number}"


def _type_line(rollup: Rollup, instance_type: str, minute: int, number: int) -> str:
    properties = {
        **_identity(TYPE, rollup.cluster, minute, number),
        TYPE_DIMENSION: instance_type,
        "RollupId": f"{rollup_id(rollup.cluster, minute, number)}/{instance_type}",
    }
    if instance_type in rollup.peak_percent_by_type:
        properties["FlopsPercentOfBf16Peak"] = rollup.peak_percent_by_type[instance_type]
    dimensions = (CLUSTER_DIMENSION, TYPE_DIMENSION)
    return _line(BY_TYPE, dimensions, rollup.types[instance_type], properties, minute)


def _cluster_line(rollup: Rollup, minute: int, due: Due) -> str:
    values = {**rollup.gauges, **due.amounts}
    properties: dict[str, object] = {
        **_identity(ROLLUP_KIND, rollup.cluster, minute, due.publication.number),
        "Records": rollup.records,
    }
    if rollup.price_regions:
        properties["PricesAsOf"] = PRICES_AS_OF
    for percentile, percent in rollup.utilization_percentiles.items():
        properties[f"NeuronCoreUtilizationP{percentile}"] = percent
    if rollup.idle_instance_count:
        properties["IdleInstanceCount"] = rollup.idle_instance_count
    properties.update(rollup.idle_cost_parts)
    if rollup.wholly_idle_instances is not None:
        properties["WhollyIdleInstances"] = rollup.wholly_idle_instances
    if rollup.idle_owners_left_out:
        properties["IdleOwnersLeftOut"] = rollup.idle_owners_left_out
    if rollup.types_left_out:
        properties["TypesWithoutLine"] = rollup.types_left_out
    if due.overstated:
        properties["TalliesOverstated"] = dict(due.overstated)
    if rollup.idle_owners:  # together they are all idle cores, so none of them is cut
        properties["TopIdleOwners"] = [owner_members(one) for one in rollup.idle_owners]
    lists = lists_of(rollup)
    dimensions = (CLUSTER_DIMENSION,)
    line = _line(ROLLUP, dimensions, values, {**properties, **lists}, minute)
    if len(line.encode()) <= MAX_LINE_BYTES:
        return line
    bare = _line(ROLLUP, dimensions, values, properties, minute)
    fitting = cut(lists, MAX_LINE_BYTES - len(bare.encode()))
    return _line(ROLLUP, dimensions, values, {**properties, **fitting}, minute)


def _identity(kind: str, cluster: str, minute: int, number: int) -> dict[str, object]:
    return {
        "Schema": VERSION,
        "Kind": kind,
        CLUSTER_DIMENSION: cluster,
        "RollupId": rollup_id(cluster, minute, number),
        "Minute": iso_minute(minute),
        "Publication": number,
    }


def _line(
    catalogue: Mapping[str, Member],
    dimensions: Sequence[str],
    values: Mapping[str, float],
    properties: Mapping[str, object],
    minute: int,
) -> str:
    return emf_line(
        CLUSTER_NAMESPACE,
        dimension_sets=[dimensions],
        metrics={
            name: values[name]
            for name in catalogue
            if name in values and abs(values[name]) <= MAX_VALUE
        },
        units={name: metric.unit for name, metric in catalogue.items()},
        properties=properties,
        timestamp_ms=start_ms(minute),
    )
