"""The fleet as JSON for programs: units are in the names, what nobody knows is null."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neuron_emf.top.order import clusters_in, instances_in
from neuron_wire.holders import holder_members
from neuron_wire.owners import owner_members
from neuron_wire.phrases import iso
from neuron_wire.prices import PRICES_AS_OF

if TYPE_CHECKING:
    from neuron_emf.reading import Records
    from neuron_emf.top.fleet import Cluster, Figures, FleetSnapshot, InstanceSnapshot


def document(fleet: FleetSnapshot, order: str, records: Records) -> dict[str, Any]:
    """All that `top` knows."""
    basis = fleet.basis()
    return {
        "as_of": None if fleet.as_of_ms is None else iso(fleet.as_of_ms),
        "idle_after_minutes": fleet.idle_after,
        "prices_as_of": PRICES_AS_OF,
        "price_regions": sorted(basis.regions),
        "prices_overridden": sorted(basis.overridden),
        "unpriced_types": basis.unpriced_names(),
        "lines": {
            "records": records.read,
            "repeated": records.repeated,
            "other_kinds": dict(sorted(records.other.items())),
            "unreadable": dict(sorted(records.dropped.items())),
        },
        "fleet": _figures(fleet.figures),
        "clusters": [_cluster(one, order) for one in clusters_in(order, fleet.clusters)],
    }


def _cluster(cluster: Cluster, order: str) -> dict[str, Any]:
    return {
        "cluster": cluster.name,
        **_figures(cluster.figures),
        "members": [_instance(one) for one in instances_in(order, cluster.instances)],
    }


def _instance(instance: InstanceSnapshot) -> dict[str, Any]:
    record = instance.record
    members: dict[str, Any] = {
        "instance_id": instance.instance_id,
        "instance_type": record.instance_type,
        "status": instance.status,
        "minute": iso(record.minute_ms),
        "behind_minutes": instance.behind_minutes,
        "identity_guessed": record.identity_guessed,
    }
    if not instance.reports:
        return members
    return members | {
        "two_emitters": bool(instance.figures.duplicates),
        **_of_cores(instance.figures),
        "core_state": record.core_state or None,
        "core_utilization_percent": list(record.utilization_percent),
        "core_idle_minutes": list(record.idle_minutes),
        "holders": holder_members(record.holders),
        "holders_more": record.holders_more,
        "owners": owner_members(record.owners),
        "owners_more": record.owners_more,
        "lifecycle": record.lifecycle,
    }


def _figures(figures: Figures) -> dict[str, Any]:
    return {
        "instances": figures.instances,
        "silent_instances": figures.silent,
        "stopped_instances": figures.stopped,
        "instances_with_two_emitters": figures.duplicates,
        **_of_cores(figures),
    }


def _of_cores(figures: Figures) -> dict[str, Any]:
    def known(value: int) -> int | None:
        return value if figures.known else None

    def priced(value: float) -> float | None:
        return round(value, 6) if figures.priced_known_cores else None

    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, 6)

    return {
        "cores": figures.cores or None,
        "busy_cores": known(figures.busy),
        "attached_idle_cores": known(figures.attached_idle),
        "unattached_cores": known(figures.unattached),
        "unknown_cores": figures.unknown if figures.cores else None,
        "utilization_percent": rounded(figures.utilization_percent),
        "flops_percent_of_bf16_peak": rounded(figures.percent_of_peak),
        "idle_cores": known(figures.idle_cores),
        "idle_minutes": known(figures.idle_minutes),
        "idle_core_minutes": known(figures.idle_core_minutes),
        "idle_usd_per_hour": figures.usd_per_hour,
        "avoidable_usd_per_hour": figures.avoidable_usd_per_hour,
        "avoidable_held_usd_per_hour": priced(figures.held_usd),
        "shared_usd_per_hour": priced(figures.shared_usd),
        "sunk_usd_per_hour": priced(figures.sunk_usd),
        "unpriced_cores": figures.unpriced_cores if figures.cores else None,
        "coverage_percent": rounded(figures.coverage_percent),
    }
