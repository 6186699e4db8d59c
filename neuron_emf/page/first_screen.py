"""
The first screen, out of the newest rollup line of each cluster.

Status first, because dead data must not look cheap; then idle cores, their cost and
how much of it is avoidable; then who holds them. What a line does not tell is None
here and grey on the page: never 0, and never added up from lines of which one lacks it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from neuron_emf import figures
from neuron_emf.reading.rollup_line import minute_of, number_in, rows_in
from neuron_wire.names import MINUTE_MS
from neuron_wire.phrases import use_words
from neuron_wire.prices import basis_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    RollupLine = Mapping[str, Any]

OLD_MINUTES: Final = 10
"""Rollups come two to four minutes after their minute; older ones say that something is wrong."""

UNALLOCATED: Final = "[unallocated]"
NOT_TOLD: Final = "[not told]"
"""What the rows of a line leave out, where it was cut to its 32 KB."""

_OWNERS: Final = "TopIdleOwners"
_ROUNDING: Final = 1e-6


def first_screen(newest: Mapping[str, RollupLine], now_ms: int) -> dict[str, Any]:
    """What is shown of the *newest* lines, by cluster, at *now_ms*; None where not told."""
    lines = list(newest.values())
    minute_ms = max((_minute_ms(line) for line in lines), default=None)
    data_to_ms = None if minute_ms is None else minute_ms + MINUTE_MS
    age_minutes = None if data_to_ms is None else max(0, now_ms - data_to_ms) // MINUTE_MS
    return {
        "minute_ms": minute_ms,
        "data_to_ms": data_to_ms,
        "age_minutes": age_minutes,
        "is_old": age_minutes is not None and age_minutes > OLD_MINUTES,
        "instances": _sum(lines, "Instances"),
        "silent": _sum(lines, "SilentInstances"),
        "coverage_percent": _coverage_percent(lines),
        "idle": _idle(lines),
        "cost": _cost(lines),
        "avoidable": _avoidable(lines),
        "owners": owners(newest),
        "owners_told": all(map(_tells_owners, lines)),
    }


def owners(newest: Mapping[str, RollupLine]) -> list[dict[str, Any]]:
    """Who holds idle cores, most cost first, then most cores."""
    rows = [row for cluster, line in newest.items() for row in _owners_of(cluster, line)]
    return sorted(rows, key=lambda row: (-(row["usd_per_hour"] or 0.0), -row["cores"]))


def _owners_of(cluster: str, line: RollupLine) -> list[dict[str, Any]]:
    told = rows_in(line, _OWNERS)
    if told is None:
        return []
    rows = [_owner(cluster, line, row) for row in told]
    idle, usd = number_in(line, "IdleCores"), number_in(line, "IdleCostPerHour")
    rest = (idle or 0.0) - sum(row["cores"] for row in rows)
    if rest > _ROUNDING:
        left = (usd or 0.0) - sum(row["usd_per_hour"] or 0.0 for row in rows)
        row = {"Owner": NOT_TOLD, "Cores": round(rest, 6), "UsdPerHour": max(0.0, round(left, 6))}
        rows.append(_owner(cluster, line, row))
    return rows


def _owner(cluster: str, line: RollupLine, row: Mapping[str, Any]) -> dict[str, Any]:
    idle_minutes = number_in(row, "IdleMinutes")
    held, busy = number_in(row, "HeldCores"), number_in(row, "BusyCores")
    since_ms = None
    if idle_minutes is not None:
        since_ms = _minute_ms(line) + MINUTE_MS - round(idle_minutes) * MINUTE_MS
    return {
        "owner": str(row.get("Owner", "")),
        "team": row["Team"] if isinstance(row.get("Team"), str) else None,
        "cluster": cluster,
        "cores": number_in(row, "Cores") or 0.0,
        "instances": number_in(row, "Instances"),
        "held_cores": held,
        "busy_cores": busy,
        "uses": use_words(held, busy),
        "idle_minutes": idle_minutes,
        "since_ms": since_ms,
        "usd_per_hour": number_in(row, "UsdPerHour"),
        "unpriced_cores": number_in(row, "UnpricedCores") or 0.0,
    }


def _idle(lines: Sequence[RollupLine]) -> dict[str, Any]:
    cores, unknown = _sum(lines, "NeuronCores"), _sum(lines, "UnknownCores")
    known = None if cores is None else cores - (unknown or 0.0)
    idle = _sum(lines, "IdleCores")
    unheld = None
    if idle is not None and all(map(_tells_owners, lines)):
        unheld = sum(
            number_in(row, "Cores") or 0.0
            for line in lines
            for row in rows_in(line, _OWNERS) or ()
            if row.get("Owner") == UNALLOCATED
        )
    return {
        "cores": idle,
        "known_cores": known,
        "unknown_cores": unknown,
        "percent": None if idle is None or not known else 100 * idle / known,
        "held_cores": None if idle is None or unheld is None else round(idle - unheld, 6),
        "unheld_cores": None if unheld is None else round(unheld, 6),
    }


def _cost(lines: Sequence[RollupLine]) -> dict[str, Any]:
    regions = set(_names(lines, "PriceRegions"))
    dates = {one for line in lines if isinstance(one := line.get("PricesAsOf"), str)}
    overridden = sorted(set(_names(lines, "PricesOverridden")))
    return {
        "usd_per_hour": _sum(lines, "IdleCostPerHour"),
        "basis": basis_words(regions, max(dates, default=None), overridden),
        "shared_usd_per_hour": _sum(lines, "SharedCostPerHour"),
        "sunk_usd_per_hour": _sum(lines, "SunkCostPerHour"),
        "unpriced_cores": _sum(lines, "UnpricedCores"),
        "unpriced_types": sorted(set(_names(lines, "UnpricedTypes"))),
    }


def _avoidable(lines: Sequence[RollupLine]) -> dict[str, Any]:
    total, held = _sum(lines, "AvoidableCostPerHour"), _sum(lines, "AvoidableHeldCostPerHour")
    return {
        "usd_per_hour": total,
        "held_usd_per_hour": held,
        "unheld_usd_per_hour": (
            None if total is None or held is None else max(0.0, round(total - held, 6))
        ),
        "instances": _sum(lines, "WhollyIdleInstances"),
    }


def _tells_owners(line: RollupLine) -> bool:
    return not number_in(line, "IdleCores") or rows_in(line, _OWNERS) is not None


def _coverage_percent(lines: Sequence[RollupLine]) -> float | None:
    """By instances, those that reported and those that are silent."""
    covered = weight = 0.0
    for line in lines:
        share = number_in(line, "CoveragePercent")
        expected = (number_in(line, "Instances") or 0.0) + (number_in(line, "SilentInstances") or 0)
        if share is not None:
            covered, weight = covered + share * expected, weight + expected
    return covered / weight if weight else None


def _sum(lines: Sequence[RollupLine], name: str) -> float | None:
    """Of all lines together; None where one does not tell, or there is none."""
    values = [number_in(line, name) for line in lines]
    told = [value for value in values if value is not None]
    return round(sum(told), 6) if told and len(told) == len(values) else None


def _names(lines: Iterable[RollupLine], name: str) -> list[str]:
    found = [line.get(name) for line in lines]
    listed = [one for names in found if isinstance(names, list) for one in names]
    return [figures.name(one) for one in listed if isinstance(one, str)]


def _minute_ms(line: RollupLine) -> int:
    return minute_of(line["Minute"]) or 0
