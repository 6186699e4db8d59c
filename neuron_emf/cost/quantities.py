"""
A fleet's monthly use of each AWS service: bytes, requests, seconds, metrics.

Metrics are counted from the catalogue; sizes and processor times are measurements from
`coefficients.toml`. Values that cannot be measured are assumed here, each number once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_emf.cost.tariff import DAYS_IN_MONTH, GB, HOURS_IN_MONTH, MINUTES_IN_MONTH, read_toml
from neuron_emitter.settings.run_settings import SEND_SPREAD_S
from neuron_wire.catalogue import (
    ALARMED,
    DEFAULT_ROLLUP_METRICS,
    INSTANCE_METRICS,
    MINUTE_METRICS,
    STACK_METRICS,
)
from neuron_wire.names import WEEK_HOURS
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from neuron_wire.line_members import JsonObject

    Amounts = dict[str, tuple[float, str]]  # by item: amount a month, name of its price

COEFFICIENTS_FILE: Final = Path(__file__).with_name("coefficients.toml")
MODES: Final = ("direct", "kinesis")
METRICS: Final = "metrics"
LOOKING: Final = "alarms and dashboards"
LINE_NOT_COUNTED: Final = "not counted"
COST_GROUPS: Final = ("logs", "Lambda", "DynamoDB", "Kinesis", METRICS, LOOKING, "ledger")

# Each runtime has one line an hour; an instance has at most as many runtimes as cores.
RUNTIMES_PER_INSTANCE: Final = 8
READINGS_PER_MINUTE: Final = 1.5  # readings of a minute by close: some runs find it incomplete
# share of records that come after their minute was closed, so that it is read again
LATE_SHARE: Final = 0.001
KNOWN_SHARE: Final = 0.99  # share of cores with a line at `--metrics core`
LAMBDA_SLOWNESS: Final = 1.5  # processor time on Lambda relative to the measured machine
RUNTIME_CPU_S: Final = 0.0005  # of Lambda's own client, per invocation
CALL_S: Final = 0.010  # one request to the table
WHOLE_PROCESSOR_MB: Final = 1_769  # the memory for which Lambda provides one processor
RECORD_HOURS: Final = 26 + 48  # LateMinutes and a day, then up to 48 until DynamoDB deletes
ITEM_OVERHEAD_BYTES: Final = 100  # per stored item, as DynamoDB bills it
SHARD_RECORDS_S: Final = 1_000
SHARD_BYTES_S: Final = 1 << 20
SHARD_USE: Final = 0.7  # of a shard at peak: streams do not spread evenly
STREAM_UNIT_BYTES: Final = 25 * 1_024
EVENT_BYTES: Final = 26  # added to the text of a log event
HEALTH_LINE_BYTES: Final = 700  # the line of close about itself each minute
BUCKET_QUERIES_PER_MINUTE: Final = 32  # of a minute, each a query
QUERY_BYTES: Final = 1 << 20  # of one answer
UNIT_BYTES: Final = 4_096  # of one read unit
WRITE_ITEMS: Final = 25  # of one request
LEDGER_BYTES: Final = 150  # per instance-hour with two or three owners; 90 were measured
LEDGER_OBJECTS: Final = 9  # of an hour: its parts and their summary
LEDGER_DAYS: Final = 400
# minutes that settle reads for an hour: its own twice, to find missed instances
SETTLE_MINUTES: Final = 2 * 60
SETTLE_TIMEOUT_S: Final = 860.0  # of the 900 that Lambda gives a run
DIGEST_CPU_S: Final = 0.0000025  # per instance-hour with its own owner, of 100,000
FINDINGS_READ_UNITS: Final = 1  # each minute, to read open findings
ALL_RUNTIME_LINES: Final = "emitters with --runtime-lines all"
TRAIL: Final = "a trail with data events of Lambda and DynamoDB"

FIRST_CLOSE_S: Final = 12
"""
Seconds in which close should read and publish a minute; its memory is chosen for that. Late records
of the last hour then wait at most half an hour (`tests/proof/test_lateness.py`).
"""

# From the template; a test compares them.
CLOSE_MEMORY_SIZES_MB: Final = (512, 1_024, 1_769, 3_538, 5_307, 7_076, 8_845, 10_240)
INGEST_MB: Final = {"direct": 256, "kinesis": 1_024}
BATCH_DELIVERIES: Final = 500
BATCH_WINDOW_S: Final = 20
RETENTION_DAYS: Final = 30
COUNTER_METRICS: Final = 1  # of the metric filter that counts arriving lines; filters are free
PIPELINE_ALARM_METRICS: Final = {"direct": 19, "kinesis": 20}
EMITTER_ALARM_METRICS: Final = 5  # of emitters.yaml, which watches one cluster
DASHBOARDS: Final = 1


@dataclass(frozen=True, slots=True)
class Fleet:
    """
    A fleet of equal instances, and the settings that its bill depends on.

    Attributes:
        instances: Number of instances.

        clusters: Number of clusters, of equal size.

        cores: Logical NeuronCores of an instance.

        mode: The way of lines from the log group to ingest: direct or kinesis.

        shards: Shards with `Mode=kinesis`: None for as many as the fleet needs, 0 for a stream on
            demand.

        metrics: Metrics that the emitters' lines define: none, cluster, instance, core
            or legacy.

        has_stack: False for emitters.yaml alone.

        retention_days: Days that log groups keep lines.

        has_dashboard: The stack's parameter Dashboard.
    """

    instances: int
    clusters: int = 1
    cores: int = 32
    mode: str = "direct"
    shards: int | None = None
    metrics: str = "none"
    has_stack: bool = True
    retention_days: int = RETENTION_DAYS
    has_dashboard: bool = True

    def emitters_only(self) -> Fleet:
        """Return this fleet without the stack."""
        return replace(self, has_stack=False, mode="direct", shards=None, metrics="cluster")


class Close(NamedTuple):
    """
    One reading of a minute by close, with the memory that its fleet needs.

    Attributes:
        memory_mb: The stack's parameter `CloseMemory`.

        first_s: Seconds to read and publish a complete minute.

        settle_s: Seconds for settle, with the same memory, to settle an hour.

        calls: Requests to the table.
    """

    memory_mb: int
    first_s: float
    settle_s: float
    calls: float


@lru_cache(maxsize=1)
def coefficients() -> JsonObject:
    """The measurements, with their date and machine."""
    return read_toml(COEFFICIENTS_FILE)


def measured(name: str, at: float = 0) -> float:
    """Return a coefficient, interpolated linearly if it was measured at several points."""
    value = coefficients()[name]
    if not isinstance(value, list):
        return float(value)
    for (left, low), (right, high) in pairwise(value):
        if at <= right:
            return float(low + (high - low) * (max(at, left) - left) / (right - left))
    return float(value[-1][1])


def line_bytes(fleet: Fleet) -> float:
    """Return the bytes that CloudWatch Logs bills for one instance's lines of a minute."""
    cores = fleet.cores
    size = EVENT_BYTES + measured("line-bytes", cores)
    if fleet.metrics == "none":
        return size
    if fleet.metrics == "legacy":
        return size + measured("legacy-metric-bytes", cores) * cores
    size += measured("line-metric-bytes") * _metrics_of_line(fleet)
    if cores > 100:  # further values have their own lines
        size += measured("rest-line-bytes")
    if fleet.metrics == "core":
        size += KNOWN_SHARE * cores * (EVENT_BYTES + measured("core-line-bytes"))
    return size


