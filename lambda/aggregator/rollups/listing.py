"""The names behind a rollup's numbers, as members of its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aggregator.rollups.amounts import FAILING
from neuron_wire import encode
from neuron_wire.cores import core_ranges
from neuron_wire.holders import holder_members
from neuron_wire.names import BUSY, UNREAD
from neuron_wire.owners import owner_members
from neuron_wire.phrases import iso_minute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aggregator.rollups.amounts import Failing
    from aggregator.rollups.idle import IdleInstance
    from aggregator.rollups.rollup import Rollup, SilentInstance
    from aggregator.rollups.stragglers import Straggler

Lists = dict[str, list[object]]
"""Lists of names by member, each with what matters most first; none is empty."""

_SEPARATORS_BYTES: Final = len('"":[],')


def lists_of(rollup: Rollup) -> Lists:
    """Every list that *rollup* has."""
    lists: dict[str, list[object]] = {
        "TopIdleInstances": [_idle(one) for one in rollup.idle_instances],
        "StragglerInstances": [_straggler(one) for one in rollup.stragglers],
        "SilentInstanceNames": [_silent(one) for one in rollup.silent],
        "DuplicateEmitterInstances": list(rollup.duplicates),
        **{
            name: [_failing(one, FAILING[name]) for one in instances]
            for name, instances in rollup.failing.items()
        },
        "PriceRegions": list(rollup.price_regions),
        "PricesOverridden": list(rollup.prices_overridden),
        "UnpricedTypes": list(rollup.unpriced_types),
    }
    return {name: names for name, names in lists.items() if names}


def cut(lists: Lists, room_bytes: int) -> Lists:
    """
    As much of *lists* as takes at most *room_bytes* of a line.

    The list that takes most loses its second half, until all fit; what stands
    first in a list is the last to go.
    """
    sizes = {
        name: [len(encode({"": one}).encode()) - len('{"":}') + 1 for one in names]
        for name, names in lists.items()
    }

    def size(name: str) -> int:
        return sum(sizes[name]) + len(name) + _SEPARATORS_BYTES

    while sizes and sum(map(size, sizes)) > room_bytes:
        longest = max(sizes, key=size)
        sizes[longest] = sizes[longest][: len(sizes[longest]) // 2]
        if not sizes[longest]:
            del sizes[longest]
    return {name: lists[name][: len(kept)] for name, kept in sizes.items()}


def _present(members: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}


def _idle(instance: IdleInstance) -> dict[str, object]:
    usd_per_hour = instance.usd_per_hour
    return _present(
        {
            "InstanceId": instance.instance_id,
            "InstanceType": instance.instance_type,
            "NeuronCores": len(instance.state),
            "BusyCores": instance.state.count(BUSY),
            "Executions": instance.executions,
            "IdleCores": len(instance.cores),
            "Cores": core_ranges(instance.cores),
            "IdleMinutes": instance.minutes,
            "UsdPerHour": None if usd_per_hour is None else round(usd_per_hour, 4),
            "AttachedCores": core_ranges(instance.attached) or None,
            "Holders": holder_members(instance.holders) or None,
            "HoldersMore": instance.holders_more or None,
            "Owners": owner_members(instance.owners) or None,
            "OwnersMore": instance.owners_more or None,
            "Given": UNREAD if instance.given == UNREAD else None,
            "CoreState": instance.state,
            "BusyUtilization": instance.busy_percent,
            "HostCpuPercent": instance.host_cpu_percent,
        }
    )


def _straggler(straggler: Straggler) -> dict[str, object]:
    return {
        "InstanceId": straggler.instance_id,
        "InstanceType": straggler.instance_type,
        "BusyUtilization": straggler.busy_percent,
        "TypeMedian": straggler.median_percent,
    }


def _silent(instance: SilentInstance) -> dict[str, object]:
    return _present(
        {
            "InstanceId": instance.instance_id,
            "InstanceType": instance.instance_type,
            "LastSeen": iso_minute(instance.last_minute),
        }
    )


def _failing(instance: Failing, member: str) -> dict[str, object]:
    found = {"InstanceId": instance.instance_id, member: instance.count, **instance.details}
    return {**found, "Owners": list(instance.owners)} if instance.owners else found
