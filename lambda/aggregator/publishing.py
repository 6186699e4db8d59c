"""
A rollup as one EMF line of at most 32 KB.

Built and checked by `neuron_wire`, the same code that the tests and the
emitter hold every line against; whoever prints it must not log it, because a
logger would wrap the line and CloudWatch would no longer see its metrics.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from aggregator.minutes import iso, start_ms
from aggregator.rollup import MAX_NAMES, IdleInstance, Rollup
from neuron_wire import CLUSTER_NAMESPACE, VERSION
from neuron_wire.catalogue import ROLLUP
from neuron_wire.emf import MAX_VALUE, emf_line
from neuron_wire.instance_types import PRICES_AS_OF
from neuron_wire.names import CLUSTER_DIMENSION
from neuron_wire.names import ROLLUP as ROLLUP_KIND

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aggregator.publication import Due
    from aggregator.registry import Silent

MAX_LINE_BYTES: Final = 32 * 1024
"""Far below CloudWatch's megabyte: a person should be able to read a rollup."""

MAX_RANGES: Final = 32  # of cores of one instance, before the rest is only counted


def line_of(rollup: Rollup, minute: int, due: Due) -> str:
    """
    Write *rollup* as one line with the amounts that are *due*.

    A metric too large for CloudWatch is left out, so that one absurd record
    cannot hide a cluster. Lists of names are cut until the line fits; the
    numbers beside them stay whole.

    Raises:
        WireFormatError: If CloudWatch would not extract the line.
    """
    values = {**rollup.gauges, **due.amounts}
    metrics = {
        name: values[name] for name in ROLLUP if name in values and abs(values[name]) <= MAX_VALUE
    }
    names = MAX_NAMES
    while True:
        line = emf_line(
            CLUSTER_NAMESPACE,
            dimension_sets=[[CLUSTER_DIMENSION]],
            metrics=metrics,
            units={name: metric.unit for name, metric in ROLLUP.items()},
            properties=_properties(rollup, minute, due, names),
            timestamp_ms=start_ms(minute),
        )
        if names == 0 or len(line.encode()) <= MAX_LINE_BYTES:
            return line
        names //= 2


def rollup_id(cluster: str, minute: int, number: int) -> str:
    """
    The name of one publication; a line repeated after a crash has the same.
    """
    return f"{cluster}@{iso(minute)}#{number}"


def _properties(rollup: Rollup, minute: int, due: Due, names: int) -> dict[str, object]:
    properties: dict[str, object] = {
        "Schema": VERSION,
        "Kind": ROLLUP_KIND,
        CLUSTER_DIMENSION: rollup.cluster,
        "RollupId": rollup_id(rollup.cluster, minute, due.publication.number),
        "Minute": iso(minute),
        "Publication": due.publication.number,
        "Records": rollup.records,
    }
    if "IdleCostPerHour" in rollup.gauges:
        properties["PricesAsOf"] = PRICES_AS_OF
    for percentile, value in rollup.utilization_percentiles.items():
        properties[f"NeuronCoreUtilizationP{percentile}"] = value
    if rollup.idle_instances:
        properties["IdleInstanceCount"] = rollup.idle_instance_count
        properties["TopIdleInstances"] = [_idle(one) for one in rollup.idle_instances[:names]]
    if rollup.silent:
        properties["SilentInstanceNames"] = [_silent(one) for one in rollup.silent[:names]]
    if rollup.duplicates:
        properties["DuplicateEmitterInstances"] = list(rollup.duplicates[:names])
    if due.overstated:
        properties["TalliesOverstated"] = dict(due.overstated)
    return properties


def _present(members: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}


def _idle(one: IdleInstance) -> dict[str, object]:
    usd_per_hour = None if one.usd_per_hour is None else round(one.usd_per_hour, 4)
    return _present(
        {
            "InstanceId": one.instance_id,
            "InstanceType": one.instance_type,
            "IdleCores": len(one.cores),
            "Cores": ranges(one.cores),
            "IdleMinutes": one.minutes,
            "UsdPerHour": usd_per_hour,
        }
    )


def _silent(one: Silent) -> dict[str, object]:
    return _present(
        {
            "InstanceId": one.instance_id,
            "InstanceType": one.instance_type,
            "LastSeen": iso(one.last_minute),
        }
    )


def ranges(cores: Sequence[int]) -> str:
    """
    Ascending core indexes as text: `0-7,9`; past 32 ranges, how many are left.
    """
    runs = list(_runs(cores))
    texts = [
        str(first) if first == last else f"{first}-{last}" for first, last in runs[:MAX_RANGES]
    ]
    left = sum(last - first + 1 for first, last in runs[MAX_RANGES:])
    if left:
        texts.append(f"and {left} more")
    return ",".join(texts)


def _runs(cores: Iterable[int]) -> Iterable[tuple[int, int]]:
    # Within a run of neighbours, index minus position stays the same.
    for _, group in itertools.groupby(enumerate(cores), key=lambda pair: pair[1] - pair[0]):
        members = [core_index for _, core_index in group]
        yield members[0], members[-1]
