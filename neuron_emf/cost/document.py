"""An estimate for a program."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from neuron_emf.cost.bill import GROUPS, METRICS
from neuron_emf.cost.estimate import NOT_COUNTED, cheaper, remarks
from neuron_emf.cost.interpolated import minute_of
from neuron_emf.cost.tariff import HOURS
from neuron_wire.prices import PRICES_AS_OF

if TYPE_CHECKING:
    from neuron_emf.cost.estimate import Estimate
    from neuron_emf.cost.tariff import Price


def document(one: Estimate) -> dict[str, object]:
    """The same for a program; null where a price is unknown."""
    question, tariff = one.question, one.question.tariff
    minute = minute_of(
        one.found,
        question.fleet.cores,
        question.setup.metrics,
        is_high=question.setup.is_high_resolution,
    )
    return {
        "fleet": {"instance_type": question.instance_type, **asdict(question.fleet)},
        "setup": asdict(question.setup),
        "hours": HOURS,
        "usd": one.usd,
        "known_usd": one.known_usd,
        "unknown": [entry.what for entry in one.unknown],
        "groups_usd": {
            group: one.group_usd(group)
            for group in GROUPS
            if any(entry.group == group for entry in one.entries)
        },
        "metrics": sum(entry.quantity for entry in one.entries if entry.group == METRICS),
        "entries": [asdict(entry) for entry in one.entries],
        "usd_per_instance": one.each(question.fleet.instances),
        "usd_per_cluster": one.each(question.fleet.clusters),
        "usd_of_one_more_instance": one.further_instance_usd,
        "usd_of_one_more_cluster": one.further_cluster_usd,
        "fleet_usd": one.fleet_usd,
        "percent_of_fleet": _percent(one.share_of(one.fleet_usd)),
        "fleet_price": {
            "usd_per_hour": question.usd_per_hour,
            "is_yours": question.is_price_yours,
            "as_of": PRICES_AS_OF,
        },
        "other_ways": [
            {
                **asdict(way),
                "bill_percent": _percent(one.share_of(way.usd)),
                "more_usd": one.minus(way),
            }
            for way in one.ways
        ],
        "measured": {
            "as_of": one.found.as_of,
            "machine": one.found.machine,
            "bytes_of_a_minute": minute.bytes,
            "lines_of_a_minute": minute.lines,
        },
        "prices": {
            "region": tariff.region,
            "as_of": tariff.as_of,
            "replaced": list(tariff.replaced),
            "used": {
                name: _as_json(tariff.prices[name])
                for name in dict.fromkeys(name for entry in one.entries for name in entry.prices)
            },
        },
        "usd_saved_by": cheaper(one),
        "remarks": remarks(one),
        "not_counted": list(NOT_COUNTED),
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _as_json(price: Price) -> dict[str, object]:
    return {name: value for name, value in asdict(price).items() if name != "tier"}
