"""
From how many instances on the stack costs no more than PutMetricData.

A stack has a price before it has an instance: metrics of the cluster, alarms,
the dashboard. One instance by PutMetricData costs a few dollars.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from neuron_emf.cost.alternatives import by_requests_usd
from neuron_emf.cost.bill import bill, unknown, usd
from neuron_emf.cost.fleet import emitters_only

if TYPE_CHECKING:
    from neuron_emf.cost.fleet import FleetSpec, Setup
    from neuron_emf.cost.measurements import Measurements
    from neuron_emf.cost.tariff import Tariff

_MOST: Final = 1_000  # where a stack does not break even by then, its metrics are by instance


@dataclass(frozen=True, slots=True)
class BreakEven:
    """
    What a small fleet is told; amounts are USD a month.

    Attributes:
        instances: From which the stack costs no more than a call each minute; None if
            that is nowhere near.

        instances_by_report: The same for a call each report.

        without_stack_usd: The emitters of this fleet alone.
    """

    instances: int | None
    instances_by_report: int | None
    without_stack_usd: float


def break_even(
    measurements: Measurements, fleet: FleetSpec, setup: Setup, tariff: Tariff
) -> BreakEven | None:
    """What to tell *fleet*; None where its stack costs no more, or where a price is unknown."""
    entries = bill(measurements, fleet, setup, tariff)
    otherwise = by_requests_usd(fleet.instances, 1.0, tariff)
    if not setup.has_stack or unknown(entries) or otherwise is None or usd(entries) <= otherwise:
        return None

    def instances(calls_a_minute: float) -> int | None:
        for count in range(fleet.clusters * (fleet.types or 1), _MOST + 1):
            other = by_requests_usd(count, calls_a_minute, tariff)
            of_stack = usd(bill(measurements, replace(fleet, instances=count), setup, tariff))
            if other is not None and of_stack <= other:
                return count
        return None

    alone = emitters_only(setup)
    return BreakEven(
        instances=instances(1.0),
        instances_by_report=instances(60 / setup.period_s),
        without_stack_usd=usd(bill(measurements, fleet, alone, tariff)),
    )