def _metrics_of_line(fleet: Fleet) -> int:
    by_instance = len(INSTANCE_METRICS) if fleet.metrics in ("instance", "core") else 0
    return len(MINUTE_METRICS) + by_instance


def emitter_bytes(fleet: Fleet) -> float:
    """Return the bytes that CloudWatch Logs bills for all emitters' lines in a month."""
    return fleet.instances * MINUTES_IN_MONTH * line_bytes(fleet) + _runtime_bytes(fleet)


def _runtime_bytes(fleet: Fleet) -> float:
    runtimes = HOURS_IN_MONTH * fleet.instances * min(RUNTIMES_PER_INSTANCE, fleet.cores)
    return runtimes * (EVENT_BYTES + measured("runtime-line-bytes"))


def emitter_metrics(fleet: Fleet) -> int:
    """Return the number of metrics that the emitters' lines define."""
    if fleet.metrics == "none":
        return 0
    if fleet.metrics == "legacy":
        return fleet.cores
    if fleet.metrics == "cluster":
        return _metrics_of_line(fleet) * fleet.clusters
    by_core = fleet.instances * fleet.cores if fleet.metrics == "core" else 0
    return _metrics_of_line(fleet) * (fleet.clusters + fleet.instances) + by_core


def delivery_bytes(fleet: Fleet, name: str = "delivery-bytes") -> float:
    """Return the compressed bytes of one minute line on its way to ingest."""
    directive = 0 if fleet.metrics == "none" else measured("delivery-directive-bytes")
    return measured(name, fleet.cores) + directive


