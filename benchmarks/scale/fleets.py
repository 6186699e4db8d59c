"""The fleets of the page, and what it promises of one of them."""

from __future__ import annotations

from typing import Final

from neuron_emf.cost.fleet import FleetSpec
from neuron_emf.cost.measurements import CLUSTERS_MEASURED, MIDDLE_INSTANCES, SCATTERED_CLUSTERS

FLEETS: Final = tuple(FleetSpec(*one) for one in CLUSTERS_MEASURED.items())
SMALL, MIDDLE, LARGE = FLEETS
FLEETS_OF_CLOSE: Final = tuple(
    FleetSpec(instances, 100) for instances in (10_000, 40_000, 60_000, 80_000, 100_000)
)
SCATTERED: Final = FleetSpec(MIDDLE_INSTANCES, SCATTERED_CLUSTERS)

PROMISED_SHARE: Final = 0.03  # of what PutMetricData would cost, at 1,000 instances
