"""
Every metric of the page: its name, its type, what it says, and its labels.

The names, types and labels of `SCRIPT` are those of neuron-monitor-prometheus.py,
as far as public copies show them; what each says where that script is wrong or
silent is ours. A label has one of a bounded number of values at any time: a
core, a kind, a runtime that exists. What has no such bound over time (a pod, a
job) is the label of one metric alone, `neuron_emf_core_holder`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

GAUGE: Final = "gauge"
COUNTER: Final = "counter"

INSTANCE_LABELS: Final = (
    "instance_name", "instance_id", "instance_type", "availability_zone", "region", "subnet_id",
)  # fmt: skip
"""Of every metric of the script; `ultraserver_id` is added where a report tells it."""

OWN_LABELS: Final = ("cluster", "instance_id")
"""Of every metric of ours but `neuron_emf_build_info`."""


@dataclass(frozen=True, slots=True)
class Family:
    """
    One metric.

    Attributes:
        name: As its samples are called; of a counter with `_total`.

        kind: `gauge` or `counter`.

        meaning: One sentence, the help of the page.

        labels: Beside those that the whole part of the page has.
    """

    name: str
    kind: Literal["gauge", "counter"]
    meaning: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a family, and the values of its labels in the family's order."""

    family: Family
    labels: tuple[str, ...]
    value: float


UTILIZATION: Final = Family(
    "neuroncore_utilization_ratio",
    GAUGE,
    "Busy share of the period, 0 to 1: maximum over the runtimes with this tag.",
    ("runtime_tag", "neuroncore"),
)
RUNTIME_VCPU: Final = Family(
    "neuron_runtime_vcpu_usage_ratio",
    GAUGE,
    "vCPUs in use: sum over the runtimes with this tag.",
    ("runtime_tag", "usage_type"),
)
RUNTIME_MEMORY: Final = Family(
    "neuron_runtime_memory_used_bytes",
    GAUGE,
    "Memory in use: sum over the runtimes with this tag.",
    ("runtime_tag", "memory_location"),
)
CORE_MEMORY: Final = {
    use: Family(
        f"neuroncore_memory_usage_{use}",
        GAUGE,
        f"Device memory of the core used for {words}, bytes: sum over the runtimes with this tag.",
        ("runtime_tag", "memory_location", "neuroncore"),
    )
    for use, words in (
        ("constants", "constants"),
        ("model_code", "model code"),
        ("model_shared_scratchpad", "the scratchpad shared by models"),
        ("runtime_memory", "the runtime itself"),
        ("tensors", "tensors"),
    )
}
CORE_MEMORY_LOCATION: Final = "None"
"""`memory_location` of these five: the script leaks it, and a join over its labels needs it."""

EXECUTION_ERRORS: Final = Family(
    "execution_errors_total",
    COUNTER,
    "Errors by type since the emitter or the runtime started.",
    ("runtime_tag", "error_type"),
)
EXECUTION_STATUS: Final = Family(
    "execution_status_total",
    COUNTER,
    "Executions by outcome since the emitter or the runtime started.",
    ("runtime_tag", "status_type"),
)
LATENCY: Final = Family(
    "execution_latency_seconds",
    GAUGE,
    "Execution latency by percentile: maximum over the runtimes with this tag, minimum for p0.",
    ("runtime_tag", "percentile"),
)
ECC: Final = Family(
    "hardware_ecc_events_total",
    COUNTER,
    "Increase of the memory error counter since the emitter started.",
    ("event_type", "neuron_device_index"),
)
VCPU_COUNT: Final = Family("system_vcpu_count", GAUGE, "vCPUs of the instance.")
VCPU: Final = Family(
    "system_vcpu_usage_ratio",
    GAUGE,
    "Busy share of all vCPUs, 0 to 1: nice counts as user; I/O wait and interrupts as system.",
    ("usage_type",),
)
SYSTEM_BYTES: Final = {
    member: Family(f"system_{member}", GAUGE, f"{words} of the instance, bytes.")
    for member, words in (
        ("memory_total_bytes", "Memory"),
        ("memory_used_bytes", "Memory in use"),
        ("swap_total_bytes", "Swap"),
        ("swap_used_bytes", "Swap in use"),
    )
}
INSTANCE_INFO: Final = Family(
    "instance_info", GAUGE, "The instance, as reported by neuron-monitor and the metadata service."
)
HARDWARE_INFO: Final = Family(
    "neuron_hardware_info",
    GAUGE,
    "Devices, logical cores per device, and bytes per device.",
    ("neuron_device_count", "neuroncore_per_device_count", "neuron_device_memory_size"),
)

