"""Measures with round numbers everywhere: a bill that can be made by hand."""

from __future__ import annotations

from neuron_emf.cost.fleet import FleetSpec
from neuron_emf.cost.measurements import (
    CLUSTERS_MEASURED,
    EIGHT_LONG,
    FOUR_OWNERS,
    MIDDLE_INSTANCES,
    PAGE_CORES,
    SCATTERED_CLUSTERS,
    CloseMeasurement,
    FunctionRuns,
    IngestRun,
    InstanceSizes,
    LineVolume,
    Measurements,
    Sizes,
)

FLEETS = tuple(FleetSpec(*one) for one in CLUSTERS_MEASURED.items())
SCATTERED = FleetSpec(MIDDLE_INSTANCES, SCATTERED_CLUSTERS)


def made_run(fleet):
    """A run of close whose numbers depend on the clusters alone, in straight lines."""
    return CloseMeasurement(
        cpu_s=0.2, lines=fleet.clusters,
        printed_bytes=1_000 * fleet.clusters, metrics=30 * fleet.clusters, calls=50,
        read_units=100.0, write_units=10 + 2 * fleet.clusters,
    )  # fmt: skip


def made_delivery(records):
    return IngestRun(cpu_s=0.001 * records, calls=1, write_units=records)


RUNS = {fleet.instances: made_run(fleet) for fleet in FLEETS}
INGEST = {records: made_delivery(records) for records in (1, 10, 500)}
LINES = dict.fromkeys(("none", "cluster", "instance", "core", "legacy"), LineVolume(974, 1))
MADE = Measurements(
    as_of="2026-01-01", machine="made up", runtime_line=474, emitter_metrics=8, stack_metrics=10,
    ingest=INGEST, close={"items": RUNS, "packs": RUNS}, scattered=made_run(SCATTERED),
    split={1: made_run(FLEETS[-1])},
    by_cores={
        PAGE_CORES: InstanceSizes(
            sizes=Sizes(payload=1_000, rounded_payload=2_048, item=500, stored_share=0.1),
            minute=LINES, minute_high=LINES, report=LINES, write_units=1,
            second_units={FOUR_OWNERS: 0.0, EIGHT_LONG: 0.5},
        )
    },
    work_by_cores={
        PAGE_CORES: FunctionRuns(
            ingest={count: INGEST[count] for count in (1, 500)},
            close=dict.fromkeys(("items", "packs"), RUNS[1000]),
        )
    },
)  # fmt: skip
