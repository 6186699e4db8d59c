"""Seconds and requests of the functions, from what was measured to any fleet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neuron_emf.cost.assumptions import (
    BATCH_DELIVERIES,
    BATCH_WINDOW_S,
    CALL_S,
    CLOSE_MB,
    FIRST_CLOSE_S,
    INGEST_MB,
    LAMBDA_SLOWNESS,
    LATE_SHARE,
    MOST_CLOSE_MB,
    READINGS,
    RUNTIME_CPU_S,
    SHARD_BYTES_S,
    SHARD_RECORDS_S,
    SHARD_USE,
    SPREAD_S,
    WHOLE_PROCESSOR_MB,
)
from neuron_emf.cost.interpolation import between, close_share, ingest_share, sizes_of
from neuron_emf.cost.measurements import CLUSTERS_MEASURED, MIDDLE_INSTANCES, SCATTERED_CLUSTERS
from neuron_emf.cost.tariff import MINUTES
from neuron_wire.catalogue import ROLLUP

if TYPE_CHECKING:
    from neuron_emf.cost.fleet import FleetSpec, Setup
    from neuron_emf.cost.measurements import Form, Measurements


@dataclass(frozen=True, slots=True)
class IngestLoad:
    """
    What ingest does for a fleet.

    Attributes:
        records: Of one invocation.

        invocations: Of a month.

        seconds: Of one invocation, as it is billed.

        write_units: Of a month.
    """

    records: float
    invocations: float
    seconds: float
    write_units: float


@dataclass(frozen=True, slots=True)
class CloseLoad:
    """
    What close does for a fleet, each minute.

    Attributes:
        memory_mb: Of the function: the stack's parameter `CloseMemory`.

        first_s: Until a minute that is complete has been read and published.

        seconds: Of one run, as it is billed.

        read_units: Of one run.

        write_units: Of one run.

        printed_bytes: Of one run.

        lines: Of one run.

        metrics: That its lines define, of all clusters.
    """

    memory_mb: int
    first_s: float
    seconds: float
    read_units: float
    write_units: float
    printed_bytes: float
    lines: float
    metrics: float


def shards_of(measurements: Measurements, fleet: FleetSpec) -> int:
    """Shards that the busiest second of a fleet needs."""
    records_s = fleet.instances / SPREAD_S
    bytes_s = records_s * sizes_of(measurements, fleet.cores).payload
    return max(1, math.ceil(max(records_s / SHARD_RECORDS_S, bytes_s / SHARD_BYTES_S) / SHARD_USE))


def ingest_of(measurements: Measurements, fleet: FleetSpec, setup: Setup) -> IngestLoad:
    """IngestLoad for *fleet*."""
    instances = fleet.instances
    records = 1.0
    if setup.mode == "kinesis":
        shards = setup.stream_shards or shards_of(measurements, fleet)
        arriving = instances / shards * BATCH_WINDOW_S / SPREAD_S
        records = min(float(BATCH_DELIVERIES), max(1.0, arriving))

    # A single record that comes by Kinesis is taken for one that comes straight.
    def of_record(name: str) -> float:
        values = {count: getattr(run, name) / count for count, run in measurements.ingest.items()}
        return between(values, records) * ingest_share(measurements, fleet.cores, records, name)

    def of_invocation(name: str) -> float:
        values = {count: float(getattr(run, name)) for count, run in measurements.ingest.items()}
        return between(values, records)

    cpu_s = records * of_record("cpu_s")
    units = _units_alone(measurements, fleet) if records == 1 else of_record("write_units")
    seconds = seconds_of(cpu_s + RUNTIME_CPU_S, of_invocation("calls"), INGEST_MB[setup.mode])
    return IngestLoad(
        records=records,
        invocations=MINUTES * instances / records,
        seconds=seconds,
        write_units=MINUTES * instances * units,
    )


def _units_alone(measurements: Measurements, fleet: FleetSpec) -> float:
    """Write units of a record that is stored by itself."""
    return between(
        {cores: each.write_units for cores, each in measurements.by_cores.items()}, fleet.cores
    )


def close_of(measurements: Measurements, fleet: FleetSpec, setup: Setup) -> CloseLoad:
    """CloseLoad for *fleet*, with the least memory with which close keeps up."""
    processes = sorted(measurements.split)
    sizes = [(1, CLOSE_MB), *((count, count * WHOLE_PROCESSOR_MB) for count in processes)]
    loads = [
        _close_with(measurements, fleet, setup, count, min(memory_mb, MOST_CLOSE_MB))
        for count, memory_mb in sizes
    ]
    return next((load for load in loads if load.first_s <= FIRST_CLOSE_S), loads[-1])


def _close_with(
    measurements: Measurements, fleet: FleetSpec, setup: Setup, processes: int, memory_mb: int
) -> CloseLoad:
    form: Form = "items" if setup.mode == "direct" else "packs"
    runs = measurements.close[form]
    further = fleet.clusters - between(CLUSTERS_MEASURED, fleet.instances)
    alone, split = measurements.split[1], measurements.split[processes]

    def at(name: str, clusters: float = 0.0) -> float:
        values = {count: float(getattr(run, name)) for count, run in runs.items()}
        value = between(values, fleet.instances) + clusters * _of_a_cluster(measurements, name)
        return value * close_share(measurements, fleet.cores, form, name)

    def by_clusters(name: str) -> float:
        return at(name, further)

    cpu_s = at("cpu_s") * (split.cpu_s + split.busiest_cpu_s) / alone.cpu_s
    # What several processes ask at the same time takes the time of one.
    calls = by_clusters("calls") * (1 - (processes - 1) * split.busiest_calls / split.calls)
    readings = READINGS + any_late(fleet.instances)
    published = 1 + any_late(fleet.instances / fleet.clusters)
    return CloseLoad(
        memory_mb=memory_mb,
        first_s=seconds_of(cpu_s, calls, memory_mb),
        seconds=seconds_of(readings * cpu_s, readings * calls, memory_mb),
        read_units=readings * by_clusters("read_units"),
        write_units=published * by_clusters("write_units"),
        printed_bytes=published * by_clusters("printed_bytes"),
        lines=published * by_clusters("lines"),
        metrics=cluster_metrics(fleet),
    )


def any_late(instances: float) -> float:
    """How probable it is that a record of so many comes late: then all are read again, once."""
    return float(1 - (1 - LATE_SHARE) ** instances)


def cluster_metrics(fleet: FleetSpec) -> int:
    """Metrics of the rollups."""
    return fleet.clusters * len(ROLLUP)


def _of_a_cluster(measurements: Measurements, name: str) -> float:
    """How much more of it one more cluster takes, the instances being the same."""
    few, many = measurements.close["items"][MIDDLE_INSTANCES], measurements.scattered
    more: float = getattr(many, name) - getattr(few, name)
    return more / (SCATTERED_CLUSTERS - CLUSTERS_MEASURED[MIDDLE_INSTANCES])


def seconds_of(cpu_s: float, calls: float, memory_mb: int) -> float:
    """Seconds that Lambda bills for that processor time and those requests to the table."""
    share = min(1.0, memory_mb / WHOLE_PROCESSOR_MB)
    return cpu_s * LAMBDA_SLOWNESS / share + calls * CALL_S
