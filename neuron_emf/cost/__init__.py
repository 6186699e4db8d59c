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
    from neuron_emf.cost.bill import bill, total  # noqa: PLC0415 - --help needs none of it
    from neuron_emf.cost.quantities import Fleet  # noqa: PLC0415 - as above

    fleet = Fleet(instances, clusters, mode="direct" if emitters_only else mode)
    return total(bill(fleet.emitters_only() if emitters_only else fleet))
