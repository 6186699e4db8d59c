"""
Where rollups are not what the reference reckons; copies of lines and late ones included.

And the product's list prices as the reference takes them: exact, by `REGION/TYPE`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from neuron_wire.catalogue import ROLLUP
from neuron_wire.prices import USD_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.rehearsal.figures import ClusterMinute, MinuteLines

EPSILON: Final = 0.011  # a utilization has two decimals
_RELATIVE: Final = 1e-6
LIST_PRICES: Final = {
    f"{region}/{name}": Fraction(str(usd))
    for region, prices in USD_PER_HOUR.items()
    for name, usd in prices.items()
}


def differences(
    said_by: Mapping[ClusterMinute, MinuteLines],
    expected: Mapping[tuple[int, str], Mapping[str, float]],
) -> list[tuple[object, ...]]:
    """Minute and cluster, metric, what it should be and what it is."""
    found: list[tuple[object, ...]] = []
    for (minute, cluster), numbers in expected.items():
        key = (cluster, minute * 60)
        if key not in said_by:
            found.append((key, "no rollup"))
            continue
        said = said_by[key]
        last = said.publications[-1]
        wanted = dict(numbers)
        covered_s, records = wanted.pop("CoveredSeconds"), wanted.pop("Records")
        instances = wanted["Instances"] + last["SilentInstances"]
        wanted["CoveragePercent"] = 100 * covered_s / (60 * instances)
        wanted["LateRecords"] = records - said.publications[0]["Records"]
        overstated = last.get("TalliesOverstated", {})
        for name in sorted(ROLLUP.keys() - {"SilentInstances"}):
            is_tally = ROLLUP[name].family == "tally"
            actual = said.tally(name) if is_tally else said.gauge(name)
            if actual is not None and is_tally:
                actual -= overstated.get(name, 0)
            if not _is_same(wanted.get(name), actual):
                found.append((key, name, wanted.get(name), actual))
    return found


def _is_same(wanted: float | None, actual: float | None) -> bool:
    if wanted is None or actual is None:
        return wanted is actual
    return abs(wanted - actual) <= max(EPSILON, _RELATIVE * abs(wanted))
