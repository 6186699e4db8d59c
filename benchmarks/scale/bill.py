"""
One month of one fleet in one mode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchmarks.scale.fleets import (
    CLOSE_MB,
    COUNTERFACTUAL_METRICS,
    INGEST_MB,
    ITEM_OVERHEAD_BYTES,
    RECORD_HOURS,
    RETENTION_DAYS,
    RUNTIMES,
    STREAM_UNIT_BYTES,
    Fleet,
    Mode,
)
from benchmarks.scale.functions import Close, Ingest, close_of, ingest_of, shards_of
from benchmarks.scale.measured import EVENT_BYTES
from benchmarks.scale.tariff import GB, HOURS, MINUTES, PRICES, metrics_usd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.scale.measured import Measured

HEALTH_LINE_BYTES: Final = 700  # what close says about itself each minute
CLUSTER_ALARMS: Final = 6  # the template's, each on every cluster
PIPELINE_ALARMS: Final[dict[Mode, int]] = {"direct": 22, "kinesis": 23}
"""The template's other alarms; a test compares. One more waits for the stream's age."""

_DAYS: Final = HOURS / 24


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One line of a bill.

    Attributes:
        group: What it is summed up under.

        what: What is paid for.

        quantity: How much of it, in a month.

        unit: Of that.

        usd: For it.
    """

    group: str
    what: str
    quantity: float
    unit: str
    usd: float


GROUPS: Final = ("logs", "Lambda", "DynamoDB", "Kinesis", "metrics", "alarms and dashboard")


def bill(found: Measured, fleet: Fleet, mode: Mode) -> list[Entry]:
    """
    Everything that *fleet* costs in *mode*.
    """
    ingest, close = ingest_of(found, fleet, mode), close_of(found, fleet, mode)
    entries = [
        *_logs(found, fleet, ingest, close),
        *_functions(ingest, close, mode),
        *_table(found, fleet, ingest, close, mode),
        *_metrics(found, fleet, close, mode),
    ]
    return [*entries, *_stream(found, fleet)] if mode == "kinesis" else entries


def usd(entries: list[Entry], group: str = "") -> float:
    """
    The sum, of one group or of all.
    """
    return sum(entry.usd for entry in entries if group in ("", entry.group))


def counterfactual_usd(instances: int) -> float:
    """
    The same instances by PutMetricData: 27 metrics each, a request a minute.
    """
    requests = MINUTES * instances * PRICES["put_metric_data"].usd_each
    return metrics_usd(COUNTERFACTUAL_METRICS * instances) + requests


def on_demand_usd(found: Measured, instances: int) -> float:
    """
    The stream of a fleet, if Kinesis scales it by itself.
    """
    written_gb = MINUTES * instances * found.sizes.rounded_payload / GB
    read_gb = MINUTES * instances * found.sizes.payload / GB
    return (
        HOURS * PRICES["stream_hour"].usd_each
        + written_gb * PRICES["stream_in"].usd_each
        + read_gb * PRICES["stream_out"].usd_each
    )


def shards_usd(found: Measured, instances: int) -> float:
    """
    The stream of a fleet, with as many shards as it needs.
    """
    return usd(list(_stream(found, Fleet(instances, 1))))


def _entry(group: str, what: str, quantity: float, price: str) -> Entry:
    one = PRICES[price]
    return Entry(group, what, quantity, one.unit, quantity * one.usd_each)


def _logs(found: Measured, fleet: Fleet, ingest: Ingest, close: Close) -> Iterator[Entry]:
    minute = MINUTES * (found.sizes.line + EVENT_BYTES)
    runtime = HOURS * RUNTIMES * (found.sizes.runtime_line + EVENT_BYTES)
    written = fleet.instances * (minute + runtime)
    rollups = MINUTES * (close.printed_bytes + EVENT_BYTES * close.lines + HEALTH_LINE_BYTES)
    health = ingest.invocations * (ingest.printed_bytes + EVENT_BYTES)
    stored = (written + rollups + health) * found.sizes.stored_share * RETENTION_DAYS / _DAYS
    yield _entry("logs", "emitters' lines", written / GB, "log_ingestion")
    yield _entry("logs", "rollups", rollups / GB, "log_ingestion")
    yield _entry("logs", "what ingest says about itself", health / GB, "log_ingestion")
    yield _entry("logs", f"kept for {RETENTION_DAYS} days", stored / GB, "log_storage")


def _functions(ingest: Ingest, close: Close, mode: Mode) -> Iterator[Entry]:
    ingest_gb_s = ingest.invocations * ingest.seconds * INGEST_MB[mode] / 1_024
    close_gb_s = MINUTES * close.seconds * CLOSE_MB / 1_024
    yield _entry("Lambda", "ingest, invocations", ingest.invocations, "lambda_requests")
    yield _entry("Lambda", "ingest, time", ingest_gb_s, "lambda_gb_s")
    yield _entry("Lambda", "close, invocations", MINUTES, "lambda_requests")
    yield _entry("Lambda", "close, time", close_gb_s, "lambda_gb_s")
    yield _entry("Lambda", "close, schedule", MINUTES, "schedule")


def _table(
    found: Measured, fleet: Fleet, ingest: Ingest, close: Close, mode: Mode
) -> Iterator[Entry]:

    records = found.sizes.item
    if mode == "kinesis":
        records = ingest.write_units / MINUTES / fleet.instances * 1_024
    stored = fleet.instances * RECORD_HOURS * 60 * (records + ITEM_OVERHEAD_BYTES)
    yield _entry("DynamoDB", "ingest, records", ingest.write_units, "write_unit")
    yield _entry("DynamoDB", "close, writing", MINUTES * close.write_units, "write_unit")
    yield _entry("DynamoDB", "close, reading", MINUTES * close.read_units, "read_unit")
    yield _entry("DynamoDB", "storage", stored / GB, "table_storage")


def _stream(found: Measured, fleet: Fleet) -> Iterator[Entry]:
    shards = shards_of(found, fleet.instances)
    units = MINUTES * fleet.instances * -(-found.sizes.payload // STREAM_UNIT_BYTES)
    yield _entry("Kinesis", "shards", HOURS * shards, "shard_hour")
    yield _entry("Kinesis", "deliveries", units, "stream_put")


def _metrics(found: Measured, fleet: Fleet, close: Close, mode: Mode) -> Iterator[Entry]:
    emitters = found.emitter_metrics * fleet.clusters
    metrics = close.metrics + emitters + found.stack_metrics
    yield Entry("metrics", "of clusters and the stack", metrics, "metrics", metrics_usd(metrics))
    alarms = CLUSTER_ALARMS * fleet.clusters + PIPELINE_ALARMS[mode]
    yield _entry("alarms and dashboard", "metrics that alarms look at", alarms, "alarm")
    yield _entry("alarms and dashboard", "dashboard", 1, "dashboard")
