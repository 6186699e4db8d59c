"""
A rollup as one EMF line of at most 32 KB.

Built and checked by `neuron_wire`, the same code that the tests and the
emitter hold every line against; whoever prints it must not log it, because
a logger would wrap it and CloudWatch would no longer see its metrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aggregator.minutes import start_ms
from aggregator.rollups.listing import cut, lists_of
from neuron_wire import CLUSTER_NAMESPACE, VERSION
from neuron_wire.catalogue import ROLLUP
from neuron_wire.extraction import MAX_VALUE
from neuron_wire.line import emf_line
from neuron_wire.names import CLUSTER_DIMENSION
from neuron_wire.names import ROLLUP as ROLLUP_KIND
from neuron_wire.phrases import iso_minute
from neuron_wire.prices import PRICES_AS_OF

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aggregator.rollups.listing import Lists
    from aggregator.rollups.publication import Due
    from aggregator.rollups.rollup import Rollup
    from neuron_wire.catalogue import Member

MAX_LINE_BYTES: Final = 32 * 1024
"""Far below CloudWatch's megabyte: a person should be able to read a rollup."""


def rollup_line(
    rollup: Rollup, minute: int, due: Due, metrics: Mapping[str, Member] = ROLLUP
) -> str:
    """
    Write *rollup* as a line with the amounts that are *due*; *metrics* of its numbers are such.

    A number too large for CloudWatch is left out, so that one absurd record
    cannot hide a cluster. Lists of names are cut until the line fits; the
    numbers beside them stay whole.

    Raises:
        WireFormatError: If CloudWatch would not extract the line.
    """
    numbers = {**rollup.gauges, **due.amounts}
    numbers = {name: one for name, one in numbers.items() if abs(one) <= MAX_VALUE}
    properties: dict[str, object] = {
        "Schema": VERSION,
        "Kind": ROLLUP_KIND,
        CLUSTER_DIMENSION: rollup.cluster,
        "RollupId": rollup_id(rollup.cluster, minute, due.publication.number),
        "Minute": iso_minute(minute),
        "Publication": due.publication.number,
        "Records": rollup.records,
        **{name: one for name, one in numbers.items() if name not in metrics},
    }
    if rollup.price_regions:
        properties["PricesAsOf"] = PRICES_AS_OF
    if rollup.idle_owners_left_out:
        properties["IdleOwnersLeftOut"] = rollup.idle_owners_left_out
    if rollup.types_left_out:
        properties["TypesMore"] = rollup.types_left_out
    if due.overstated:
        properties["TalliesOverstated"] = dict(due.overstated)
    # Of these two none is cut: owners are together all idle cores, and types are short.
    if rollup.types:
        properties["Types"] = [{"InstanceType": name, **own} for name, own in rollup.types.items()]
    if rollup.idle_owners:
        properties["TopIdleOwners"] = [one.members() for one in rollup.idle_owners]

    def line(lists: Lists) -> str:
        return emf_line(
            CLUSTER_NAMESPACE,
            dimension_sets=[(CLUSTER_DIMENSION,)],
            metrics={name: numbers[name] for name in metrics if name in numbers},
            units={name: metric.unit for name, metric in metrics.items()},
            properties={**properties, **lists},
            timestamp_ms=start_ms(minute),
        )

    lists = lists_of(rollup)
    whole = line(lists)
    if len(whole.encode()) <= MAX_LINE_BYTES:
        return whole
    return line(cut(lists, MAX_LINE_BYTES - len(line({}).encode())))


def rollup_id(cluster: str, minute: int, number: int) -> str:
    """The name of one publication; a line repeated after a crash has the same."""
    return f"{cluster}@{iso_minute(minute)}#{number}"
