"""
What a month costs: of a fleet that is described, not of one that is looked at.

It needs no account, no network and no boto3. The table of docs/explanation/scale.md
is the same bill (`benchmarks.bills`).
"""

from __future__ import annotations


def monthly_usd(
    instances: int, *, clusters: int = 1, mode: str = "direct", emitters_only: bool = False
) -> float | None:
    """What a month of *instances* costs."""
    from neuron_emf.cost import bill, fleet, measurements  # noqa: PLC0415 - stands in

    setup = fleet.Setup(
        mode="direct" if mode == "direct" else "kinesis", has_stack=not emitters_only
    )
    entries = bill.bill(measurements.read(), fleet.FleetSpec(instances, clusters), setup)
    return None if bill.unknown(entries) else bill.usd(entries)