SCRIPT: Final = (
    UTILIZATION, RUNTIME_VCPU, RUNTIME_MEMORY, *CORE_MEMORY.values(), EXECUTION_ERRORS,
    EXECUTION_STATUS, LATENCY, ECC, VCPU_COUNT, VCPU, *SYSTEM_BYTES.values(), INSTANCE_INFO,
    HARDWARE_INFO,
)  # fmt: skip

CORE_STATE: Final = Family(
    "neuron_emf_core_state",
    GAUGE,
    "1 for the core's state in the last minute, 0 for the other three.",
    ("neuroncore", "state"),
)
IDLE_FOR: Final = Family(
    "neuron_emf_core_idle_seconds",
    GAUGE,
    "Seconds since the core was last busy, in whole consecutive minutes; absent while unknown.",
    ("neuroncore",),
)
HOLDER: Final = Family(
    "neuron_emf_core_holder",
    GAUGE,
    "1 for each of up to 4 owners that held the core in the last minute, busy or not.",
    ("neuroncore", "owner"),
)
CORES: Final = Family(
    "neuron_emf_cores", GAUGE, "Cores of the instance by state in the last minute.", ("state",)
)
COVERED: Final = Family(
    "neuron_emf_covered_seconds",
    GAUGE,
    "Seconds of the last minute that utilization samples cover, 0 to 60.",
)
MINUTE_AT: Final = Family(
    "neuron_emf_minute_timestamp_seconds", GAUGE, "Start of the last closed minute."
)
REPORT_AT: Final = Family(
    "neuron_emf_report_timestamp_seconds", GAUGE, "Time the last report was received."
)
RECORDS_DROPPED: Final = Family(
    "neuron_emf_records_dropped_total", COUNTER, "Records dropped, by reason.", ("reason",)
)
HEALTH: Final = {
    "ReportsRead": Family("neuron_emf_reports_read_total", COUNTER, "Reports taken."),
    "ReportsMalformed": Family(
        "neuron_emf_reports_malformed_total", COUNTER, "Pieces of input that were not a report."
    ),
    "MonitorRestarts": Family(
        "neuron_emf_monitor_restarts_total", COUNTER, "Restarts of neuron-monitor."
    ),
    "RecordsProduced": Family(
        "neuron_emf_records_produced_total", COUNTER, "Records written to the spool."
    ),
    "RecordsDelivered": Family(
        "neuron_emf_records_delivered_total", COUNTER, "Records acknowledged by the destination."
    ),
    "SpoolRecords": Family("neuron_emf_spool_records", GAUGE, "Records waiting in the spool."),
    "SpoolBytes": Family(
        "neuron_emf_spool_bytes", GAUGE, "Bytes of the records waiting in the spool."
    ),
    "EmitterCpuSeconds": Family(
        "neuron_emf_cpu_seconds_total", COUNTER, "CPU time used by the emitter."
    ),
    "EmitterMemory": Family(
        "neuron_emf_resident_memory_bytes", GAUGE, "Resident memory of the emitter."
    ),
}
"""By the member of the minute line that says the same; as of the last minute."""

LEFT_OUT: Final = Family(
    "neuron_emf_runtimes_left_out",
    GAUGE,
    "Runtimes of the last report that did not fit on the page.",
)
BUILD_INFO: Final = Family("neuron_emf_build_info", GAUGE, "The emitter.", ("version",))

OWN: Final = (
    CORE_STATE, IDLE_FOR, HOLDER, CORES, COVERED, MINUTE_AT, REPORT_AT, *HEALTH.values(),
    RECORDS_DROPPED, LEFT_OUT, BUILD_INFO,
)  # fmt: skip
