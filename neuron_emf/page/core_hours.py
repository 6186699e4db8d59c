"""
Cores by instance in the newest whole minute, and one instance's hour, from minute lines.

Copies of a line count once, and several lines of one minute of one instance are merged as the stack
merges them. A minute without a line is left out.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from neuron_emf.reading import Records
from neuron_wire.core_members import core_indexes, idle_cores
from neuron_wire.holders import holder_members
from neuron_wire.line_members import epoch_ms_of
from neuron_wire.merging import merge_records
from neuron_wire.names import (
    ATTACHED_IDLE_STATE,
    BUSY_STATE,
    MINUTE_MS,
    REASON_WORDS,
    UNATTACHED_STATE,
)
from neuron_words.now_words import RESERVED, holder_marks, low_activity_words, use_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuron_wire import MinuteRecord
    from neuron_wire.line_members import JsonObject, Members

RESERVED_CORE: Final = "r"
"""The letter of a reserved core."""
UNKNOWN_ALLOCATION_CORE: Final = "n"
"""The letter of an unattached core of unknown allocation."""


def newest_minute(
    lines: Iterable[str], minute_ms: int, cluster: str, idle_after_minutes: int
) -> list[dict[str, Any]]:
    """
    Return the instances of *cluster*, or of all, in one minute; the most idle cores first.

    Each core has the letter of `_letters`, in capitals if it has not been busy for
    *idle_after_minutes*, and its utilization in whole percent, null if unknown.
    """
    merged = _merged(lines, cluster)
    instances = [
        _now(identity, minutes[minute_ms], idle_after_minutes)
        for identity, minutes in merged.items()
        if minute_ms in minutes
    ]
    return sorted(
        instances,
        key=lambda row: (-row["idle_cores"], -row["idle_minutes"], row["cluster"], row["instance"]),
    )


def instance_hour(lines: Iterable[str], cluster: str, instance_id: str) -> JsonObject:
    """
    Return the cores of one instance in each minute of *lines*, and its newest holders.

    Without a *cluster*, the cluster of the newest line counts.
    """
    merged = _merged(lines, cluster)
    own = [key for key in merged if key[1] == instance_id]
    cluster = max(own, key=lambda key: max(merged[key]), default=(cluster, ""))[0]
    records = merged.get((cluster, instance_id), {})
    minutes = sorted(records)
    newest = records[minutes[-1]] if records else None
    types = [records[minute].instance_type for minute in minutes if records[minute].instance_type]
    return {
        "cluster": cluster,
        "instance": instance_id,
        "instance_type": types[-1] if types else None,
        "minutes": minutes,
        "states": [_letters(records[minute]) for minute in minutes],
        "utilization": [records[minute].utilization_percent for minute in minutes],
        "idle_minutes": newest.idle_minutes if newest else [],
        "holders": _holders(newest) if newest else [],
        "holders_more": newest.holders_more if newest else 0,
        "unknown_words": REASON_WORDS.get(newest.unknown_reason or "", "") if newest else "",
    }


def _holders(record: MinuteRecord) -> list[Members]:
    """Return the holders and owners of cores that are not busy, with known facts in `Marks`."""
    minute = record.epoch_minute
    shown = []
    for holder, members in zip(record.holders, holder_members(record.holders), strict=True):
        last_ms = epoch_ms_of(holder.last_execution or "")
        last = None if last_ms is None else last_ms // MINUTE_MS
        owner = next((owner for owner in record.owners if owner.name == holder.name), None)
        letters = [record.core_state[core] for core in core_indexes(owner.cores if owner else "")]
        held = sum(letter in BUSY_STATE + ATTACHED_IDLE_STATE for letter in letters)
        uses = use_words(held, letters.count(BUSY_STATE))
        if owner and not uses:
            uses = low_activity_words(owner.executions)
        marks = holder_marks(
            holder.name, last, minute, is_gone=holder.gone, assigned_to=holder.assigned_to
        )
        shown.append({**members, "Marks": [*([f"{uses} here"] if uses else []), *marks]})
    return shown + [
        {"Cores": owner.reserved, "Name": owner.name, "IsReserved": True, "Marks": [RESERVED]}
        for owner in record.owners
        if owner.reserved
    ]


def _merged(
    lines: Iterable[str], cluster: str
) -> Mapping[tuple[str, str], dict[int, MinuteRecord]]:
    """Return merged records by cluster and instance, then by minute."""
    parts: dict[tuple[str, str, int], list[MinuteRecord]] = defaultdict(list)
    for record in Records().read_records(lines):
        if not cluster or record.cluster == cluster:
            parts[record.cluster, record.instance_id, record.minute_ms].append(record)
    merged: dict[tuple[str, str], dict[int, MinuteRecord]] = defaultdict(dict)
    for (of_cluster, instance_id, minute_ms), records in parts.items():
        merged[of_cluster, instance_id][minute_ms] = merge_records(records).record
    return merged


def _now(
    identity: tuple[str, str], record: MinuteRecord, idle_after_minutes: int
) -> dict[str, Any]:
    idle = set(idle_cores(record.core_state, record.idle_minutes, idle_after_minutes))
    letters = "".join(
        letter.upper() if core in idle else letter for core, letter in enumerate(_letters(record))
    )
    return {
        "cluster": identity[0],
        "instance": identity[1],
        "instance_type": record.instance_type,
        "states": letters,
        "utilization": [
            None if percent is None else round(percent) for percent in record.utilization_percent
        ],
        "idle_cores": len(idle),
        "idle_minutes": max((record.idle_minutes[core] for core in idle), default=0),
        "owned": [
            [owner.name, ",".join(filter(None, (owner.cores, owner.reserved))), owner.team]
            for owner in record.owners
        ],
        "holders": _holders(record),
    }


def _letters(record: MinuteRecord) -> str:
    """Return the state of each core; an unattached one is `r`, `u` or `n`."""
    reserved = record.reserved
    state = record.core_state
    if record.is_allocation_unknown:
        state = state.replace(UNATTACHED_STATE, UNKNOWN_ALLOCATION_CORE)
    return "".join(
        RESERVED_CORE if core in reserved else letter for core, letter in enumerate(state)
    )
