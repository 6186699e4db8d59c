"""
What of a rollup has been published, and what is still due.

Gauges are restated whole: read with Average or Maximum, a repeated line does
no harm. A tally is read with Sum, so a later line carries only what earlier
ones lack. A published amount cannot be taken back: where a total falls (a late
record shows that another emitter counts, or that a core was not idle), nothing
is published until the total has passed the amount again, and until then the
line says by how much the sum is too high.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from aggregator.storage.values import Publication

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aggregator.rollups.rollup import Rollup


@dataclass(frozen=True, slots=True)
class Due:
    """
    One line that has to be published.

    Attributes:
        publication: To remember once the line is out.

        amounts: What each tally's sum still lacks, never below 0.

        overstated: By how much each tally's sum is above its total.
    """

    publication: Publication
    amounts: Mapping[str, float]
    overstated: Mapping[str, float]


def due(rollup: Rollup, before: Publication | None) -> Due | None:
    """What to publish of *rollup* after *before*; None when nothing has changed."""
    digest = _digest(rollup)
    if before is not None and before.digest == digest:
        return None
    first_records = before.first_records if before else rollup.records
    published = dict(before.tallies) if before else {}
    amounts: dict[str, float] = {}
    overstated: dict[str, float] = {}
    totals = {
        **dict.fromkeys(published, 0),  # a total may vanish with the emitter that reported it
        **rollup.tallies,
        "LateRecords": max(0, rollup.records - first_records),
    }
    for name, total in totals.items():
        lacking = round(total - published.get(name, 0), 6)
        if lacking < 0:
            overstated[name] = -lacking
        elif lacking > 0 or name not in published:
            amounts[name] = lacking
            published[name] = total
    number = before.number + 1 if before else 1
    return Due(Publication(number, published, digest, first_records), amounts, overstated)


def _digest(rollup: Rollup) -> str:
    text = json.dumps(_fields(rollup), default=_fields, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _fields(part: Any) -> dict[str, object]:  # noqa: ANN401  # the dataclasses of a rollup
    # dataclasses.asdict copies every list on its way, which is most of the work of a rollup.
    return {field.name: getattr(part, field.name) for field in fields(part)}