def shards_of(fleet: Fleet) -> int:
    """Return the number of shards for a fleet's busiest second."""
    records_s = fleet.instances / SEND_SPREAD_S
    bytes_s = records_s * delivery_bytes(fleet)
    return max(1, math.ceil(max(records_s / SHARD_RECORDS_S, bytes_s / SHARD_BYTES_S) / SHARD_USE))


def batch_of(fleet: Fleet) -> float:
    """Return the number of records in one invocation of ingest."""
    if fleet.mode == "direct":
        return 1.0
    arriving = fleet.instances / (fleet.shards or shards_of(fleet)) * BATCH_WINDOW_S / SEND_SPREAD_S
    return min(float(BATCH_DELIVERIES), max(1.0, arriving))


def invocations_of(fleet: Fleet) -> float:
    """Return the number of invocations of ingest in a month."""
    return MINUTES_IN_MONTH * fleet.instances / batch_of(fleet)


def any_late(instances: float) -> float:
    """Return the probability that a record of *instances* is late, so that all are read again."""
    return float(1 - (1 - LATE_SHARE) ** instances)


def buckets_of(records: float) -> float:
    """Return the expected number of buckets with *records* records."""
    return BUCKET_QUERIES_PER_MINUTE * (1 - math.pow(1 - 1 / BUCKET_QUERIES_PER_MINUTE, records))


def item_bytes(fleet: Fleet) -> float:
    """Return the bytes of one record in the table, alone or packed with its batch."""
    if fleet.mode == "direct":
        return measured("item-bytes", fleet.cores)
    records = batch_of(fleet)
    packs = buckets_of(records) * measured("pack-bytes")
    return measured("packed-record-bytes", fleet.cores) + packs / records


def bucket_bytes(fleet: Fleet) -> float:
    """Return the bytes of one bucket of a minute."""
    return fleet.instances / BUCKET_QUERIES_PER_MINUTE * item_bytes(fleet)


def write_units(records: float, record_bytes: float) -> float:
    """Return the write units of records, one item per bucket; each rounds up by half a unit."""
    items = buckets_of(records)
    item_kib = records / items * record_bytes / 1_024
    return items * (1.0 if item_kib <= 1 else item_kib + 0.5)


def seconds_of(cpu_s: float, calls: float, memory_mb: int) -> float:
    """Return the seconds that Lambda bills for processor time and table requests."""
    share = min(1.0, memory_mb / WHOLE_PROCESSOR_MB)
    return cpu_s * LAMBDA_SLOWNESS / share + calls * CALL_S


def close_of(fleet: Fleet) -> Close:
    """Return close with the smallest memory that keeps up."""
    loads = [_close_with(fleet, memory_mb) for memory_mb in CLOSE_MEMORY_SIZES_MB]
    keeping_up = (
        load
        for load in loads
        if load.first_s <= FIRST_CLOSE_S and load.settle_s <= SETTLE_TIMEOUT_S
    )
    return next(keeping_up, loads[-1])


def _close_with(fleet: Fleet, memory_mb: int) -> Close:
    instances = fleet.instances
    processes = max(1, round(memory_mb / WHOLE_PROCESSOR_MB))
    # The share of the process that reads the most buckets.
    busiest = math.ceil(BUCKET_QUERIES_PER_MINUTE / processes) / BUCKET_QUERIES_PER_MINUTE
    reading_s = instances * measured("read-cpu-s", fleet.cores) * busiest
    cpu_s = measured("close-cpu-s") + fleet.clusters * measured("cluster-cpu-s")
    cpu_s += instances * measured("merge-cpu-s") + reading_s
    queries = BUCKET_QUERIES_PER_MINUTE * busiest
    calls = measured("close-calls") + measured("cluster-calls") * fleet.clusters
    calls += buckets_of(instances) + queries * (1 + int(bucket_bytes(fleet) / QUERY_BYTES))
    settle_s = seconds_of(SETTLE_MINUTES * reading_s, SETTLE_MINUTES * queries, memory_mb)
    return Close(memory_mb, seconds_of(cpu_s, calls, memory_mb), settle_s, calls)


