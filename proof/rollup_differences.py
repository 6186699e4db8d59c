"""
Compare rollups with the reference, including copied and late lines.

It also has the product's list prices in the reference's form: exact, by `REGION/TYPE`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from neuron_accounts.prices import LIST_USD_PER_HOUR
from neuron_wire.catalogue import ROLLUP_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from local.rehearsal.comparison import ClusterMinute, PublishedMinute

    Rollups = Mapping[tuple[int, str], Mapping[str, float]]
    """Numbers of each minute since the epoch and cluster."""

EPSILON: Final = 2e-6  # a line has six decimals
CHECKED_TALLIES: Final = {
    name for name, number in ROLLUP_NUMBERS.items() if number.family == "tally"
}
CHECKED_GAUGES: Final = (
    ROLLUP_NUMBERS.keys() - CHECKED_TALLIES - {"SilentInstances", "CoveragePercent"}
)
OF_UNSEEN: Final = {
    "AvoidableCostPerHour",
    "AvoidableAllocatedCostPerHour",
    "SharedCostPerHour",
    "FullyIdleInstances",
}
"""Gauges that a late record of an earlier minute may change."""

LIST_PRICES: Final = {
    f"{region}/{name}": Fraction(str(usd))
    for region, prices in LIST_USD_PER_HOUR.items()
    for name, usd in prices.items()
}

Said = tuple[str, str, str]  # metric, expected, found


def differences(
    said_by: Mapping[ClusterMinute, PublishedMinute],
    expected: Rollups,
) -> list[tuple[object, ...]]:
    """Return minute and cluster, metric, expected and found value of each difference."""
    found: list[tuple[object, ...]] = []
    for (minute, cluster), numbers in expected.items():
        key = (cluster, minute * 60)
        if key in said_by:
            said = of_rollup(said_by[key].publications, numbers, may_overstate=True)
            found += [(key, *difference) for difference in said]
        else:
            found.append((key, "no rollup"))
    return found


def of_rollup(
    rollups: Sequence[Mapping[str, Any]],
    numbers: Mapping[str, float],
    *,
    may_overstate: bool,
    is_final: bool = True,
) -> Iterator[Said]:
    """
    Yield the differences between *rollups*, all publications of a minute, and *numbers*.

    *may_overstate* is True if several records were merged: a later one may have shown that a
    published amount was too high. Unless *is_final*, records of earlier minutes may still come, and
    values that they change are omitted. Silence is not compared.
    """
    *_, last = rollups
    yield from if_not("Records", numbers["Records"], last["Records"])
    for name in sorted(CHECKED_GAUGES if is_final else CHECKED_GAUGES - OF_UNSEEN):
        yield from if_not(name, numbers.get(name), last.get(name))
    overstated = last.get("TalliesOverstated", {})
    if overstated and not may_overstate:
        yield "TalliesOverstated", "none, nothing was merged", ", ".join(sorted(overstated))
    totals = {**numbers, "LateRecords": numbers["Records"] - rollups[0]["Records"]}
    for name in sorted(CHECKED_TALLIES):
        amounts = [line[name] for line in rollups if name in line]
        total = sum(amounts) - overstated.get(name, 0) if amounts else None
        if name in totals:
            yield from if_not(name, totals[name], total)
        else:
            yield from if_not(name, 0, total or 0)
        if any(amount < 0 for amount in amounts):
            yield name, "amounts from 0", f"{min(amounts)}"
    present = last["Instances"] + last["SilentInstances"]
    coverage = 100 * numbers["CoveredSeconds"] / (60 * present) if present else None
    yield from if_not("CoveragePercent", coverage, last.get("CoveragePercent"))


def if_not(what: str, expected: float | None, found: float | None) -> Iterator[Said]:
    if expected is None or found is None:
        same = expected is found
    else:
        same = math.isclose(expected, found, rel_tol=1e-12, abs_tol=EPSILON)
    if not same:
        yield what, _number(expected), _number(found)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.6f}".rstrip("0").rstrip(".")
