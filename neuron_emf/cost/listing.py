"""An estimate for people as tables, for programs as one document."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from neuron_emf.cost.bill import GROUPS, METRICS
from neuron_emf.cost.emitter_lines import emitter_bytes
from neuron_emf.cost.estimate import NOT_COUNTED
from neuron_emf.cost.interpolation import minute_of
from neuron_emf.cost.measurements import FOUR_OWNERS
from neuron_emf.cost.quantities import UNKNOWN, amount, dollars, percent
from neuron_emf.cost.tariff import HOURS, MINUTES
from neuron_emf.figures import prices_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from neuron_emf.cost.estimate import Estimate
    from neuron_emf.cost.question import Question
    from neuron_emf.cost.tariff import Price


def tables(estimate: Estimate) -> list[RenderableType]:
    """The question, the bill, what the next one adds, other ways, what to know."""
    parts: list[RenderableType] = [*map(_sentence, _question(estimate))]
    for table in (_bill(estimate), _further(estimate), _ways(estimate)):
        parts += [Text(), table]
    said = [*(f"Note: {remark}." for remark in estimate.remarks()), *_origin(estimate)]
    return [*parts, Text(), *map(_sentence, said)]


def document(estimate: Estimate) -> dict[str, object]:
    """The same for a program; null where a price is unknown."""
    question, tariff = estimate.question, estimate.question.tariff
    minute = minute_of(
        estimate.measurements,
        question.fleet.cores,
        question.setup.metrics,
        is_high=question.setup.is_high_resolution,
    )
    return {
        "fleet": {"instance_type": question.instance_type, **asdict(question.fleet)},
        "setup": asdict(question.setup),
        "hours": HOURS,
        "usd": estimate.usd,
        "known_usd": estimate.known_usd,
        "unknown": [entry.what for entry in estimate.unknown],
        "groups_usd": {
            group: estimate.group_usd(group)
            for group in GROUPS
            if any(entry.group == group for entry in estimate.entries)
        },
        "metrics": sum(entry.quantity for entry in estimate.entries if entry.group == METRICS),
        "entries": [asdict(entry) for entry in estimate.entries],
        "usd_per_instance": estimate.each(question.fleet.instances),
        "usd_per_cluster": estimate.each(question.fleet.clusters),
        "usd_of_one_more_instance": estimate.further_instance_usd,
        "usd_of_one_more_cluster": estimate.further_cluster_usd,
        "fleet_usd": estimate.fleet_usd,
        "percent_of_fleet": _percent(estimate.share_of(estimate.fleet_usd)),
        "fleet_price": {
            "usd_per_hour": question.usd_per_hour,
            "is_yours": bool(question.price_basis.overridden),
            "basis": prices_of(question.price_basis) or None,
        },
        "other_ways": [
            {
                **asdict(way),
                "bill_percent": _percent(estimate.share_of(way.usd)),
                "more_usd": estimate.minus(way),
            }
            for way in estimate.ways
        ],
        "measured": {
            "as_of": estimate.measurements.as_of,
            "machine": estimate.measurements.machine,
            "bytes_of_a_minute": minute.bytes,
            "lines_of_a_minute": minute.lines,
        },
        "second_write_units": {
            owners: {"percent_of_minutes": 100 * share, "usd": usd}
            for owners, (share, usd) in estimate.second_write_units().items()
        },
        "prices": {
            "region": tariff.region,
            "as_of": tariff.as_of,
            "replaced": list(tariff.replaced),
            "used": {
                name: _as_json(tariff.prices[name])
                for name in dict.fromkeys(
                    name for entry in estimate.entries for name in entry.prices
                )
            },
        },
        "break_even": None if estimate.break_even is None else asdict(estimate.break_even),
        "usd_saved_by": estimate.cheaper(),
        "remarks": estimate.remarks(),
        "not_counted": list(NOT_COUNTED),
    }


def _question(estimate: Estimate) -> list[str]:
    fleet, setup = estimate.question.fleet, estimate.question.setup
    added = {
        "--high-resolution-metrics": setup.is_high_resolution,
        f"--runtime-lines {setup.runtime_lines}": setup.runtime_lines != "changes",
        f"{_many(len(setup.tags), 'tag')}": setup.tags,
        f"--common-dims {','.join(setup.common_dims)}": setup.common_dims,
        f"{_many(len(setup.choice.by_tier), 'metric')} by choice": setup.choice.by_tier,
        f"{_many(len(setup.choice.by_instance), 'metric')} by choice and instance": (
            setup.choice.by_instance
        ),
        f"--raw-reports {setup.raw_reports}": setup.raw_reports,
    }
    settings = [f"--metrics {setup.metrics}", *(name for name, is_set in added.items() if is_set)]
    instances = f"{_many(fleet.instances, 'instance')} of {estimate.question.instance_type}"
    cores, clusters = _many(fleet.cores, "core"), _many(fleet.clusters, "cluster")
    stack = f"Mode={setup.mode}" if setup.has_stack else "no stack"
    return [
        f"A month ({HOURS} hours) of {instances} ({cores}) in {clusters}",
        f"{stack}; {' '.join(settings)}",
    ]


def _bill(estimate: Estimate) -> Table:
    table = _table("what", "quantity", "USD a month")
    for group in GROUPS:
        entries = [entry for entry in estimate.entries if entry.group == group]
        if not entries:
            continue
        table.add_row(group, "", dollars(estimate.group_usd(group)), style="bold")
        for entry in entries:
            quantity = f"{amount(entry.quantity)} {entry.unit}"
            table.add_row(f"  {entry.what}", quantity, dollars(entry.usd))
    at_least = (
        f"at least {dollars(estimate.known_usd)}" if estimate.unknown else dollars(estimate.usd)
    )
    table.add_row("all", "", at_least, style="bold")
    return table


def _further(estimate: Estimate) -> Table:
    fleet = estimate.question.fleet
    table = _table("of which", "", "USD a month")
    table.add_row("an instance", "", dollars(estimate.each(fleet.instances)))
    table.add_row("a cluster", "", dollars(estimate.each(fleet.clusters)))
    table.add_row("one more instance adds", "", dollars(estimate.further_instance_usd))
    table.add_row("one more cluster adds", "", dollars(estimate.further_cluster_usd))
    share = estimate.share_of(estimate.fleet_usd)
    each_hour = estimate.question.usd_per_hour
    table.add_row(
        "the instances themselves",
        UNKNOWN if each_hour is None else f"{each_hour:g} USD an hour each",
        dollars(estimate.fleet_usd),
    )
    table.add_row(
        "share of it", "", UNKNOWN if share is None else f"{100 * share:.3g} %", style="bold"
    )
    return table


def _ways(estimate: Estimate) -> Table:
    table = _table("alternatives, at least", "USD a month", "this bill is", "less by")
    for way in estimate.ways:
        share, more = estimate.share_of(way.usd), estimate.minus(way)
        table.add_row(
            way.what,
            dollars(way.usd),
            UNKNOWN if share is None else f"{percent(share)} of it",
            UNKNOWN if more is None else dollars(more) if more >= 0 else f"-{dollars(-more)}",
        )
    return table


def _origin(estimate: Estimate) -> list[str]:
    measurements, question = estimate.measurements, estimate.question
    fleet, setup, tariff = question.fleet, question.setup, question.tariff
    minute = minute_of(measurements, fleet.cores, setup.metrics, is_high=setup.is_high_resolution)
    billed = emitter_bytes(measurements, fleet, setup) / MINUTES / fleet.instances
    own = f"its minute takes {minute.bytes:,.0f} in {_many(round(minute.lines), 'line')}"
    said = [
        f"An instance is billed for {billed:,.0f} bytes a minute; {own}.",
        f"Sizes and times measured {measurements.as_of} ({measurements.machine}), not on AWS.",
        f"List prices of {tariff.region} as of {tariff.as_of}.",
        _instance_price(question),
    ]
    if second := estimate.second_write_units():
        cases = "; ".join(
            f"with {owners} in {percent(share)} of the minutes, {dollars(usd)} USD a month"
            for owners, (share, usd) in second.items()
        )
        said.insert(1, f"Owners take a second write unit {cases}. The bill has {FOUR_OWNERS}.")
    if tariff.replaced:
        said.append(f"Your prices: {', '.join(tariff.replaced)}.")
    if estimate.unverified:
        said.append(f"Prices not verified on a published page: {'; '.join(estimate.unverified)}.")
    return [*said, "Not counted:", *(f"  {what}" for what in NOT_COUNTED)]


def _instance_price(question: Question) -> str:
    if words := prices_of(question.price_basis):
        return f"Price of the instances: {words}."
    return (
        f"{question.instance_type} has no list price in {question.tariff.region}; set one with "
        "--price-overrides."
    )


def _sentence(text: str) -> Text:
    """Whole, however long it is: a terminal breaks it, a program need not put it together."""
    return Text(text, no_wrap=True, overflow="ignore")


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(first, no_wrap=False)
    for head in others:
        table.add_column(head, justify="right")
    return table


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _as_json(price: Price) -> dict[str, object]:
    return {name: value for name, value in asdict(price).items() if name != "tier"}