def readings_of(fleet: Fleet) -> float:
    """Return how often close reads a minute."""
    return READINGS_PER_MINUTE + any_late(fleet.instances)


def publications_of(fleet: Fleet) -> float:
    """Return how often close publishes a minute of a cluster."""
    return 1 + any_late(fleet.instances / fleet.clusters)


def quantities(fleet: Fleet) -> dict[str, Amounts]:
    """Return the monthly use of *fleet* by group."""
    metrics = emitter_metrics(fleet)
    if not fleet.has_stack:
        return {
            "logs": _logs(fleet, 0.0),
            METRICS: {"of the emitters": (metrics, "metrics-first")},
            LOOKING: {"metrics used by alarms": (EMITTER_ALARM_METRICS, "alarm")},
        }
    close = close_of(fleet)
    metrics += len(DEFAULT_ROLLUP_METRICS) * fleet.clusters + len(STACK_METRICS) + COUNTER_METRICS
    alarms = len(ALARMED) * fleet.clusters + PIPELINE_ALARM_METRICS[fleet.mode]
    looking: Amounts = {"metrics used by alarms": (alarms, "alarm")}
    if fleet.has_dashboard:
        looking["dashboards"] = DASHBOARDS, "dashboard"
    rollup_bytes = measured("rollup-bytes", fleet.instances / fleet.clusters) + EVENT_BYTES
    rollup_bytes += measured("rollup-metric-bytes") * len(DEFAULT_ROLLUP_METRICS)
    printed_bytes = publications_of(fleet) * fleet.clusters * rollup_bytes + HEALTH_LINE_BYTES
    return {
        "logs": _logs(fleet, MINUTES_IN_MONTH * printed_bytes),
        "Lambda": _functions(fleet, close),
        "DynamoDB": _table(fleet),
        "Kinesis": _stream(fleet) if fleet.mode == "kinesis" else {},
        METRICS: {"of clusters and the stack": (metrics, "metrics-first")},
        LOOKING: looking,
        "ledger": _ledger(fleet, close),
    }


def not_counted(fleet: Fleet) -> Amounts:
    """Return the monthly use that only some accounts have, or that depends on events."""
    written = emitter_bytes(fleet)
    amounts: Amounts = {
        "emitters' lines through the endpoint": (written / GB, "endpoint-data"),
        "a query over a day of emitters' lines": (written / DAYS_IN_MONTH / GB, "query"),
        ALL_RUNTIME_LINES: (59 * _runtime_bytes(fleet) / GB, "log-ingestion"),
    }
    names = ["all"]
    if fleet.has_stack:
        names += ["stack", fleet.mode]
        amounts[TRAIL] = _data_events(fleet), "data-event"
    for name in names:
        for item, (each_hour, each_month, price) in coefficients()["not-counted"][name].items():
            amounts[item] = HOURS_IN_MONTH * each_hour + each_month, price
    return amounts


def _data_events(fleet: Fleet) -> float:
    """Return the invocations, and the requests to the table of ingest, close and settle."""
    ingested = invocations_of(fleet) * (1 + _write_calls(fleet))
    closed = MINUTES_IN_MONTH * (1 + readings_of(fleet) * close_of(fleet).calls)
    return ingested + closed + HOURS_IN_MONTH * SETTLE_MINUTES * BUCKET_QUERIES_PER_MINUTE


def _write_calls(fleet: Fleet) -> int:
    return math.ceil(buckets_of(batch_of(fleet)) / WRITE_ITEMS)


def _logs(fleet: Fleet, rollups: float) -> Amounts:
    written = emitter_bytes(fleet)
    days = fleet.retention_days
    kept = (written + rollups) * measured("stored-share", fleet.cores) * days / DAYS_IN_MONTH
    return {
        "emitters' lines": (written / GB, "log-ingestion"),
        **({"rollups": (rollups / GB, "log-ingestion")} if rollups else {}),
        f"kept for {counted(days, 'day')}": (kept / GB, "log-storage"),
    }


