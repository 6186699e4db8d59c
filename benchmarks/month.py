"""
What a month of 1,000 instances costs, beside PutMetricData: arithmetic over docs/scale.md's sizes.
"""

from __future__ import annotations

from typing import Final

from benchmarks.figures import Figure
from benchmarks.scale import measured
from benchmarks.scale.bill import bill, counterfactual_usd, usd
from benchmarks.scale.fleets import COUNTERFACTUAL_METRICS, MIDDLE, MODES, PROMISED_SHARE

_TITLES: Final = {"direct": "Mode=direct", "kinesis": "Mode=kinesis"}


def costs() -> list[Figure]:
    """
    The bill of each mode, and its share of the other's.
    """
    sizes = measured.read()
    other_usd = counterfactual_usd(MIDDLE.instances)
    beside = (
        f"{MIDDLE.clusters} clusters; PutMetricData of {COUNTERFACTUAL_METRICS} metrics an"
        f" instance; list prices, sizes as of {sizes.as_of}"
    )
    figures = []
    for mode in MODES:
        what = f"a month of {MIDDLE.instances:,} instances of 32 cores, {_TITLES[mode]}"
        month_usd = usd(bill(sizes, MIDDLE, mode))
        figures += [
            Figure(what, month_usd, "USD", PROMISED_SHARE * other_usd, beside, other_usd),
        ]
    return figures
