"""
The estimate of a month as one document, and the same for people.

The text for people is made only from the document.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.table import Table
from rich.text import Text

from neuron_accounts.prices import PriceBasis
from neuron_emf.command_output import UNKNOWN_CELL, prices_of
from neuron_emf.cost.bill import (
    alternatives,
    beyond_bill,
    bill,
    break_even,
    free_usd,
    total,
)
from neuron_emf.cost.quantities import (
    CLOSE_MEMORY_SIZES_MB,
    METRICS,
    close_of,
    coefficients,
    line_bytes,
    shards_of,
)
from neuron_emf.cost.tariff import HOURS_IN_MONTH
from neuron_words.quantity_words import counted, dollars, share_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from neuron_accounts.prices import Prices
    from neuron_emf.cost.quantities import Fleet
    from neuron_emf.cost.tariff import Tariff
    from neuron_wire.line_members import JsonObject

SMALL: Final = 3
"""Below this number of instances, emitters alone are named at any cost of the stack."""

NOT_ESTIMATED: Final = (
    "discounts and taxes; what else in the account uses the free tiers",
    "metrics, lines and instances already in the account, which reach cheaper tiers",
    "what leaves a region; raw lines, messages to phones and the storage of a trail",
)


def estimate(fleet: Fleet, instance_type: str, tariff: Tariff, overrides: Prices) -> JsonObject:
    """
    Return a month of *fleet* as one document: USD, null if the instances have no known price.

    *overrides* are prices of instances, *tariff* has all other prices of AWS.
    """
    entries = bill(fleet, tariff)
    measured = coefficients()
    usd = total(entries)
    basis = PriceBasis()
    usd_per_core_hour = basis.usd_per_core_hour(overrides, instance_type, 1, tariff.region)
    others = beyond_bill(fleet, tariff)
    used = {entry.price: asdict(tariff.prices[entry.price]) for entry in (*entries, *others)}
    for price in used.values():
        del price["tier"]

    def more_for_another(what: str) -> float:
        return total(bill(replace(fleet, **{what: getattr(fleet, what) + 1}), tariff)) - usd

    document: dict[str, Any] = {
        "fleet": {"instance_type": instance_type, **asdict(fleet)},
        "hours": HOURS_IN_MONTH,
        "usd": usd,
        "free_usd": free_usd(entries),
        "groups_usd": {entry.group: total(entries, entry.group) for entry in entries},
        "metrics": sum(entry.quantity for entry in entries if entry.group == METRICS),
        "entries": [entry._asdict() for entry in entries],
        "usd_of_one_more_instance": more_for_another("instances"),
        "usd_of_one_more_cluster": more_for_another("clusters"),
        "fleet_usd": None
        if usd_per_core_hour is None
        else HOURS_IN_MONTH * usd_per_core_hour * fleet.instances,
        "fleet_price": {
            "usd_per_hour": usd_per_core_hour,
            "is_yours": bool(basis.overridden),
            "basis": prices_of(basis) or None,
        },
        "other_ways": [way._asdict() for way in alternatives(fleet, tariff)],
        "measured": {
            "as_of": measured["as-of"],
            "machine": measured["machine"],
            "bytes_of_a_minute": line_bytes(fleet),
        },
        "prices": {
            "region": tariff.region,
            "as_of": tariff.as_of,
            "replaced": list(tariff.replaced),
            "used": used,
        },
        "usd_saved_by": _savings(fleet, tariff, usd),
        "not_counted": [entry._asdict() for entry in others],
    }
    document["remarks"] = list(_remarks(fleet, tariff, document))
    document["not_estimated"] = list(NOT_ESTIMATED)
    return document


def _savings(fleet: Fleet, tariff: Tariff, usd: float) -> dict[str, float]:
    """Return settings under which a bill of *usd* would be smaller, and by how much."""
    if not fleet.has_stack:
        return {}
    shards = shards_of(fleet)
    others = {"--mode direct": replace(fleet, mode="direct", shards=None)}
    if fleet.mode == "direct":
        stream = replace(fleet, mode="kinesis", shards=shards)
        others = {f"--mode kinesis --stream-shards {shards}": stream}
    others["the stack's parameter Dashboard=false"] = replace(fleet, has_dashboard=False)
    if fleet.metrics == "cluster":
        others["--metrics none"] = replace(fleet, metrics="none")
    saved = {name: usd - total(bill(other, tariff)) for name, other in others.items()}
    return {name: less for name, less in saved.items() if less > 0}


def _remarks(fleet: Fleet, tariff: Tariff, found: JsonObject) -> Iterator[str]:
    """Yield the remarks for the reader, a sentence each."""
    instance_type = found["fleet"]["instance_type"]
    usd = found["usd"]
    if found["fleet_price"]["usd_per_hour"] is None:
        yield (
            f"the price of {instance_type} is unknown; "
            f"set it with --price-overrides {instance_type}=USD"
        )
    if not fleet.has_stack:
        return
    script = found["other_ways"][1]["usd"]
    is_dear = usd > script
    if is_dear:
        from_when = break_even(fleet, tariff)
        more = f", and more from {from_when:,} instances on" if from_when else ""
        yield f"PutMetricData costs less than this{more}"
    if is_dear or fleet.instances < SMALL:
        alone = _dollars(total(bill(fleet.emitters_only(), tariff)))
        yield f"neuron-emf deploy --emitters-only, without rollups, costs {alone} USD"
    for name, less in found["usd_saved_by"].items():
        yield f"{name} would save {_dollars(less)} USD"
    if fleet.shards and fleet.shards < (needed := shards_of(fleet)):
        few = f"{fleet.shards} shards are too few for the busiest second, which needs {needed}"
        yield f"{few}: records would be delayed"
    if (memory_mb := close_of(fleet).memory_mb) > CLOSE_MEMORY_SIZES_MB[0]:
        yield f"close keeps up with CloseMemory={memory_mb}"


def for_people(found: JsonObject) -> list[RenderableType]:
    """Yield the fleet, its bill, the cost of another instance, alternatives, and remarks."""
    fleet = found["fleet"]
    prices = found["prices"]
    instances, cores, clusters = (
        counted(fleet[f"{noun}s"], noun) for noun in ("instance", "core", "cluster")
    )
    of_what = f"{instances} of {fleet['instance_type']} ({cores}) in {clusters}"
    stack = f"Mode={fleet['mode']}" if fleet["has_stack"] else "no stack"
    measured = found["measured"]
    lines = [f"Note: {remark}." for remark in found["remarks"]]
    lines += [
        f"An instance is billed for {measured['bytes_of_a_minute']:,.0f} bytes a minute.",
        f"Sizes and times measured {measured['as_of']} ({measured['machine']}), not on AWS.",
        f"List prices of {prices['region']} as of {prices['as_of']}.",
    ]
    if basis := found["fleet_price"]["basis"]:
        lines.append(f"Price of the instances: {basis}.")
    if prices["replaced"]:
        lines.append(f"Your prices: {', '.join(prices['replaced'])}.")
    used = prices["used"].values()
    if unverified := dict.fromkeys(price["what"] for price in used if not price["is_verified"]):
        lines.append(f"Prices not verified on a published page: {'; '.join(unverified)}.")
    lines += ["Not counted and not estimated:", *(f"  {what}" for what in NOT_ESTIMATED)]
    return [
        _sentence(f"A month ({HOURS_IN_MONTH} hours) of {of_what}"),
        _sentence(f"{stack}; --metrics {fleet['metrics']}"),
        *(part for table in _tables(found) for part in (Text(), table)),
        Text(),
        *map(_sentence, lines),
    ]


def _tables(found: JsonObject) -> Iterator[Table]:
    usd = found["usd"]
    fleet_usd = found["fleet_usd"]
    groups = found["groups_usd"]
    rows = []
    for group, group_usd in groups.items():
        rows.append((group, "", _dollars(group_usd)))
        rows += _entry_rows(entry for entry in found["entries"] if entry["group"] == group)
    rows.append(("all", "", _dollars(usd)))
    yield _table(("what", "quantity", "USD a month"), rows, bold=(*groups, "all"))
    usd_per_hour = found["fleet_price"]["usd_per_hour"]
    share = share_words(100 * usd / fleet_usd) if fleet_usd else UNKNOWN_CELL
    rows = [
        ("free tiers take off, at most", "", _dollars(found["free_usd"])),
        ("an instance", "", _dollars(usd / found["fleet"]["instances"])),
        ("one more instance adds", "", _dollars(found["usd_of_one_more_instance"])),
        ("one more cluster adds", "", _dollars(found["usd_of_one_more_cluster"])),
        (
            "the instances themselves",
            UNKNOWN_CELL if usd_per_hour is None else f"{usd_per_hour:g} USD an hour each",
            _dollars(fleet_usd),
        ),
        ("share of it", "", share),
    ]
    yield _table(("of which", "", "USD a month"), rows, bold=("share of it",))
    ways = []
    for way in found["other_ways"]:
        share = f"{share_words(100 * usd / way['usd'])} of it"
        less = "-" * (way["usd"] < usd) + _dollars(abs(way["usd"] - usd))
        ways.append((way["what"], _dollars(way["usd"]), share, less))
    yield _table(("alternatives, at least", "USD a month", "this bill is", "less by"), ways)
    heads = ("not counted: only some accounts pay it", "quantity", "USD a month")
    yield _table(heads, _entry_rows(found["not_counted"]))


def _entry_rows(entries: Iterable[JsonObject]) -> list[tuple[str, str, str]]:
    return [
        (
            f"  {entry['what']}",
            f"{rounded(entry['quantity'])} {entry['unit']}",
            _dollars(entry["usd"]),
        )
        for entry in entries
    ]


def rounded(value: float) -> str:
    """Return three significant digits, with M or G from a million."""
    for size, unit in ((1e9, " G"), (1e6, " M")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def _dollars(value: float | None) -> str:
    return UNKNOWN_CELL if value is None else dollars(value)


def _sentence(text: str) -> Text:
    """Return the whole sentence: a terminal wraps it, a program does not have to join it."""
    return Text(text, no_wrap=True, overflow="ignore")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], bold: Sequence[str] = ()) -> Table:
    """Return a table of *rows* with the first column on the left; rows named in *bold* are bold."""
    table = Table(*heads, box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*row, style="bold" if row[0] in bold else None)
    return table
