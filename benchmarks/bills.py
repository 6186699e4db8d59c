"""What a month of a fleet costs, as pages show it: by the arithmetic of `neuron-emf cost`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks.figure import markdown
from neuron_emf.cost.alternatives import counterfactual_usd
from neuron_emf.cost.assumptions import MODES, RUNTIMES
from neuron_emf.cost.bill import GROUPS, bill, usd
from neuron_emf.cost.break_even import break_even
from neuron_emf.cost.fleet import FleetSpec, Setup
from neuron_emf.cost.measurements import CLUSTERS_MEASURED
from neuron_emf.cost.quantities import dollars, percent
from neuron_emf.cost.tariff import listed
from neuron_wire.instance_types import INSTANCE_TYPES

if TYPE_CHECKING:
    from neuron_emf.cost.measurements import Measurements

FLEETS: Final = tuple(FleetSpec(*one) for one in CLUSTERS_MEASURED.items())
SMALL, MIDDLE, LARGE = FLEETS
PROMISED_SHARE: Final = 0.03
"""Of what PutMetricData would cost, at most, at 1,000 instances."""

_COLUMNS: Final = tuple((fleet, mode) for fleet in FLEETS for mode in MODES)
_SMALLEST: Final = "inf1.xlarge"


def month(found: Measurements) -> str:
    """The bill of each fleet by group, and what PutMetricData would cost."""
    bills = [bill(found, fleet, Setup(mode)) for fleet, mode in _COLUMNS]
    sums = [usd(entries) for entries in bills]
    instead = [counterfactual_usd(fleet.instances) for fleet, _ in _COLUMNS]
    each = [total / fleet.instances for total, (fleet, _) in zip(sums, _COLUMNS, strict=True)]
    shares = [total / other for total, other in zip(sums, instead, strict=True)]
    heads = [f"{fleet.instances:,} in {fleet.clusters}, {mode}" for fleet, mode in _COLUMNS]
    return markdown(
        ("USD a month, instances in clusters", *heads),
        [
            *((group, *(dollars(usd(entries, group)) for entries in bills)) for group in GROUPS),
            ("**all**", *(f"**{dollars(total)}**" for total in sums)),
            ("an instance", *(f"{one:.3f}" for one in each)),
            ("by PutMetricData", *map(dollars, instead)),
            ("share of it", *map(percent, shares)),
        ],
    )


def bills(found: Measurements) -> str:
    """What the README says: each fleet by itself, in the mode or modes that it would choose."""
    rows = []
    for fleet, mode in _COLUMNS:
        if (fleet, mode) in ((SMALL, "kinesis"), (LARGE, "direct")):
            continue
        total = usd(bill(found, fleet, Setup(mode)))
        clusters = f"{fleet.clusters} cluster{'s' if fleet.clusters > 1 else ''}"
        share = percent(total / counterfactual_usd(fleet.instances))
        rows.append((f"{fleet.instances:,} in {clusters}", mode, dollars(total), share))
    heads = ("instances of 32 cores", "`Mode`", "USD a month", "share of PutMetricData's")
    return markdown(heads, rows)


def small_fleets(found: Measurements) -> str:
    """From how many instances on a stack costs less than PutMetricData, and what to do before."""
    one, tariff = FleetSpec(1, 1, INSTANCE_TYPES[_SMALLEST].cores), listed()
    setup = Setup("direct", runtimes=min(RUNTIMES, one.cores))
    told = break_even(found, one, setup, tariff)
    if told is None or told.instances is None:
        msg = "one instance was expected to cost more with a stack than by PutMetricData"
        raise ValueError(msg)
    of_stack, alone = dollars(usd(bill(found, one, setup))), dollars(told.without_stack_usd)
    return (
        f"For 1 to {told.instances - 1} instances the stack costs more than PutMetricData: "
        f"{of_stack} USD a month for one {_SMALLEST}, against "
        f"{dollars(counterfactual_usd(one.instances))}.\n"
        f"It costs less from {told.instances} instances on, or from {told.instances_by_report} "
        "against a program that makes a call for each report.\n"
        "For fewer, run the emitter without the stack (`neuron-emf cost --no-stack`): "
        f"{alone} USD, with the metrics of the cluster and every line.\n"
    )
