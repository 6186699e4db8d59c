"""The tables of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks.scale.fleets import FLEETS, FLEETS_OF_CLOSE, LARGE, SMALL
from benchmarks.scale.quotas import QUOTAS, loads
from neuron_emf.cost.alternatives import counterfactual_usd
from neuron_emf.cost.assumptions import BATCH_DELIVERIES, MODES, RUNTIMES, SPREAD_S
from neuron_emf.cost.bill import GROUPS, bill, usd
from neuron_emf.cost.break_even import break_even
from neuron_emf.cost.fleet import FleetSpec, Setup
from neuron_emf.cost.functions import close_of, ingest_of, shards_of
from neuron_emf.cost.measurements import PAGE_CORES
from neuron_emf.cost.quantities import amount, dollars, percent
from neuron_emf.cost.tariff import MINUTES, listed
from neuron_wire.instance_types import INSTANCE_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from neuron_emf.cost.measurements import Form, Measurements

_COLUMNS: Final = tuple((fleet, mode) for fleet in FLEETS for mode in MODES)
_FORMS: Final[Mapping[Form, str]] = {"items": "stored one by one", "packs": "stored in packs"}
_SMALLEST: Final = "inf1.xlarge"
_DOES_NOT_FIT: Final = " (!)"


def measured(found: Measurements) -> str:
    """Sizes, requests and times."""
    return table(("what", "measured"), _measured_rows(found))


def _measured_rows(found: Measurements) -> Iterator[tuple[str, str]]:
    sizes, line = found.sizes, found.by_cores[PAGE_CORES].minute["cluster"]
    single, batch = found.ingest[1], found.ingest[BATCH_DELIVERIES]
    many = f"ingest, {BATCH_DELIVERIES:,} records of Kinesis"
    yield "an emitter's minute line", f"{line.bytes:,.0f} bytes"
    yield "the line of one runtime", f"{found.runtime_line:,.0f} bytes"
    yield "a minute line as CloudWatch Logs delivers it", f"{sizes.payload:,.0f} bytes"
    yield "many lines compressed, as they are stored", percent(sizes.stored_share)
    yield "a record in the table", f"{sizes.item:,.0f} bytes, at most {sizes.largest_item:,.0f}"
    yield "ingest, one record", f"{1_000 * single.cpu_s:.2f} ms, {single.write_units} write unit"
    yield many, f"{1_000 * batch.cpu_s:,.0f} ms, {batch.write_units:,} write units"
    yield f"{many}, memory", f"{batch.peak_mib:.0f} MiB"
    for form, what in _FORMS.items():
        for instances, run in found.close[form].items():
            yield (
                f"close, a minute of {instances:,} instances {what}",
                ", ".join(
                    (
                        f"{run.cpu_s:.3g} s",
                        f"{run.peak_mib:.0f} MiB",
                        f"{run.calls:,} requests",
                        f"{run.read_units:,.0f} read units",
                        f"{run.write_units:,} write units",
                    )
                ),
            )
    for processes, run in found.split.items():
        if run.busiest_cpu_s:
            reading, publishing = f"{run.busiest_cpu_s:.3g} s", f"{run.cpu_s:.3g} s"
            yield (
                f"the same in {processes} processes",
                f"the busiest {reading}, then {publishing} to publish, {run.peak_mib:,.0f} MiB",
            )


def requests(found: Measurements) -> str:
    """What the functions do for each fleet."""
    heads = (
        "instances", "mode", "lines in the busiest second", "shards", "records of one invocation",
        "invocations a minute", "each takes", "at a time, busiest", "write units a minute",
        "read units a minute", "`CloseMemory`", "a minute is published in", "a run of close",
    )  # fmt: skip
    rows = []
    for fleet, mode in _COLUMNS:
        setup = Setup(mode)
        ingest, close = ingest_of(found, fleet, setup), close_of(found, fleet, setup)
        rows.append(
            (
                f"{fleet.instances:,}",
                mode,
                amount(fleet.instances / SPREAD_S),
                f"{shards_of(found, fleet):,}" if mode == "kinesis" else "",
                amount(ingest.records),
                amount(ingest.invocations / MINUTES),
                f"{1_000 * ingest.seconds:,.0f} ms",
                amount(ingest.busiest_at_a_time),
                amount(ingest.write_units / MINUTES + close.write_units),
                amount(close.read_units),
                f"{close.memory_mb:,}",
                f"{close.first_s:.1f} s",
                f"{close.seconds:.1f} s",
            )
        )
    return table(heads, rows)


def close_memory(found: Measurements) -> str:
    """What close needs for fleets between those of the other tables."""
    rows = []
    for fleet in FLEETS_OF_CLOSE:
        load = close_of(found, fleet, Setup("kinesis"))
        cells = f"{load.memory_mb:,}", f"{load.first_s:.1f} s", f"{load.peak_mib:,.0f} MiB"
        rows.append((f"{fleet.instances:,}", *cells))
    heads = ("instances", "`CloseMemory`", "a minute is published in", "memory used")
    return table(heads, rows)


def limits(found: Measurements) -> str:
    """What each fleet takes of each limit."""
    columns = [{one.what: one for one in loads(found, *column)} for column in _COLUMNS]
    heads = ["limit", "most", *(f"{fleet.instances:,} {mode}" for fleet, mode in _COLUMNS)]
    rows = []
    for what in dict.fromkeys(what for column in columns for what in column):
        taken = [column.get(what) for column in columns]
        most = next(f"{one.most:,.0f}" for one in taken if one is not None)
        cells = [
            "" if one is None else amount(one.taken) + _DOES_NOT_FIT * (one.share > 1)
            for one in taken
        ]
        rows.append((what, most, *cells))
    return table(heads, rows)


def month(found: Measurements) -> str:
    """The bill of each fleet by group, and what PutMetricData would cost."""
    bills = [bill(found, fleet, Setup(mode)) for fleet, mode in _COLUMNS]
    sums = [usd(entries) for entries in bills]
    instead = [counterfactual_usd(fleet.instances) for fleet, _ in _COLUMNS]
    each = [total / fleet.instances for total, (fleet, _) in zip(sums, _COLUMNS, strict=True)]
    shares = [total / other for total, other in zip(sums, instead, strict=True)]
    heads = [f"{fleet.instances:,} in {fleet.clusters}, {mode}" for fleet, mode in _COLUMNS]
    return table(
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
    return table(heads, rows)


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


def prices() -> str:
    """What AWS charges."""
    rows = [
        (
            one.what,
            f"{one.usd:g}",
            one.unit if one.units == 1 else f"{one.units:,.0f} {one.unit}",
            _verified(is_verified=one.is_verified),
        )
        for one in listed().prices.values()
        if one.usd is not None  # the page needs none that is unknown
    ]
    return table(("what", "USD", "for", "verified"), rows)


def quotas() -> str:
    """What AWS allows."""
    rows = [
        (
            one.what,
            f"{one.most:,.0f}",
            "yes" if one.is_adjustable else "no",
            _verified(is_verified=one.is_verified),
        )
        for one in QUOTAS.values()
    ]
    return table(("quota", "most", "adjustable", "verified"), rows)


def _verified(*, is_verified: bool) -> str:
    return "yes" if is_verified else "no"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(line)} |" for line in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])
