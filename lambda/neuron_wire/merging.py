"""
Merge several records of one instance and minute.

An emitter that restarts within a minute leaves two records, each for its part: together they are
the minute. Two emitters at the same time (a daemon and a sidecar) cover the minute twice: only the
one with more coverage counts, because adding them would count cores twice. If the two write to
different clusters, each cluster counts its own record, and the instance is marked in both.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from neuron_wire.catalogue import READING_MEMBERS
from neuron_wire.core_members import round_half_even
from neuron_wire.holders import merge_holders
from neuron_wire.names import ATTACHED_IDLE_STATE, MINUTE_S
from neuron_wire.owners import merge_owners

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neuron_wire import MinuteRecord
    from neuron_wire.catalogue import Merging
    from neuron_wire.core_members import Percents

MAX_RESTART_COVERED_S: Final = 66
"""
Covered seconds up to which several records are parts of one minute: 60, and 10 %
for reports whose period straddles the restart.
"""

Key: TypeAlias = "tuple[str, str]"
"""A cluster and an instance."""

RecordsOf: TypeAlias = "Mapping[Key, Sequence[MinuteRecord]]"
"""The records of one minute, by cluster and instance."""

_LAST_FIELDS: Final = (
    "reservations",
    "account_id",
    "lifecycle",
    "paid",
    "instance_type",
    "region",
    "unknown_reason",
    "device_memory_used_bytes",
    "device_memory_total_bytes",
)
"""Fields whose value comes from the last part that has them."""

_SUMMED: Final = (
    "executions",
    "execution_errors",
    "ecc_corrected_rise",
    "ecc_uncorrected_rise",
)
"""Fields that are added over the parts that have them."""

_GREATEST_FIELDS: Final = ("latency_p99_max_s",)


class InstanceMinute(NamedTuple):
    """
    One merged minute of one instance.

    Attributes:
        record: The merged record; its Boot and Seq are those of its last part.

        records: The number of distinct records, whether they count or not.

        duplicate_emitters: True if two emitters reported.

        gone: True if the instance shut down cleanly in this minute and did not return.

        in_other_clusters: True if another cluster has the instance in this minute too. A
            record counts twice then, so no cost of the instance is certain to be avoidable.
    """

    record: MinuteRecord
    records: int
    duplicate_emitters: bool
    gone: bool
    in_other_clusters: bool = False


def merge_clusters(
    records_of: RecordsOf,
) -> dict[Key, InstanceMinute]:
    """
    Merge the records of each cluster and instance of a minute, and mark instances in two clusters.

    An instance whose clusters together have at most MAX_RESTART_COVERED_S has moved from one
    cluster to another within the minute, and is not marked.
    """
    merged = {key: merge_records(records) for key, records in records_of.items()}
    if len({instance_id for _, instance_id in merged}) == len(merged):  # the usual case
        return merged
    keys_of: dict[str, list[Key]] = defaultdict(list)
    for key in merged:
        keys_of[key[1]].append(key)
    for keys in keys_of.values():
        if len(keys) > 1:
            covered_s = _covered_s([merged[key].record for key in keys])
            if covered_s > MAX_RESTART_COVERED_S:
                merged |= {key: merged[key]._replace(in_other_clusters=True) for key in keys}
    return merged


def merge_records(records: Iterable[MinuteRecord]) -> InstanceMinute:
    """Merge the distinct records of one instance and minute, in any order."""
    parts = sorted(records, key=lambda part: (part.boot, part.seq))
    if parts[0].boot == parts[-1].boot or _covered_s(parts) <= MAX_RESTART_COVERED_S:
        return InstanceMinute(
            _one_minute(parts),
            len(parts),
            duplicate_emitters=False,
            gone=parts[-1].is_clean_shutdown,
        )
    emitters: dict[str, list[MinuteRecord]] = defaultdict(list)
    for part in parts:
        emitters[part.boot].append(part)
    # Ascending by Boot, and max() keeps the first of equals: on a tie the smaller Boot counts.
    counted = max(emitters.values(), key=_covered_s)
    return InstanceMinute(
        _one_minute(counted),
        len(parts),
        duplicate_emitters=True,
        gone=all(own[-1].is_clean_shutdown for own in emitters.values()),
    )


def _covered_s(parts: Sequence[MinuteRecord]) -> float:
    # In hundredths, as in lines: 29.94 and 36.06 are exactly 66.
    return sum(round(100 * part.covered_seconds) for part in parts) / 100


def _one_minute(parts: Sequence[MinuteRecord]) -> MinuteRecord:
    """Return *parts* of one minute, ascending by (Boot, Seq), as one record."""
    if len(parts) == 1:
        return parts[0]
    latest, utilization = _cores(parts)
    state = "".join([part.core_state[core_index] for core_index, part in enumerate(latest)])
    idle_minutes = tuple([part.idle_minutes[core_index] for core_index, part in enumerate(latest)])
    # From each part, the cores that no later part knows.
    last_cores = [{core for core, last in enumerate(latest) if last is part} for part in parts]
    attached = [
        {core for core in cores if part.core_state[core] == ATTACHED_IDLE_STATE}
        for part, cores in zip(parts, last_cores, strict=True)
    ]
    holders, holders_more = merge_holders(
        zip([(part.holders, part.holders_more) for part in parts], attached, strict=True),
        idle_minutes,
    )
    owners, owners_more = merge_owners(
        [
            ((part.owners, part.owners_more), cores)
            for part, cores in zip(parts, last_cores, strict=True)
            if part.owners or part.owners_more
        ]
    )
    changes: dict[str, Any] = {}
    for names, merge in ((_LAST_FIELDS, itemgetter(-1)), (_SUMMED, sum), (_GREATEST_FIELDS, max)):
        for name in names:
            present = [getattr(part, name) for part in parts if getattr(part, name) is not None]
            changes[name] = merge(present) if present else None
    return replace(
        parts[-1],
        covered_seconds=min(float(MINUTE_S), _covered_s(parts)),
        reports=sum(part.reports for part in parts),
        core_state=state,
        utilization_percent=utilization,
        idle_minutes=idle_minutes,
        holders=tuple(holders),
        holders_more=holders_more,
        owners=owners,
        owners_more=owners_more,
        latency_p50_mean_s=weighted_mean(
            (part.latency_p50_mean_s, execution_weight(part)) for part in parts
        ),
        tera_flops=weighted_mean((part.tera_flops, part.covered_seconds) for part in parts),
        readings=_readings(parts),
        details=sum((Counter(part.details) for part in parts), Counter[str]()),
        **changes,
    )


def _readings(parts: Sequence[MinuteRecord]) -> dict[str, int | float]:
    """Return each reading, merged as the catalogue defines; a reading in no part is absent."""
    present = {name for part in parts for name in part.readings}
    merged: dict[str, int | float] = {}
    for name, member in READING_MEMBERS.items():
        if name in present:
            pairs = [
                (part.readings[name], part.covered_seconds)
                for part in parts
                if name in part.readings
            ]
            value = _one_reading(pairs, member.merges)
            merged[name] = round(value) if member.is_whole else value
    return merged


def _one_reading(pairs: Sequence[tuple[int | float, float]], merges: Merging) -> int | float:
    values = [value for value, _ in pairs]
    if merges == "sum":
        return sum(values)
    if merges == "mean":
        return weighted_mean(pairs) or 0.0
    return values[-1]


def _cores(parts: Sequence[MinuteRecord]) -> tuple[list[MinuteRecord], Percents]:
    """
    Return for each core the latest of *parts* that knows its state, and its utilization.

    If none knows, the latest part that has the core counts.
    """
    latest: list[MinuteRecord] = []
    utilization: list[float | None] = []
    weights = [round(100 * part.covered_seconds) for part in parts]
    for core_index in range(max(len(part.core_state) for part in parts)):
        having = parts[0]
        knowing: list[tuple[float, int]] = []
        for part, weight in zip(parts, weights, strict=True):
            if core_index >= len(part.core_state):
                continue
            percent = part.utilization_percent[core_index]
            if percent is not None:
                knowing.append((percent, weight))
                having = part
            elif not knowing:
                having = part
        latest.append(having)
        utilization.append(_mean_percent(knowing) if knowing else None)
    return latest, tuple(utilization)


def _mean_percent(pairs: Sequence[tuple[float, int]]) -> float:
    """
    Return the mean of percentages by their weights, with two decimals like every record's.

    It uses whole numbers, rounded half to even, so that the result is the same on every machine.
    """
    weight = sum([weight for _, weight in pairs])
    if not weight:
        pairs, weight = [(percent, 1) for percent, _ in pairs], len(pairs)
    total = sum([round(100 * percent) * weight for percent, weight in pairs])
    return round_half_even(total, weight) / 100


def execution_weight(record: MinuteRecord) -> int:
    """Return the weight of a record's median latency: its executions, at least 1."""
    return record.executions or 1


def weighted_mean(pairs: Iterable[tuple[float | None, float]]) -> float | None:
    """
    Return the mean of the known values; None if there is none.

    If all weights are 0, the values count equally.
    """
    present = [(value, weight) for value, weight in pairs if value is not None]
    if not present:
        return None
    total = sum(weight for _, weight in present)
    if total <= 0:
        return sum(value for value, _ in present) / len(present)
    return sum(value * weight for value, weight in present) / total
