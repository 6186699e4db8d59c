"""An estimate for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from neuron_emf.cost.bill import GROUPS, emitter_bytes
from neuron_emf.cost.estimate import NOT_COUNTED, remarks
from neuron_emf.cost.interpolated import minute_of
from neuron_emf.cost.tariff import HOURS, MINUTES
from neuron_emf.cost.written import UNKNOWN, amount, dollars, percent

if TYPE_CHECKING:
    from rich.console import RenderableType

    from neuron_emf.cost.estimate import Estimate


def tables(one: Estimate) -> list[RenderableType]:
    """The question, the bill, what the next one adds, other ways, what to know."""
    parts: list[RenderableType] = [*map(_sentence, _question(one))]
    for table in (_bill(one), _further(one), _ways(one)):
        parts += [Text(), table]
    said = [*(f"Note: {remark}." for remark in remarks(one)), *_origin(one)]
    return [*parts, Text(), *map(_sentence, said)]


def _question(one: Estimate) -> list[str]:
    fleet, setup = one.question.fleet, one.question.setup
    added = {
        "--high-resolution-metrics": setup.is_high_resolution,
        f"--runtime-lines {setup.runtime_lines}": setup.runtime_lines != "changes",
        f"{_many(len(setup.tags), 'tag')}": setup.tags,
        f"--common-dims {','.join(setup.common_dims)}": setup.common_dims,
    }
    settings = [f"--metrics {setup.metrics}", *(name for name, is_set in added.items() if is_set)]
    instances = f"{_many(fleet.instances, 'instance')} of {one.question.instance_type}"
    cores, clusters = _many(fleet.cores, "core"), _many(fleet.clusters, "cluster")
    stack = f"Mode={setup.mode}" if setup.has_stack else "no stack"
    return [
        f"A month ({HOURS} hours) of {instances} ({cores}) in {clusters}",
        f"{stack}; {' '.join(settings)}",
    ]


def _bill(one: Estimate) -> Table:
    table = _table("what", "quantity", "USD a month")
    for group in GROUPS:
        entries = [entry for entry in one.entries if entry.group == group]
        if not entries:
            continue
        table.add_row(group, "", dollars(one.group_usd(group)), style="bold")
        for entry in entries:
            quantity = f"{amount(entry.quantity)} {entry.unit}"
            table.add_row(f"  {entry.what}", quantity, dollars(entry.usd))
    at_least = f"at least {dollars(one.known_usd)}" if one.unknown else dollars(one.usd)
    table.add_row("all", "", at_least, style="bold")
    return table


def _further(one: Estimate) -> Table:
    fleet = one.question.fleet
    table = _table("of which", "", "USD a month")
    table.add_row("an instance", "", dollars(one.each(fleet.instances)))
    table.add_row("a cluster", "", dollars(one.each(fleet.clusters)))
    table.add_row("one more instance adds", "", dollars(one.further_instance_usd))
    table.add_row("one more cluster adds", "", dollars(one.further_cluster_usd))
    share = one.share_of(one.fleet_usd)
    each_hour = one.question.usd_per_hour
    table.add_row(
        "the instances themselves cost",
        UNKNOWN if each_hour is None else f"{each_hour:g} USD an hour each",
        dollars(one.fleet_usd),
    )
    table.add_row(
        "share of that", "", UNKNOWN if share is None else f"{100 * share:.3g} %", style="bold"
    )
    return table


def _ways(one: Estimate) -> Table:
    table = _table("the same fleet otherwise, at least", "USD a month", "this bill is", "less by")
    for way in one.ways:
        share, more = one.share_of(way.usd), one.minus(way)
        table.add_row(
            way.what,
            dollars(way.usd),
            UNKNOWN if share is None else f"{percent(share)} of it",
            UNKNOWN if more is None else dollars(more) if more >= 0 else f"-{dollars(-more)}",
        )
    return table


def _origin(one: Estimate) -> list[str]:
    fleet, setup, tariff = one.question.fleet, one.question.setup, one.question.tariff
    minute = minute_of(one.found, fleet.cores, setup.metrics, is_high=setup.is_high_resolution)
    billed = emitter_bytes(one.found, fleet, setup) / MINUTES / fleet.instances
    own = f"its minute takes {minute.bytes:,.0f} in {_many(round(minute.lines), 'line')}"
    said = [
        f"An instance is billed for {billed:,.0f} bytes a minute; {own}.",
        f"Sizes and times measured {one.found.as_of} ({one.found.machine}), not on AWS.",
        f"List prices of {tariff.region} as of {tariff.as_of}.",
    ]
    if tariff.replaced:
        said.append(f"Prices of yours: {', '.join(tariff.replaced)}.")
    if one.unverified:
        said.append(f"Prices no published page was read for: {'; '.join(one.unverified)}.")
    return [*said, "Not counted:", *(f"  {what}" for what in NOT_COUNTED)]


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
