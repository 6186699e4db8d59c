"""Which cluster or instance comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from neuron_emf.top.fleet import Cluster, Figures, InstanceSnapshot

IDLE: Final = "idle"
COST: Final = "cost"
NAME: Final = "name"
UTILIZATION: Final = "utilization"
ORDERS: Final = (IDLE, COST, NAME, UTILIZATION)
"""Most idle core minutes, highest cost, name, or lowest utilization first."""

_LAST: Final = float("inf")


def clusters_in(order: str, clusters: Iterable[Cluster]) -> list[Cluster]:
    """*clusters* in *order*, those that are equal by name."""
    key = _KEYS[order]
    return sorted(clusters, key=lambda one: (key(one.figures), one.name))


def instances_in(order: str, instances: Iterable[InstanceSnapshot]) -> list[InstanceSnapshot]:
    """*instances* in *order*, those that do not report last unless in order of names."""
    key = _KEYS[order]
    return sorted(
        instances,
        key=lambda instance: (
            order != NAME and not instance.reports,
            key(instance.figures),
            instance.instance_id,
        ),
    )


def _most_idle(figures: Figures) -> float:
    return -figures.idle_core_minutes


def _dearest(figures: Figures) -> float:
    # What has no price may cost more than nothing and stands before it.
    usd = figures.usd_per_hour
    return -usd if usd else (0 if usd is not None else -1e-9)


def _least_used(figures: Figures) -> float:
    percent = figures.utilization_percent
    return _LAST if percent is None else percent


def _alike(_figures: Figures) -> float:
    return 0


_KEYS: Final[dict[str, Callable[[Figures], float]]] = {
    IDLE: _most_idle,
    COST: _dearest,
    NAME: _alike,
    UTILIZATION: _least_used,
}
