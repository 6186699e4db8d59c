"""
Seconds and requests of the functions, from what was measured to any fleet.

Between two sizes that were measured a straight line is drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from benchmarks.scale.fleets import (
    BATCH_DELIVERIES,
    BATCH_WINDOW_S,
    CALL_S,
    CLOSE_MB,
    FLEETS,
    INGEST_MB,
    LAMBDA_SLOWNESS,
    MIDDLE,
    READINGS,
    RUNTIME_CPU_S,
    SCATTERED,
    SHARD_BYTES_S,
    SHARD_RECORDS_S,
    SHARD_USE,
    SPREAD_S,
    WHOLE_PROCESSOR_MB,
    Fleet,
    Mode,
)
from benchmarks.scale.tariff import MINUTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.scale.measured import Measured


@dataclass(frozen=True, slots=True)
class Ingest:
    """
    What ingest does for a fleet.

    Attributes:
        records: Of one invocation.

        invocations: Of a month.

        seconds: Of one invocation, as it is billed.

        busiest_at_a_time: Invocations at the same time, in the busiest second.

        write_units: Of a month.

        busiest_write_units: Of the busiest second.

        printed_bytes: Of one invocation.
    """

    records: float
    invocations: float
    seconds: float
    busiest_at_a_time: float
    write_units: float
    busiest_write_units: float
    printed_bytes: float


@dataclass(frozen=True, slots=True)
class Close:
    """
    What close does for a fleet, each minute.

    Attributes:
        seconds: Of one run, as it is billed.

        peak_mib: Most memory of it.

        read_units: Of one run.

        write_units: Of one run.

        printed_bytes: Of one run.

        lines: Of one run.

        metrics: That its lines define, of all clusters.

        largest_item_bytes: Of the items it puts.
    """

    seconds: float
    peak_mib: float
    read_units: float
    write_units: float
    printed_bytes: float
    lines: float
    metrics: float
    largest_item_bytes: float


def shards_of(found: Measured, instances: int) -> int:
    """
    Shards that the busiest second of a fleet needs.
    """
    records_s = instances / SPREAD_S
    bytes_s = records_s * found.sizes.payload
    return max(1, math.ceil(max(records_s / SHARD_RECORDS_S, bytes_s / SHARD_BYTES_S) / SHARD_USE))


def shard_load(found: Measured, instances: int) -> float:
    """
    Seconds of ingest for each second of the busiest shard; from 1 on it falls behind.
    """
    one = ingest_of(found, Fleet(instances, 1), "kinesis")
    return one.busiest_at_a_time / shards_of(found, instances)


def ingest_of(found: Measured, fleet: Fleet, mode: Mode) -> Ingest:
    """
    Ingest for *fleet*.
    """
    instances = fleet.instances
    records = 1.0
    if mode == "kinesis":
        arriving = instances / shards_of(found, instances) * BATCH_WINDOW_S / SPREAD_S
        records = min(float(BATCH_DELIVERIES), max(1.0, arriving))
    measured = found.ingest
    # A single record that comes by Kinesis is taken for one that comes straight.
    cpu_s = records * between(
        {count: one.cpu_s / count for count, one in measured.items()}, records
    )
    units = between({count: one.write_units / count for count, one in measured.items()}, records)
    calls = between({count: float(one.calls) for count, one in measured.items()}, records)
    printed = between({count: float(one.printed_bytes) for count, one in measured.items()}, records)
    seconds = seconds_of(cpu_s + RUNTIME_CPU_S, calls, INGEST_MB[mode])
    return Ingest(
        records=records,
        invocations=MINUTES * instances / records,
        seconds=seconds,
        busiest_at_a_time=instances / SPREAD_S / records * seconds,
        write_units=MINUTES * instances * units,
        busiest_write_units=instances / SPREAD_S * units,
        printed_bytes=printed,
    )


def close_of(found: Measured, fleet: Fleet, mode: Mode) -> Close:
    """
    Close for *fleet*.
    """
    runs = found.close["items" if mode == "direct" else "packs"]
    measured_in = {one.instances: float(one.clusters) for one in FLEETS}
    further = fleet.clusters - between(measured_in, fleet.instances)

    def at(name: str) -> float:
        values = {count: float(getattr(one, name)) for count, one in runs.items()}
        return between(values, fleet.instances)

    def by_clusters(name: str) -> float:
        return at(name) + further * _of_a_cluster(found, name)

    calls = READINGS * by_clusters("calls")
    return Close(
        seconds=seconds_of(READINGS * at("cpu_s"), calls, CLOSE_MB),
        peak_mib=at("peak_mib"),
        read_units=READINGS * by_clusters("read_units"),
        write_units=by_clusters("write_units"),
        printed_bytes=by_clusters("printed_bytes"),
        lines=by_clusters("lines"),
        metrics=by_clusters("metrics"),
        largest_item_bytes=at("largest_item_bytes"),
    )


def _of_a_cluster(found: Measured, name: str) -> float:
    """
    How much more of it one more cluster takes, the instances being the same.
    """
    few, many = found.close["items"][MIDDLE.instances], found.scattered
    more: float = getattr(many, name) - getattr(few, name)
    return more / (SCATTERED.clusters - MIDDLE.clusters)


def seconds_of(cpu_s: float, calls: float, memory_mb: int) -> float:
    """
    Seconds that Lambda bills for that processor time and those requests to the table.
    """
    share = min(1.0, memory_mb / WHOLE_PROCESSOR_MB)
    return cpu_s * LAMBDA_SLOWNESS / share + calls * CALL_S


def between(values: Mapping[int, float], at: float) -> float:
    """
    The value at *at* on the straight lines between *values*; outside of them the nearest one.
    """
    places = sorted(values)
    if at <= places[0]:
        return values[places[0]]
    for left, right in pairwise(places):
        if at <= right:
            return values[left] + (values[right] - values[left]) * (at - left) / (right - left)
    return values[places[-1]]
