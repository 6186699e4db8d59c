"""
What a month costs: of a fleet that is described, not of one that is looked at.

It needs no account, no network and no boto3. The table of docs/explanation/scale.md
is the same bill (`benchmarks.bills`).
"""

from __future__ import annotations


def monthly_usd(
    instances: int, *, clusters: int = 1, mode: str = "direct", emitters_only: bool = False
) -> float | None:
    """A month of *instances* of 32 cores at list prices; None if one of them is unknown."""
    from neuron_emf.cost import bill, fleet, measurements  # noqa: PLC0415 - --help needs none of it

    setup = fleet.Setup("direct" if mode == "direct" else "kinesis")
    asked = fleet.emitters_only(setup) if emitters_only else setup
    entries = bill.bill(measurements.read(), fleet.FleetSpec(instances, clusters), asked)
    return None if bill.unknown(entries) else bill.usd(entries)