def _functions(fleet: Fleet, close: Close) -> Amounts:
    invocations = invocations_of(fleet)
    memory_mb = INGEST_MB[fleet.mode]
    cpu_s = measured("ingest-cpu-s") + batch_of(fleet) * measured("record-cpu-s", fleet.cores)
    seconds = seconds_of(cpu_s + RUNTIME_CPU_S, _write_calls(fleet), memory_mb)
    close_s = MINUTES_IN_MONTH * readings_of(fleet) * close.first_s
    return {
        "ingest, invocations": (invocations, "lambda-requests"),
        "ingest, time": (invocations * seconds * memory_mb / 1_024, "lambda-gb-s"),
        "close, invocations": (MINUTES_IN_MONTH, "lambda-requests"),
        "close, time": (close_s * close.memory_mb / 1_024, "lambda-gb-s"),
        "close, schedule": (MINUTES_IN_MONTH, "schedule"),
    }


def _table(fleet: Fleet) -> Amounts:
    instances = fleet.instances
    registry_bytes = measured("registry-bytes")
    item = item_bytes(fleet)
    ingested = invocations_of(fleet) * write_units(batch_of(fleet), item)
    stored = measured("cluster-write-units", instances / fleet.clusters) * fleet.clusters
    stored += measured("close-write-units") + write_units(instances, registry_bytes)
    read = measured("close-read-units") + instances * registry_bytes / UNIT_BYTES
    read += BUCKET_QUERIES_PER_MINUTE * max(1.0, bucket_bytes(fleet) / UNIT_BYTES + 0.5)
    read = readings_of(fleet) * read + FINDINGS_READ_UNITS
    kept = instances * RECORD_HOURS * 60 * (item + ITEM_OVERHEAD_BYTES)
    return {
        "ingest, records": (ingested, "write-unit"),
        "close, writing": (MINUTES_IN_MONTH * publications_of(fleet) * stored, "write-unit"),
        "close, reading": (MINUTES_IN_MONTH * read, "read-unit"),
        "storage": (kept / GB, "table-storage"),
    }


def _stream(fleet: Fleet) -> Amounts:
    lines = MINUTES_IN_MONTH * fleet.instances
    size = delivery_bytes(fleet)
    if fleet.shards == 0:
        written = lines * delivery_bytes(fleet, "rounded-delivery-bytes")
        return {
            "stream on demand": (HOURS_IN_MONTH, "stream-hour"),
            "in": (written / GB, "stream-in"),
            "out": (lines * size / GB, "stream-out"),
        }
    shards = fleet.shards or shards_of(fleet)
    units = lines * math.ceil(size / STREAM_UNIT_BYTES)
    return {
        "shards": (HOURS_IN_MONTH * shards, "shard-hour"),
        "deliveries": (units, "stream-put"),
    }


def _ledger(fleet: Fleet, close: Close) -> Amounts:
    # These reads are not consistent, so they cost half.
    units = max(1.0, bucket_bytes(fleet) / UNIT_BYTES) / 2
    read = SETTLE_MINUTES * BUCKET_QUERIES_PER_MINUTE * units
    kept = HOURS_IN_MONTH * fleet.instances * LEDGER_BYTES * LEDGER_DAYS / DAYS_IN_MONTH
    got = 2 * WEEK_HOURS  # summaries of the week, and of the week before
    digests = HOURS_IN_MONTH / WEEK_HOURS
    digest_s = seconds_of(got * fleet.instances * DIGEST_CPU_S, got, WHOLE_PROCESSOR_MB)
    digest_gb_s = digests * digest_s * WHOLE_PROCESSOR_MB / 1_024
    settle_gb_s = HOURS_IN_MONTH * close.settle_s * close.memory_mb / 1_024
    return {
        "settle, time": (settle_gb_s, "lambda-gb-s"),
        "settle, schedule": (HOURS_IN_MONTH, "schedule"),
        "settle, reading": (HOURS_IN_MONTH * read, "read-unit"),
        "objects put": (HOURS_IN_MONTH * LEDGER_OBJECTS, "object-put"),
        f"objects kept for {LEDGER_DAYS} days": (kept / GB, "object-storage"),
        "digest, time": (digest_gb_s, "lambda-gb-s"),
        "digest, objects got": (digests * got, "object-get"),
    }
