"""The fleets of the page, and what it promises of one of them."""

from __future__ import annotations

from typing import Final

from neuron_emf.cost.fleet import Fleet
from neuron_emf.cost.measured import CLUSTERS_MEASURED, MIDDLE_INSTANCES, SCATTERED_CLUSTERS

FLEETS: Final = tuple(Fleet(*one) for one in CLUSTERS_MEASURED.items())
SMALL, MIDDLE, LARGE = FLEETS
SCATTERED: Final = Fleet(MIDDLE_INSTANCES, SCATTERED_CLUSTERS)

PROMISED_SHARE: Final = 0.03  # of what PutMetricData would cost, at 1,000 instances
