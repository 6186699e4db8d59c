"""
The unpublished part of a rollup, and the rollup as one EMF line of at most 32 KB.

`neuron_wire` builds and checks it, with the code that tests and the emitter use for every line. The
caller must print the line and not log it, because a logger would wrap it and CloudWatch would no
longer extract its metrics.

Gauges are published again in full: with Average or Maximum, a repeated line is harmless. A tally is
read with Sum, so a later line has only the amount that earlier ones lack. A published amount cannot
be reduced. A total may fall, because a late record shows that another emitter counts, or that a
core was not idle. Then nothing of the tally is published until the total has passed the published
amount, and until then the line has the amount by which the sum is too high.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aggregator.minutes import start_ms
from aggregator.storage.values import Publication
from neuron_accounts.findings import fingerprint
from neuron_wire import CLUSTER_NAMESPACE, VERSION, encode
from neuron_wire.catalogue import DEFAULT_ROLLUP_METRICS, MembersOf
from neuron_wire.extraction import MAX_VALUE
from neuron_wire.line import emf_line
from neuron_wire.line_members import (
    Amounts,
    Members,
    filled,
    iso_minute,
)
from neuron_wire.names import CLUSTER_DIMENSION, ROLLUP_KIND

if TYPE_CHECKING:
    from aggregator.rollups.rollup import Lists, Rollup


@dataclass(frozen=True, slots=True)
class Due:
    """
    One line that must be published.

    Attributes:
        publication: The publication to store after the line is printed.

        amounts: The amount that each tally's sum still lacks, never below 0.

        overstated: The amount by which each tally's sum is above its total.
    """

    publication: Publication
    amounts: Amounts
    overstated: Amounts


def due(rollup: Rollup, before: Publication | None) -> Due | None:
    """Return the line to publish of *rollup* after *before*; None if nothing has changed."""
    digest = fingerprint(json.dumps(rollup, sort_keys=True))
    if before is not None and before.digest == digest:
        return None
    first_records = before.first_records if before else rollup.records
    published = dict(before.tallies) if before else {}
    amounts: dict[str, float] = {}
    overstated: dict[str, float] = {}
    totals = {
        **dict.fromkeys(published, 0),  # a total may disappear with the emitter that reported it
        **rollup.tallies,
        "LateRecords": max(0, rollup.records - first_records),
    }
    for name, total in totals.items():
        owed = round(total - published.get(name, 0), 6)
        if owed < 0:
            overstated[name] = -owed
        elif owed > 0 or name not in published:
            amounts[name] = owed
            published[name] = total
    number = before.number + 1 if before else 1
    return Due(Publication(number, published, digest, first_records), amounts, overstated)


_SEPARATORS_BYTES: Final = len('"":[],')


def cut(lists: Lists, room_bytes: int) -> Lists:
    """
    Return as much of *lists* as takes at most *room_bytes* of a line.

    The longest list loses its second half, until all fit; the first entries of a list stay longest.
    """
    sizes = {
        name: [len(encode({"": entry}).encode()) - len('{"":}') + 1 for entry in names]
        for name, names in lists.items()
    }

    def size(name: str) -> int:
        return sum(sizes[name]) + len(name) + _SEPARATORS_BYTES

    while sizes and sum(map(size, sizes)) > room_bytes:
        longest = max(sizes, key=size)
        sizes[longest] = sizes[longest][: len(sizes[longest]) // 2]
        if not sizes[longest]:
            del sizes[longest]
    return {name: lists[name][: len(kept)] for name, kept in sizes.items()}


MAX_ROLLUP_BYTES: Final = 32 * 1024
"""Far below CloudWatch's megabyte: a person should be able to read a rollup."""


def rollup_line(
    rollup: Rollup, minute: int, due: Due, metrics: MembersOf = DEFAULT_ROLLUP_METRICS
) -> str:
    """
    Write *rollup* as a line with the amounts that are *due*; *metrics* are its metrics.

    A number too large for CloudWatch is omitted, so that one absurd record cannot hide a cluster.
    Lists of names are cut until the line fits; the numbers next to them stay complete.

    Raises:
        WireFormatError: If CloudWatch would not extract the line.
    """
    numbers = {**rollup.gauges, **due.amounts}
    numbers = {name: number for name, number in numbers.items() if abs(number) <= MAX_VALUE}
    properties: Members = {
        "Schema": VERSION,
        "Kind": ROLLUP_KIND,
        CLUSTER_DIMENSION: rollup.cluster,
        "RollupId": rollup_id(rollup.cluster, minute, due.publication.number),
        "Minute": iso_minute(minute),
        "Publication": due.publication.number,
        "Records": rollup.records,
        **{name: number for name, number in numbers.items() if name not in metrics},
        **filled({"TalliesOverstated": due.overstated}),
        **rollup.properties,
    }

    def line(lists: Lists) -> str:
        return emf_line(
            CLUSTER_NAMESPACE,
            dimension_sets=[(CLUSTER_DIMENSION,)],
            metrics={name: numbers[name] for name in metrics if name in numbers},
            units={name: metric.unit for name, metric in metrics.items()},
            properties={**properties, **lists},
            timestamp_ms=start_ms(minute),
        )

    whole = line(rollup.lists)
    if len(whole.encode()) <= MAX_ROLLUP_BYTES:
        return whole
    return line(cut(rollup.lists, MAX_ROLLUP_BYTES - len(line({}).encode())))


def rollup_id(cluster: str, minute: int, number: int) -> str:
    """Return the name of one publication; a line repeated after a crash has the same."""
    return f"{cluster}@{iso_minute(minute)}#{number}"
