"""
Instances by cores over time, from the minute lines of a cluster.

Copies of a line count once, and what several lines say of one minute of one
instance is merged as the stack merges it. A minute without a line is no
minute: its state is `-` and its utilization null, never zero.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from neuron_wire.merging import merge
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from local.page.log_lines import CollectedLine
    from neuron_wire import MinuteRecord
    from neuron_wire.holders import Holder

NO_LINE: Final = "-"


def cores(
    cluster: str, lines: Iterable[CollectedLine], start_ms: int, end_ms: int
) -> dict[str, Any]:
    """The heat map of *cluster*, of the minutes that start in [*start_ms*, *end_ms*)."""
    merged = _merged(cluster, lines, start_ms, end_ms)
    labels = [minute_ms for minutes in merged.values() for minute_ms in minutes]
    minutes = list(range(min(labels), max(labels) + MINUTE_MS, MINUTE_MS)) if labels else []
    return {
        "cluster": cluster,
        "minutes": minutes,
        "instances": [_instance(one, merged[one], minutes) for one in sorted(merged)],
    }


def _merged(
    cluster: str, lines: Iterable[CollectedLine], start_ms: int, end_ms: int
) -> dict[str, dict[int, MinuteRecord]]:
    """The record that counts, by instance and minute."""
    parts: dict[tuple[str, int], dict[tuple[str, int], MinuteRecord]] = defaultdict(dict)
    for line in lines:
        record = line.minute
        if record is None or record.cluster != cluster:
            continue
        if start_ms <= record.minute_ms < end_ms:
            parts[record.instance_id, record.minute_ms][record.boot, record.seq] = record
    found: dict[str, dict[int, MinuteRecord]] = defaultdict(dict)
    for (instance_id, minute_ms), records in parts.items():
        found[instance_id][minute_ms] = merge(records.values()).record
    return found


def _instance(
    instance_id: str, records: dict[int, MinuteRecord], minutes: list[int]
) -> dict[str, Any]:
    newest = records[max(records)]
    core_count = max(len(record.core_state) for record in records.values())
    types = [records[at].instance_type for at in sorted(records) if records[at].instance_type]
    records_by_minute = [records.get(minute_ms) for minute_ms in minutes]
    return {
        "instance_id": instance_id,
        "instance_type": types[-1] if types else None,
        "cores": core_count,
        "utilization": [
            [
                _at(record.utilization_percent, core) if record else None
                for record in records_by_minute
            ]
            for core in range(core_count)
        ],
        "states": [
            "".join(
                (_at(record.core_state, core) or NO_LINE) if record else NO_LINE
                for record in records_by_minute
            )
            for core in range(core_count)
        ],
        "idle_minutes": [_at(newest.idle_minutes, core) for core in range(core_count)],
        "holders": [_holder(one) for one in newest.holders],
        "holders_more": newest.holders_more,
    }


def _at(values: Any, core: int) -> Any:  # noqa: ANN401  # a text of letters, or a tuple of numbers
    return values[core] if core < len(values) else None


def _holder(one: Holder) -> dict[str, Any]:
    return {"cores": one.cores, "name": one.name, "pid": one.pid, "tag": one.tag}
