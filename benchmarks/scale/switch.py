"""Where one choice becomes cheaper than another, and up to where the promise holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks.scale.fleets import PROMISED_SHARE
from neuron_emf.cost.alternatives import counterfactual_usd
from neuron_emf.cost.assumptions import MODES, Mode
from neuron_emf.cost.bill import bill, on_demand_usd, shards_usd, usd
from neuron_emf.cost.fleet import FleetSpec, Setup

if TYPE_CHECKING:
    from neuron_emf.cost.measurements import Measurements

_STEP: Final = 10
_MOST: Final = 100_000  # instances up to which is searched


def switch_at(found: Measurements, *, on_demand: bool = False) -> int:
    """
    Instances from which `Mode=kinesis` is the cheaper one, in steps of ten.

    With as many shards as are needed or, *on_demand*, a stream that scales by itself.

    What does not depend on the mode cancels out, so the clusters hardly matter.

    Raises:
        ValueError: If it never is.
    """
    for instances in range(_STEP, _MOST, _STEP):
        fleet = FleetSpec(instances, 1)
        direct, kinesis = (usd(bill(found, fleet, Setup(mode))) for mode in MODES)
        if on_demand:
            kinesis += on_demand_usd(found, fleet) - shards_usd(found, fleet)
        if kinesis < direct:
            return instances
    msg = f"Mode=kinesis is never the cheaper one, searched up to {_MOST:,} instances"
    raise ValueError(msg)


def on_demand_until(found: Measurements) -> int:
    """Instances up to which a stream on demand is cheaper than shards; 0 when it never is."""
    instances = _STEP
    while instances < _MOST and _is_on_demand_cheaper(found, FleetSpec(instances, 1)):
        instances += _STEP
    return instances - _STEP


def _is_on_demand_cheaper(found: Measurements, fleet: FleetSpec) -> bool:
    return on_demand_usd(found, fleet) < shards_usd(found, fleet)


def share_of_counterfactual(found: Measurements, fleet: FleetSpec, mode: Mode) -> float:
    """What a fleet costs of what PutMetricData would."""
    return usd(bill(found, fleet, Setup(mode))) / counterfactual_usd(fleet.instances)


def clusters_within_promise(found: Measurements, fleet: FleetSpec, mode: Mode) -> int:
    """Clusters that as many instances may be in before the promised share is passed."""
    clusters = 0
    while (
        share_of_counterfactual(found, FleetSpec(fleet.instances, clusters + 1), mode)
        <= PROMISED_SHARE
    ):
        clusters += 1
    return clusters
