"""An estimate for people as tables, for programs as one document."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from rich import box
from rich.table import Table
from rich.text import Text

from neuron_emf.cost.bill import alternatives, bill, break_even, free_usd, known, total, unknown
from neuron_emf.cost.quantities import (
    GROUPS,
    METRICS,
    close_of,
    coefficients,
    line_bytes,
    shards_of,
)
from neuron_emf.cost.tariff import HOURS
from neuron_emf.figures import UNKNOWN, prices_of
from neuron_wire import phrases

if TYPE_CHECKING:
    from rich.console import RenderableType

    from neuron_emf.cost.bill import Alternative, Entry
    from neuron_emf.cost.quantities import Fleet
    from neuron_emf.cost.tariff import Tariff
    from neuron_wire.prices import PriceBasis

SMALL: Final = 3
"""Instances below which emitters alone are named whatever the stack costs."""

NOT_COUNTED: Final = (
    "discounts and taxes; what else in the account uses the free tiers",
    "metrics, lines and instances already in the account, which reach cheaper tiers",
    "network: NAT gateways, VPC endpoints and what leaves a region",
    "queries, Live Tail and dashboard views",
    "explain, departure, findings and messages, which cost only when something changes",
    "KMS keys of your own; runtime and raw lines beyond an hourly one of each runtime",
)


@dataclass(frozen=True)
class Question:
    """
    What is asked, and its answer; amounts are USD a month, None where a price is unknown.

    Attributes:
        fleet: See `Fleet`.

        instance_type: Of its instances.

        tariff: What AWS charges.

        usd_per_hour: For one instance; None if nobody knows.

        price_basis: What that price is based on.
    """

    fleet: Fleet
    instance_type: str
    tariff: Tariff
    usd_per_hour: float | None
    price_basis: PriceBasis

    @cached_property
    def entries(self) -> list[Entry]:
        """The bill."""
        return bill(self.fleet, self.tariff)

    @property
    def usd(self) -> float | None:
        """The whole bill."""
        return total(self.entries)

    @property
    def fleet_usd(self) -> float | None:
        """What the instances cost."""
        each = self.usd_per_hour
        return None if each is None else HOURS * each * self.fleet.instances

    @cached_property
    def ways(self) -> list[Alternative]:
        """What else could be done with the same fleet."""
        return alternatives(self.fleet, self.tariff)

    def with_one_more(self, what: str) -> float | None:
        """What one more of `instances` or `clusters` adds."""
        more = replace(self.fleet, **{what: getattr(self.fleet, what) + 1})
        dearer = total(bill(more, self.tariff))
        return None if dearer is None or self.usd is None else dearer - self.usd

    def saved_by(self) -> dict[str, float]:
        """Settings under which this bill would be smaller, with what they save."""
        fleet = self.fleet
        if self.usd is None or not fleet.has_stack:
            return {}
        others = {"--mode direct": replace(fleet, mode="direct", shards=None)}
        if fleet.mode == "direct":
            shards = shards_of(fleet)
            stream = replace(fleet, mode="kinesis", shards=shards)
            others = {f"--mode kinesis --stream-shards {shards}": stream}
        if fleet.metrics == "cluster":
            others["--metrics none"] = replace(fleet, metrics="none")
        saved = {name: self.usd - known(bill(one, self.tariff)) for name, one in others.items()}
        return {name: usd for name, usd in saved.items() if usd > 0}

    def remarks(self) -> list[str]:
        """What a reader must know, a sentence each."""
        fleet = self.fleet
        said = [
            f"{entry.what}: price unknown, not in any sum; set it with --prices"
            for entry in unknown(self.entries)
        ]
        if self.usd_per_hour is None:
            said.append(
                f"the price of {self.instance_type} is unknown; set it with "
                f"--price-overrides {self.instance_type}=USD"
            )
        said += self._of_small_fleets()
        said += [f"{name} would save {_dollars(usd)} USD" for name, usd in self.saved_by().items()]
        if fleet.has_stack and fleet.shards and fleet.shards < (needed := shards_of(fleet)):
            said.append(
                f"{fleet.shards} shards are too few for the busiest second, which needs {needed}: "
                "records would be delayed"
            )
        if (
            fleet.has_stack
            and (close := close_of(fleet)).memory_mb
            > close_of(replace(fleet, instances=1, clusters=1)).memory_mb
        ):
            said.append(f"close keeps up with CloseMemory={close.memory_mb}")
        return said

    def _of_small_fleets(self) -> list[str]:
        if not self.fleet.has_stack or self.usd is None:
            return []
        script = self.ways[1].usd
        is_dear = script is not None and self.usd > script
        if not is_dear and self.fleet.instances >= SMALL:
            return []
        said = []
        if is_dear:
            from_when = break_even(self.fleet, self.tariff)
            more = f", and more from {from_when:,} instances on" if from_when else ""
            said = [f"PutMetricData costs less than this{more}"]
        alone = _dollars(total(bill(self.fleet.emitters_only(), self.tariff)))
        return [*said, f"neuron-emf deploy --emitters-only, without rollups, costs {alone} USD"]


def tables(asked: Question) -> list[RenderableType]:
    """The question, the bill, what the next one adds, other ways, what to know."""
    fleet = asked.fleet
    of_what = f"{_many(fleet.instances, 'instance')} of {asked.instance_type}"
    cores, clusters = _many(fleet.cores, "core"), _many(fleet.clusters, "cluster")
    stack = f"Mode={fleet.mode}" if fleet.has_stack else "no stack"
    parts: list[RenderableType] = [
        _sentence(f"A month ({HOURS} hours) of {of_what} ({cores}) in {clusters}"),
        _sentence(f"{stack}; --metrics {fleet.metrics}"),
    ]
    for table in (_bill(asked), _further(asked), _ways(asked)):
        parts += [Text(), table]
    said = [*(f"Note: {remark}." for remark in asked.remarks()), *_origin(asked)]
    return [*parts, Text(), *map(_sentence, said)]


def document(asked: Question) -> dict[str, object]:
    """The same for a program; null where a price is unknown."""
    tariff, fleet = asked.tariff, asked.fleet
    used = dict.fromkeys(entry.price for entry in asked.entries)
    return {
        "fleet": {"instance_type": asked.instance_type, **asdict(fleet)},
        "hours": HOURS,
        "usd": asked.usd,
        "known_usd": known(asked.entries),
        "free_usd": free_usd(asked.entries),
        "unknown": [entry.what for entry in unknown(asked.entries)],
        "groups_usd": {group: total(asked.entries, group) for group in _groups(asked)},
        "metrics": sum(entry.quantity for entry in asked.entries if entry.group == METRICS),
        "entries": [entry._asdict() for entry in asked.entries],
        "usd_of_one_more_instance": asked.with_one_more("instances"),
        "usd_of_one_more_cluster": asked.with_one_more("clusters"),
        "fleet_usd": asked.fleet_usd,
        "fleet_price": {
            "usd_per_hour": asked.usd_per_hour,
            "is_yours": bool(asked.price_basis.overridden),
            "basis": prices_of(asked.price_basis) or None,
        },
        "other_ways": [way._asdict() for way in asked.ways],
        "measured": {
            "as_of": coefficients()["as-of"],
            "machine": coefficients()["machine"],
            "bytes_of_a_minute": line_bytes(fleet),
        },
        "prices": {
            "region": tariff.region,
            "as_of": tariff.as_of,
            "replaced": list(tariff.replaced),
            "used": {
                name: {key: value for key, value in asdict(tariff.prices[name]).items()
                       if key != "tier"}
                for name in used
            },
        },
        "usd_saved_by": asked.saved_by(),
        "remarks": asked.remarks(),
        "not_counted": list(NOT_COUNTED),
    }  # fmt: skip


def _groups(asked: Question) -> list[str]:
    return [group for group in GROUPS if any(one.group == group for one in asked.entries)]


def _bill(asked: Question) -> Table:
    table = _table("what", "quantity", "USD a month")
    for group in _groups(asked):
        table.add_row(group, "", _dollars(total(asked.entries, group)), style="bold")
        for entry in asked.entries:
            if entry.group == group:
                quantity = f"{amount(entry.quantity)} {entry.unit}"
                table.add_row(f"  {entry.what}", quantity, _dollars(entry.usd))
    sum_usd = _dollars(known(asked.entries))
    table.add_row("all", "", sum_usd if asked.usd is not None else f"at least {sum_usd}",
                  style="bold")  # fmt: skip
    return table


def _further(asked: Question) -> Table:
    table, each_hour, fleet_usd = (
        _table("of which", "", "USD a month"),
        asked.usd_per_hour,
        asked.fleet_usd,
    )
    table.add_row("free tiers take off, at most", "",
                  _dollars(free_usd(asked.entries)))  # fmt: skip
    table.add_row("an instance", "", _dollars(asked.usd and asked.usd / asked.fleet.instances))
    table.add_row("one more instance adds", "", _dollars(asked.with_one_more("instances")))
    table.add_row("one more cluster adds", "", _dollars(asked.with_one_more("clusters")))
    hourly = UNKNOWN if each_hour is None else f"{each_hour:g} USD an hour each"
    table.add_row("the instances themselves", hourly, _dollars(fleet_usd))
    is_known = asked.usd is not None and fleet_usd
    share = f"{100 * (asked.usd or 0) / (fleet_usd or 1):.3g} %" if is_known else UNKNOWN
    table.add_row("share of it", "", share, style="bold")
    return table


def _ways(asked: Question) -> Table:
    table = _table("alternatives, at least", "USD a month", "this bill is", "less by")
    for way in asked.ways:
        if asked.usd is None or not way.usd:
            table.add_row(way.what, _dollars(way.usd), UNKNOWN, UNKNOWN)
            continue
        less = way.usd - asked.usd
        sign = "" if less >= 0 else "-"
        share = f"{percent(asked.usd / way.usd)} of it"
        table.add_row(way.what, _dollars(way.usd), share, f"{sign}{_dollars(abs(less))}")
    return table


def _origin(asked: Question) -> list[str]:
    tariff, measured = asked.tariff, coefficients()
    basis = prices_of(asked.price_basis)
    price = f"Price of the instances: {basis}." if basis else (
        f"{asked.instance_type} has no list price in {tariff.region}; set one with "
        "--price-overrides."
    )  # fmt: skip
    said = [
        f"An instance is billed for {line_bytes(asked.fleet):,.0f} bytes a minute.",
        f"Sizes and times measured {measured['as-of']} ({measured['machine']}), not on AWS.",
        f"List prices of {tariff.region} as of {tariff.as_of}.",
        price,
    ]
    if tariff.replaced:
        said.append(f"Your prices: {', '.join(tariff.replaced)}.")
    used = [tariff.prices[one.price] for one in asked.entries if one.usd is not None]
    if unverified := dict.fromkeys(one.what for one in used if not one.is_verified):
        said.append(f"Prices not verified on a published page: {'; '.join(unverified)}.")
    return [*said, "Not counted:", *(f"  {what}" for what in NOT_COUNTED)]


def amount(value: float, digits: int = 3) -> str:
    """So many digits that mean something, and M or G from a million on."""
    for size, unit in ((1e9, " G"), (1e6, " M")):
        if value >= size:
            return f"{value / size:.{digits}g}{unit}"
    return f"{float(f'{value:.{digits}g}'):,.0f}" if value >= 100 else f"{value:.{digits}g}"


def percent(share: float) -> str:
    """0.031 as 3.1 %."""
    return f"{100 * share:.1f} %"


def _dollars(value: float | None) -> str:
    return UNKNOWN if value is None else phrases.dollars(value)


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
