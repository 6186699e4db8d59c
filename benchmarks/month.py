"""
What a month of 1,000 instances costs beside PutMetricData, by the sizes of docs.

The sizes are those that docs/explanation/scale.md has.
"""

from __future__ import annotations

from typing import Final

from benchmarks.figure import Figure
from benchmarks.scale.fleets import MIDDLE, PROMISED_SHARE
from neuron_emf.cost.alternatives import counterfactual_usd
from neuron_emf.cost.assumptions import COUNTERFACTUAL_METRICS, MODES
from neuron_emf.cost.bill import bill, usd
from neuron_emf.cost.fleet import Setup
from neuron_emf.cost.measurements import read

_TITLES: Final = {"direct": "Mode=direct", "kinesis": "Mode=kinesis"}


def costs() -> list[Figure]:
    """The bill of each mode, and its share of the other's."""
    sizes = read()
    other_usd = counterfactual_usd(MIDDLE.instances)
    beside = (
        f"{MIDDLE.clusters} clusters; PutMetricData of {COUNTERFACTUAL_METRICS} metrics an"
        f" instance; list prices, sizes as of {sizes.as_of}"
    )
    figures = []
    for mode in MODES:
        what = f"a month of {MIDDLE.instances:,} instances of 32 cores, {_TITLES[mode]}"
        month_usd = usd(bill(sizes, MIDDLE, Setup(mode)))
        figures += [Figure(what, month_usd, "USD", PROMISED_SHARE * other_usd, beside, other_usd)]
    return figures
