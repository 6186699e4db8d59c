"""The cost of a fleet's month, as pages show it: by the arithmetic of `neuron-emf cost`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from docs.generate.markdown import table
from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_emf.cost.bill import beyond_bill, bill, break_even, put_metric_data_usd, total
from neuron_emf.cost.quantities import ALL_RUNTIME_LINES, COST_GROUPS, MODES, TRAIL, Fleet
from neuron_emf.cost.tariff import listed
from neuron_words.quantity_words import dollars, share_words

SMALL = Fleet(10)
MIDDLE = Fleet(1_000, 2)
LARGE = Fleet(100_000, 100)
PROMISED_SHARE: Final = 0.03
"""The promised share of the cost of PutMetricData at 1,000 instances."""

_FLEETS_SHOWN: Final = tuple(
    replace(fleet, mode=mode) for fleet in (SMALL, MIDDLE, LARGE) for mode in MODES
)
_SMALLEST: Final = "inf1.xlarge"


def month() -> str:
    """Return the bill of each fleet by group, and the cost of PutMetricData."""
    bills = [bill(fleet) for fleet in _FLEETS_SHOWN]
    sums = [total(entries) for entries in bills]
    instead = [put_metric_data_usd(fleet.instances) for fleet in _FLEETS_SHOWN]
    each = [usd / fleet.instances for usd, fleet in zip(sums, _FLEETS_SHOWN, strict=True)]
    shares = [usd / other for usd, other in zip(sums, instead, strict=True)]
    beyond = [
        {entry.what: entry.usd for entry in beyond_bill(fleet, listed())} for fleet in _FLEETS_SHOWN
    ]
    heads = [
        f"{column.instances:,} in {column.clusters}, {column.mode}" for column in _FLEETS_SHOWN
    ]
    return table(
        ("USD a month, instances in clusters", *heads),
        [
            *(
                (group, *(dollars(total(entries, group)) for entries in bills))
                for group in COST_GROUPS
            ),
            ("**all**", *(f"**{dollars(usd)}**" for usd in sums)),
            ("an instance", *(f"{field:.3f}" for field in each)),
            ("by PutMetricData", *map(dollars, instead)),
            ("share of it", *(share_words(100 * share) for share in shares)),
            *(
                (f"not counted: {what}", *(dollars(usd[what]) for usd in beyond))
                for what in (ALL_RUNTIME_LINES, TRAIL)
            ),
        ],
    )


def bills() -> str:
    """Return the text for the README: each fleet in the modes that it would choose."""
    rows = []
    for fleet in _FLEETS_SHOWN:
        if (fleet.instances, fleet.mode) in ((10, "kinesis"), (100_000, "direct")):
            continue
        usd = total(bill(fleet))
        share = usd / put_metric_data_usd(fleet.instances)
        clusters = f"{fleet.clusters} cluster{'s' if fleet.clusters > 1 else ''}"
        of_fleet = f"{fleet.instances:,} in {clusters}"
        rows.append((of_fleet, fleet.mode, dollars(usd), share_words(100 * share)))
    heads = ("instances of 32 cores", "`Mode`", "USD a month", "of PutMetricData's cost")
    return table(heads, rows)


def small_fleets() -> str:
    """Return the number of instances from which a stack is cheaper, and the advice below it."""
    single = Fleet(1, 1, INSTANCE_TYPES[_SMALLEST].cores)
    of_stack = total(bill(single))
    alone = total(bill(single.emitters_only()))
    return (
        "Below three instances, [emitters only](docs/how-to/deploying.md#emitters-only) are often "
        f"enough: {dollars(alone)} USD a month with metrics of the cluster, three alarms and "
        f"every line.\nFor one {_SMALLEST} the stack costs {dollars(of_stack)} USD, and "
        f"PutMetricData each minute {dollars(put_metric_data_usd(single.instances))}. "
        f"From {break_even(single, listed())} instances in a cluster, the stack costs less.\n"
    )
