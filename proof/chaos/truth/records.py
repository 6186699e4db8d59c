"""What accepted lines and printed lines say, read plainly: no parser of the product has a part."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neuron_wire import MinuteRecord
from neuron_wire.holders import Holder
from neuron_wire.owners import Owner

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from proof.logs.rules import Applied

Key = tuple[int, str]  # minute since the epoch, cluster

NUMBERS = {
    "executions": "Executions", "execution_errors": "ExecutionErrors",
    "latency_p50_mean_s": "LatencyP50Mean", "latency_p99_max_s": "LatencyP99Max",
    "tera_flops": "TeraFlops", "device_memory_used_bytes": "DeviceMemoryUsed",
    "device_memory_total_bytes": "DeviceMemoryTotal", "ecc_corrected_rise": "EccCorrectedRise",
    "ecc_uncorrected_rise": "EccUncorrectedRise",
}  # fmt: skip
"""The members that a rollup is made of, beside those of the cores."""

READINGS = ("HardwareFaults",)
"""Those without a field of their own."""


def minute_records(applied: Iterable[Applied]) -> tuple[list[MinuteRecord], list[MinuteRecord]]:
    """
    The distinct minute records among what was applied, and those of which two say different things.
    """
    by_identity: dict[tuple[str, str, int], tuple[str, MinuteRecord]] = {}
    twofold: list[MinuteRecord] = []
    for event in applied:
        line = json.loads(event.message)
        if line.get("Kind") != "minute":
            continue
        identity = line["InstanceId"], line["Boot"], line["Seq"]
        if identity not in by_identity:
            by_identity[identity] = event.message, _record(line, event.timestamp_ms)
        elif by_identity[identity][0] != event.message:
            twofold.append(_record(line, event.timestamp_ms))
    return [record for _, record in by_identity.values()], twofold


def _record(line: dict[str, Any], timestamp_ms: int) -> MinuteRecord:
    state = line.get("CoreState", "")
    given = iter(
        [*_array(line, "NeuronCoreUtilization"), *_array(line, "NeuronCoreUtilizationMore")]
    )
    return MinuteRecord(
        cluster=line["ClusterName"],
        instance_id=line["InstanceId"],
        boot=line["Boot"],
        seq=line["Seq"],
        minute_ms=timestamp_ms,
        covered_seconds=line["CoveredSeconds"],
        reports=line["Reports"],
        core_state=state,
        utilization_percent=tuple(None if one == "?" else next(given) for one in state),
        idle_minutes=tuple(_array(line, "CoreIdleMinutes")),
        bye=line.get("Bye", False),
        instance_type=line.get("InstanceType"),
        region=line.get("Region"),
        paid=line.get("Paid"),
        lifecycle=line.get("Lifecycle"),
        owners=tuple(Owner(one["Cores"], one["Name"]) for one in line.get("Owners", ())),
        owners_more=line.get("OwnersMore", ""),
        holders=tuple(Holder(one["Cores"], one.get("Name")) for one in line.get("Holders", ())),
        holders_more=line.get("HoldersMore", 0),
        readings={name: line[name] for name in READINGS if name in line},
        **{field: line.get(member) for field, member in NUMBERS.items()},
    )


def _array(line: dict[str, Any], member: str) -> list[Any]:
    value = line.get(member, [])
    return value if isinstance(value, list) else [value]


@dataclass(frozen=True)
class PrintedMinute:
    """
    What was printed of one minute of one cluster.

    Attributes:
        rollups: The last copy of each publication, in the order of their last copies.

        types: The last line of each instance type.
    """

    rollups: Sequence[dict[str, Any]]
    types: dict[str, dict[str, Any]]


def printed_lines(printed: Iterable[str]) -> dict[Key, PrintedMinute]:
    """The lines by minute since the epoch and cluster, copies left out by their RollupId."""
    rollups: dict[tuple[int, str], dict[str, dict[str, Any]]] = {}
    types: dict[tuple[int, str], dict[str, dict[str, Any]]] = {}
    for text in printed:
        line = json.loads(text)
        key = line["_aws"]["Timestamp"] // 60_000, line["ClusterName"]
        if line["Kind"] == "type":
            types.setdefault(key, {})[line["InstanceType"]] = line
            continue
        own = rollups.setdefault(key, {})
        own.pop(line["RollupId"], None)
        own[line["RollupId"]] = line
    return {
        key: PrintedMinute(list(rollups.get(key, {}).values()), types.get(key, {}))
        for key in rollups.keys() | types.keys()
    }
