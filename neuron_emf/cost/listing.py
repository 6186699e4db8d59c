"""An estimate: a fleet's bill, what is said beside it, and both for people and for programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from rich import box
from rich.table import Table
from rich.text import Text

from neuron_emf.cost.bill import alternatives, bill, break_even, free_usd, known, total, unknown
from neuron_emf.cost.quantities import (
    CLOSE_MB,
    GROUPS,
    METRICS,
    close_of,
    coefficients,
    line_bytes,
    shards_of,
)
from neuron_emf.cost.tariff import HOURS
from neuron_emf.printing import UNKNOWN, prices_of
from neuron_wire import phrases
from neuron_wire.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
class Estimate:
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

    @cached_property
    def usd(self) -> float | None:
        """The whole bill."""
        return total(self.entries)

    @property
    def fleet_usd(self) -> float | None:
        """What the instances cost."""
        each = self.usd_per_hour
        return None if each is None else HOURS * each * self.fleet.instances

    @cached_property
    def groups_usd(self) -> dict[str, float | None]:
        """The sum of each group that has an entry."""
        used = {entry.group for entry in self.entries}
        return {group: total(self.entries, group) for group in GROUPS if group in used}

    @cached_property
    def ways(self) -> list[Alternative]:
        """What else could be done with the same fleet."""
        return alternatives(self.fleet, self.tariff)

    def usd_of(self, fleet: Fleet) -> float | None:
        """The bill of another *fleet*."""
        return total(bill(fleet, self.tariff))

    def with_one_more(self, what: str) -> float | None:
        """What one more of `instances` or `clusters` adds."""
        dearer = self.usd_of(replace(self.fleet, **{what: getattr(self.fleet, what) + 1}))
        return None if dearer is None or self.usd is None else dearer - self.usd

    def saved_by(self) -> dict[str, float]:
        """Settings under which this bill would be smaller, with what they save."""
        fleet, shards = self.fleet, shards_of(self.fleet)
        if self.usd is None or not fleet.has_stack:
            return {}
        others = {"--mode direct": replace(fleet, mode="direct", shards=None)}
        if fleet.mode == "direct":
            stream = replace(fleet, mode="kinesis", shards=shards)
            others = {f"--mode kinesis --stream-shards {shards}": stream}
        if fleet.metrics == "cluster":
            others["--metrics none"] = replace(fleet, metrics="none")
        saved = {name: self.usd - known(bill(other, self.tariff)) for name, other in others.items()}
        return {name: usd for name, usd in saved.items() if usd > 0}

    def remarks(self) -> list[str]:
        """What a reader must know, a sentence each."""
        fleet, instance_type = self.fleet, self.instance_type
        said = [
            f"{entry.what}: price unknown, not in any sum; set it with --prices"
            for entry in unknown(self.entries)
        ]
        if self.usd_per_hour is None:
            how = f"set it with --price-overrides {instance_type}=USD"
            said.append(f"the price of {instance_type} is unknown; {how}")
        if not fleet.has_stack:
            return said
        script = self.ways[1].usd
        is_dear = None not in (self.usd, script) and (self.usd or 0) > (script or 0)
        if is_dear:
            from_when = break_even(fleet, self.tariff)
            more = f", and more from {from_when:,} instances on" if from_when else ""
            said.append(f"PutMetricData costs less than this{more}")
        if is_dear or (self.usd is not None and fleet.instances < SMALL):
            alone = _dollars(self.usd_of(fleet.emitters_only()))
            said.append(f"neuron-emf deploy --emitters-only, without rollups, costs {alone} USD")
        said += [f"{name} would save {_dollars(usd)} USD" for name, usd in self.saved_by().items()]
        if fleet.shards and fleet.shards < (needed := shards_of(fleet)):
            few = f"{fleet.shards} shards are too few for the busiest second, which needs {needed}"
            said.append(f"{few}: records would be delayed")
        if (memory_mb := close_of(fleet).memory_mb) > CLOSE_MB[0]:
            said.append(f"close keeps up with CloseMemory={memory_mb}")
        return said


def for_people(asked: Estimate) -> list[RenderableType]:
    """The question, the bill, what the next one adds, other ways, what to know."""
    fleet = asked.fleet
    of_what = f"{counted(fleet.instances, 'instance')} of {asked.instance_type}"
    cores, clusters = counted(fleet.cores, "core"), counted(fleet.clusters, "cluster")
    stack = f"Mode={fleet.mode}" if fleet.has_stack else "no stack"
    parts: list[RenderableType] = [
        _sentence(f"A month ({HOURS} hours) of {of_what} ({cores}) in {clusters}"),
        _sentence(f"{stack}; --metrics {fleet.metrics}"),
    ]
    for table in (_bill(asked), _further(asked), _ways(asked)):
        parts += [Text(), table]
    said = [*(f"Note: {remark}." for remark in asked.remarks()), *_origin(asked)]
    return [*parts, Text(), *map(_sentence, said)]


def for_programs(asked: Estimate) -> dict[str, object]:
    """The same as one document; null where a price is unknown."""
    tariff, fleet, measured = asked.tariff, asked.fleet, coefficients()
    used = {entry.price: asdict(tariff.prices[entry.price]) for entry in asked.entries}
    return {
        "fleet": {"instance_type": asked.instance_type, **asdict(fleet)},
        "hours": HOURS,
        "usd": asked.usd,
        "known_usd": known(asked.entries),
        "free_usd": free_usd(asked.entries),
        "unknown": [entry.what for entry in unknown(asked.entries)],
        "groups_usd": asked.groups_usd,
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
            "as_of": measured["as-of"],
            "machine": measured["machine"],
            "bytes_of_a_minute": line_bytes(fleet),
        },
        "prices": {
            "region": tariff.region,
            "as_of": tariff.as_of,
            "replaced": list(tariff.replaced),
            "used": {
                name: {key: value for key, value in price.items() if key != "tier"}
                for name, price in used.items()
            },
        },
        "usd_saved_by": asked.saved_by(),
        "remarks": asked.remarks(),
        "not_counted": list(NOT_COUNTED),
    }


def _bill(asked: Estimate) -> Table:
    rows = []
    for group, group_usd in asked.groups_usd.items():
        rows.append((group, "", _dollars(group_usd)))
        rows += [
            (f"  {entry.what}", f"{amount(entry.quantity)} {entry.unit}", _dollars(entry.usd))
            for entry in asked.entries
            if entry.group == group
        ]
    least = "at least " if asked.usd is None else ""
    rows.append(("all", "", least + _dollars(known(asked.entries))))
    return _table(("what", "quantity", "USD a month"), rows, bold=(*asked.groups_usd, "all"))


def _further(asked: Estimate) -> Table:
    usd, fleet_usd, each = asked.usd, asked.fleet_usd, asked.usd_per_hour
    share = UNKNOWN
    if usd is not None and fleet_usd:
        share = f"{100 * usd / fleet_usd:.3g} %"
    rows = [
        ("free tiers take off, at most", "", _dollars(free_usd(asked.entries))),
        ("an instance", "", _dollars(usd and usd / asked.fleet.instances)),
        ("one more instance adds", "", _dollars(asked.with_one_more("instances"))),
        ("one more cluster adds", "", _dollars(asked.with_one_more("clusters"))),
        ("the instances themselves", UNKNOWN if each is None else f"{each:g} USD an hour each",
         _dollars(fleet_usd)),
        ("share of it", "", share),
    ]  # fmt: skip
    return _table(("of which", "", "USD a month"), rows, bold=("share of it",))


def _ways(asked: Estimate) -> Table:
    rows = []
    for way in asked.ways:
        share = less = UNKNOWN
        if asked.usd is not None and way.usd:
            share = f"{phrases.percent(100 * asked.usd / way.usd)} of it"
            less = "-" * (way.usd < asked.usd) + _dollars(abs(way.usd - asked.usd))
        rows.append((way.what, _dollars(way.usd), share, less))
    return _table(("alternatives, at least", "USD a month", "this bill is", "less by"), rows)


def _origin(asked: Estimate) -> list[str]:
    tariff, measured = asked.tariff, coefficients()
    price = (
        f"{asked.instance_type} has no list price in {tariff.region}; set one with "
        "--price-overrides."
    )
    if basis := prices_of(asked.price_basis):
        price = f"Price of the instances: {basis}."
    said = [
        f"An instance is billed for {line_bytes(asked.fleet):,.0f} bytes a minute.",
        f"Sizes and times measured {measured['as-of']} ({measured['machine']}), not on AWS.",
        f"List prices of {tariff.region} as of {tariff.as_of}.",
        price,
    ]
    if tariff.replaced:
        said.append(f"Your prices: {', '.join(tariff.replaced)}.")
    used = [tariff.prices[entry.price] for entry in asked.entries if entry.usd is not None]
    if unverified := dict.fromkeys(price.what for price in used if not price.is_verified):
        said.append(f"Prices not verified on a published page: {'; '.join(unverified)}.")
    return [*said, "Not counted:", *(f"  {what}" for what in NOT_COUNTED)]


def amount(value: float, digits: int = 3) -> str:
    """So many digits that mean something, and M or G from a million on."""
    for size, unit in ((1e9, " G"), (1e6, " M")):
        if value >= size:
            return f"{value / size:.{digits}g}{unit}"
    return f"{float(f'{value:.{digits}g}'):,.0f}" if value >= 100 else f"{value:.{digits}g}"


def _dollars(value: float | None) -> str:
    return UNKNOWN if value is None else phrases.dollars(value)


def _sentence(text: str) -> Text:
    """Whole, however long it is: a terminal breaks it, a program need not put it together."""
    return Text(text, no_wrap=True, overflow="ignore")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], bold: Sequence[str] = ()) -> Table:
    """*rows* with the first column to the left; those are *bold* whose first cell is named."""
    table = Table(*heads, box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*row, style="bold" if row[0] in bold else None)
    return table
