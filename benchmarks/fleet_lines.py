"""
A fleet with 32 cores each by default: records of one minute, and the lines with them.

The numbers are the same in every run, and different for each instance: a compressor must not find
them easier than real ones. Of ten instances six train on all cores, two serve with half of their
cores attached idle, one is half busy, one is held by no process; one of a hundred has no telemetry.
Held cores have four owners with names of pods, and their namespaces as teams.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from neuron_emitter.lines import LineWriter
from neuron_emitter.settings import MinuteSettings
from neuron_wire.catalogue import READING_MEMBERS
from neuron_wire.core_members import core_ranges
from neuron_wire.holders import MAX_HOLDERS, Holder
from neuron_wire.minute_record import MinuteRecord
from neuron_wire.names import (
    ATTACHED_IDLE_STATE,
    BUSY_STATE,
    MINUTE_MS,
    UNATTACHED_STATE,
    UNKNOWN_STATE,
)
from neuron_wire.owners import Holding, group_holdings, list_owners

if TYPE_CHECKING:
    from collections.abc import Iterator

CORES_OF_INSTANCE: Final = 32
FLEET_MINUTE: Final = 30_000_000  # an epoch minute
FLEET_TYPES: Final = ("trn1.32xlarge", "trn1n.32xlarge")
_OF_SECOND_TYPE: Final = 0.2
_MIX: Final = (
    "train",
    "serve",
    "train",
    "half",
    "train",
    "train",
    "free",
    "train",
    "serve",
    "train",
)
_OWNERS_OF_FLEET_INSTANCE: Final = 4
_TEAM: Final = "serving"
_GIB: Final = 1 << 30


def records(
    instances: int, clusters: int = 1, cores: int = CORES_OF_INSTANCE
) -> Iterator[MinuteRecord]:
    """Yield the records of `MINUTE` of a fleet in *clusters* clusters of equal size."""
    for number in range(instances):
        yield _record(number, f"training-{number % clusters:03d}", cores)


def line_of(record: MinuteRecord) -> str:
    """Return the log line that the emitter writes for *record* with default settings."""
    return _lines().minute_records(record)[0].line


@lru_cache(maxsize=1)
def _lines() -> LineWriter:
    return LineWriter(MinuteSettings())


def _record(number: int, cluster: str, cores: int) -> MinuteRecord:
    draw = random.Random(number)
    state = UNKNOWN_STATE * cores if number % 100 == 99 else _state(_MIX[number % len(_MIX)], cores)
    is_known = UNKNOWN_STATE not in state
    works = BUSY_STATE in state
    executions = draw.randrange(1_000, 200_000) if works else 0
    p50_s = draw.uniform(0.001, 0.2)
    by_core = _owners(state, random.Random(-1 - number))
    holdings = group_holdings(
        Holding(name, [core], _TEAM, executions=executions // len(by_core))
        for core, name in by_core.items()
    )
    for holding in holdings.values():
        holding.quiet_minutes = None if holding.executions else draw.randrange(1, 1_000)
    owners, owners_more = list_owners(holdings)
    latencies = {
        "DeviceLatencyP50Mean": _significant(0.9 * p50_s),
        "DeviceLatencyP99Max": _significant(2.5 * p50_s),
        "LatencyGapP50": _significant(0.1 * p50_s),
    }
    return MinuteRecord(
        cluster=cluster,
        instance_id=f"i-0{draw.getrandbits(64):016x}",
        boot=f"{draw.getrandbits(48):012x}{draw.getrandbits(32):08x}",
        seq=draw.randrange(1, 1_000_000),
        minute_ms=FLEET_MINUTE * MINUTE_MS,
        covered_seconds=round(draw.uniform(58, 60), 2) if is_known else 0.0,
        reports=12,
        core_state=state,
        utilization_percent=tuple(_utilization(letter, draw) for letter in state),
        idle_minutes=tuple(
            0 if letter == BUSY_STATE else draw.randrange(1_000) for letter in state
        ),
        instance_type=FLEET_TYPES[draw.random() < _OF_SECOND_TYPE],
        region="us-west-2",
        availability_zone="us-west-2d",
        executions=executions,
        execution_errors=0,
        latency_p50_mean_s=_significant(p50_s) if works else None,
        latency_p99_max_s=_significant(3 * p50_s) if works else None,
        tera_flops=_significant(draw.uniform(100, 2_000)) if works else None,
        device_memory_used_bytes=draw.randrange(512 * _GIB),
        device_memory_total_bytes=512 * _GIB,
        readings={
            **dict.fromkeys(READING_MEMBERS.keys() - latencies.keys(), 0),
            **(latencies if works else {}),
            "RuntimeHostMemory": draw.randrange(64 * _GIB),
            "HostMemoryUsed": draw.randrange(512 * _GIB),
            "HostMemoryTotal": 512 * _GIB,
            "HostCpuPercent": round(draw.uniform(0, 100), 2),
            "EccCorrected": draw.randrange(100),
        },
        ecc_corrected_rise=0,
        ecc_uncorrected_rise=0,
        holders=tuple(_holders(state, by_core, draw)),
        owners=owners,
        owners_more=owners_more,
        account_id="123456789012",
        lifecycle="on-demand",
        health=_health(draw),
    )


def _state(kind: str, cores: int) -> str:
    half = cores - cores // 2
    return {
        "train": BUSY_STATE * cores,
        "serve": ((BUSY_STATE + ATTACHED_IDLE_STATE) * half)[:cores],
        "half": BUSY_STATE * half + UNATTACHED_STATE * (cores - half),
        "free": UNATTACHED_STATE * cores,
    }[kind]


def _utilization(letter: str, draw: random.Random) -> float | None:
    if letter == UNKNOWN_STATE:
        return None
    return round(draw.uniform(1, 100), 2) if letter == BUSY_STATE else 0.0


def _owners(state: str, draw: random.Random) -> dict[int, str]:
    """Return the names of owners by held core."""
    held = [core for core, letter in enumerate(state) if letter in BUSY_STATE + ATTACHED_IDLE_STATE]
    names = [f"{_TEAM}/llama-{draw.getrandbits(40):010x}" for _ in range(_OWNERS_OF_FLEET_INSTANCE)]
    share = -(-len(held) // _OWNERS_OF_FLEET_INSTANCE) or 1
    return {core: names[place // share] for place, core in enumerate(held)}


def _holders(state: str, by_core: dict[int, str], draw: random.Random) -> Iterator[Holder]:
    idle = [core for core, letter in enumerate(state) if letter == ATTACHED_IDLE_STATE]
    share = -(-len(idle) // MAX_HOLDERS)
    for first in range(0, len(idle), share or 1):
        yield Holder(
            cores=core_ranges(idle[first : first + share]),
            name=by_core.get(idle[first]),
            pid=draw.randrange(1, 1 << 22),
            tag=str(draw.randrange(100_000)),
            team=_TEAM,
            last_execution=f"2027-01-15T{draw.randrange(24):02d}:{draw.randrange(60):02d}Z",
        )


def _health(draw: random.Random) -> dict[str, float]:
    produced = draw.randrange(100_000)
    return {
        "ReportsRead": 12 * produced,
        "ReportsMalformed": 0,
        "MonitorRestarts": draw.randrange(10),
        "RecordsProduced": produced,
        "RecordsDelivered": max(0, produced - 1),
        "RecordsDropped": 0,
        "SpoolRecords": 1,
        "SpoolBytes": 2_000,
        "EmitterCpuSeconds": round(draw.uniform(1, 2_000), 2),
        "EmitterMemory": draw.randrange(50, 60) * (1 << 20),
    }


def _significant(amount: float) -> float:
    return float(f"{amount:.6g}")
