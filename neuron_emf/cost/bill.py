"""One month of one fleet, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_emf.cost.assumptions import (
    CLUSTER_ALARMS,
    COUNTER_METRICS,
    DIGEST_CPU_S,
    FINDING_WRITE_UNITS,
    FINDINGS_READ_UNITS,
    HEALTH_LINE_BYTES,
    INGEST_MB,
    ITEM_OVERHEAD_BYTES,
    LEDGER_BYTES,
    LEDGER_DAYS,
    LEDGER_OBJECTS,
    PIPELINE_ALARM_METRICS,
    RECORD_HOURS,
    SETTLE_CPU_S,
    SETTLE_READINGS,
    STREAM_UNIT_BYTES,
    WHOLE_PROCESSOR_MB,
)
from neuron_emf.cost.emitter_lines import emitter_bytes, emitter_series
from neuron_emf.cost.functions import (
    CloseLoad,
    IngestLoad,
    close_of,
    ingest_of,
    seconds_of,
    shards_of,
)
from neuron_emf.cost.interpolation import sizes_of
from neuron_emf.cost.measurements import EVENT_BYTES, Measurements, Sizes
from neuron_emf.cost.tariff import DAYS, GB, HOURS, MINUTES, Tariff, listed
from neuron_wire.catalogue import STACK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from neuron_emf.cost.fleet import FleetSpec, Setup

METRICS: Final = "metrics"
LOOKING: Final = "alarms and dashboards"
LEDGER: Final = "ledger"
FINDINGS: Final = "findings"
DASHBOARDS: Final = 1
EMITTER_ALARM_METRICS: Final = 5  # of emitters.yaml, which watches one cluster
GROUPS: Final = ("logs", "Lambda", "DynamoDB", "Kinesis", METRICS, LOOKING, LEDGER, FINDINGS)

_BUCKETS: Final = 32  # of a minute, each a query
_READ_UNIT_BYTES: Final = 4_096
_WEEK_HOURS: Final = 7 * 24


@dataclass(frozen=True, slots=True)
class BillEntry:
    """
    One line of a bill.

    Attributes:
        group: What it is summed up under.

        what: What is paid for.

        quantity: How much of it, in a month.

        unit: Of that.

        usd: For it; None if its price is unknown.

        prices: By which names of the tariff.
    """

    group: str
    what: str
    quantity: float
    unit: str
    usd: float | None
    prices: tuple[str, ...]


def bill(
    measurements: Measurements, fleet: FleetSpec, setup: Setup, tariff: Tariff | None = None
) -> list[BillEntry]:
    """Everything that *fleet* costs; at list prices, unless *tariff* has others."""
    month = _Month(measurements, fleet, setup, listed() if tariff is None else tariff)
    if not setup.has_stack:
        return list(month.emitters())
    ingest, close = ingest_of(measurements, fleet, setup), close_of(measurements, fleet, setup)
    entries = [
        *month.logs(close),
        *month.functions(ingest, close),
        *month.table(ingest, close),
        *month.metrics(close),
        *month.ledger(ingest, close.memory_mb),
        *month.findings(),
    ]
    if setup.mode == "direct":
        return entries
    stream = month.stream_on_demand() if setup.stream_shards == 0 else month.stream()
    return [*entries, *stream]


def usd(entries: Iterable[BillEntry], group: str = "") -> float:
    """The sum of what is known, of one group or of all."""
    return sum(entry.usd or 0.0 for entry in entries if group in ("", entry.group))


def unknown(entries: Iterable[BillEntry]) -> list[BillEntry]:
    """Entries that no sum holds: there is some of it, and its price is unknown."""
    return [entry for entry in entries if entry.usd is None and entry.quantity]


@dataclass(frozen=True, slots=True)
class _Month:
    """The entries of each group."""

    measurements: Measurements
    fleet: FleetSpec
    setup: Setup
    tariff: Tariff

    def emitters(self) -> Iterator[BillEntry]:
        """All there is without the stack."""
        written = emitter_bytes(self.measurements, self.fleet, self.setup)
        yield self._entry("logs", "emitters' lines", written / GB, "log-ingestion")
        yield self._kept(written)
        yield self._metrics("of the emitters", self._emitter_series())
        yield self._entry(LOOKING, "metrics used by alarms", EMITTER_ALARM_METRICS, "alarm")

    def logs(self, close: CloseLoad) -> Iterator[BillEntry]:
        """What emitters and close write; ingest writes only of what it drops."""
        written = emitter_bytes(self.measurements, self.fleet, self.setup)
        rollups = MINUTES * (close.printed_bytes + EVENT_BYTES * close.lines + HEALTH_LINE_BYTES)
        ingestion = "log-ingestion"
        yield self._entry("logs", "emitters' lines", written / GB, ingestion)
        yield self._entry("logs", "rollups", rollups / GB, ingestion)
        yield self._kept(written + rollups)

    def functions(self, ingest: IngestLoad, close: CloseLoad) -> Iterator[BillEntry]:
        """Invocations and time."""
        ingest_gb_s = ingest.invocations * ingest.seconds * INGEST_MB[self.setup.mode] / 1_024
        close_gb_s = MINUTES * close.seconds * close.memory_mb / 1_024
        calls, time = "lambda-requests", "lambda-gb-s"
        yield self._entry("Lambda", "ingest, invocations", ingest.invocations, calls)
        yield self._entry("Lambda", "ingest, time", ingest_gb_s, time)
        yield self._entry("Lambda", "close, invocations", MINUTES, calls)
        yield self._entry("Lambda", "close, time", close_gb_s, time)
        yield self._entry("Lambda", "close, schedule", MINUTES, "schedule")

    def table(self, ingest: IngestLoad, close: CloseLoad) -> Iterator[BillEntry]:
        """Writing, reading and keeping records."""
        instances = self.fleet.instances
        record = self._sizes.item
        if self.setup.mode == "kinesis":
            record = ingest.write_units / MINUTES / instances * 1_024
        stored = instances * RECORD_HOURS * 60 * (record + ITEM_OVERHEAD_BYTES)
        closing = MINUTES * close.write_units
        reading = MINUTES * (close.read_units + FINDINGS_READ_UNITS)
        yield self._entry("DynamoDB", "ingest, records", ingest.write_units, "write-unit")
        yield self._entry("DynamoDB", "close, writing", closing, "write-unit")
        yield self._entry("DynamoDB", "close, reading", reading, "read-unit")
        yield self._entry("DynamoDB", "storage", stored / GB, "table-storage")

    def metrics(self, close: CloseLoad) -> Iterator[BillEntry]:
        """Metrics, and what looks at them."""
        own = len(STACK) + COUNTER_METRICS
        metrics = close.metrics + self._emitter_series() + own
        alarms = CLUSTER_ALARMS * self.fleet.clusters + PIPELINE_ALARM_METRICS[self.setup.mode]
        yield self._metrics("of clusters and the stack", metrics)
        yield self._entry(LOOKING, "metrics used by alarms", alarms, "alarm")
        yield self._entry(LOOKING, "dashboards", DASHBOARDS, "dashboard")

    def ledger(self, ingest: IngestLoad, memory_mb: int) -> Iterator[BillEntry]:
        """What settle reads and puts each hour, what is kept of it, and what reads it."""
        instances = self.fleet.instances
        record = self._sizes.item
        if self.setup.mode == "kinesis":
            record = ingest.write_units / MINUTES / instances * 1_024
        queries = SETTLE_READINGS * 60 * _BUCKETS
        units = max(1.0, instances * record / _BUCKETS / _READ_UNIT_BYTES) / 2  # not consistent
        cpu_s = instances * SETTLE_CPU_S * self.fleet.cores / 32
        each_mb = min(memory_mb, WHOLE_PROCESSOR_MB)  # of a process; more of them read at a time
        gb_s = seconds_of(cpu_s, queries, each_mb) * each_mb / 1_024
        stored = HOURS * instances * LEDGER_BYTES * LEDGER_DAYS / DAYS
        yield self._entry(LEDGER, "settle, time", HOURS * gb_s, "lambda-gb-s")
        yield self._entry(LEDGER, "settle, schedule", HOURS, "schedule")
        yield self._entry(LEDGER, "settle, reading", HOURS * queries * units, "read-unit")
        yield self._entry(LEDGER, "objects put", HOURS * LEDGER_OBJECTS, "object-put")
        yield self._entry(
            LEDGER, f"objects kept for {LEDGER_DAYS} days", stored / GB, "object-storage"
        )
        got = 2 * _WEEK_HOURS  # summaries of the week, and of the one before
        cpu_s = 2 * _WEEK_HOURS * instances * DIGEST_CPU_S
        gb_s = seconds_of(cpu_s, got, WHOLE_PROCESSOR_MB) * WHOLE_PROCESSOR_MB / 1_024
        weeks = HOURS / _WEEK_HOURS
        yield self._entry(LEDGER, "digest, time", weeks * gb_s, "lambda-gb-s")
        yield self._entry(LEDGER, "digest, objects got", weeks * got, "object-get")

    def findings(self) -> Iterator[BillEntry]:
        """What each step is told and remembered for; nothing where nothing changes."""
        steps = self.setup.finding_steps * DAYS
        if steps:
            units = steps * FINDING_WRITE_UNITS
            yield self._entry(FINDINGS, "events", steps, "event")
            yield self._entry(FINDINGS, "steps, writing", units, "write-unit")

    def stream(self) -> Iterator[BillEntry]:
        """With shards of its own: so many as were asked for, else as are needed."""
        shards = self.setup.stream_shards or shards_of(self.measurements, self.fleet)
        each = -(-self._sizes.payload // STREAM_UNIT_BYTES)
        units = MINUTES * self.fleet.instances * each
        yield self._entry("Kinesis", "shards", HOURS * shards, "shard-hour")
        yield self._entry("Kinesis", "deliveries", units, "stream-put")

    def stream_on_demand(self) -> Iterator[BillEntry]:
        """Scaled by Kinesis."""
        lines = MINUTES * self.fleet.instances
        written_gb = lines * self._sizes.rounded_payload / GB
        read_gb = lines * self._sizes.payload / GB
        yield self._entry("Kinesis", "stream on demand", HOURS, "stream-hour")
        yield self._entry("Kinesis", "in", written_gb, "stream-in")
        yield self._entry("Kinesis", "out", read_gb, "stream-out")

    @property
    def _sizes(self) -> Sizes:
        return sizes_of(self.measurements, self.fleet.cores)

    def _emitter_series(self) -> int:
        return emitter_series(self.measurements.emitter_metrics, self.fleet, self.setup)

    def _kept(self, written: float) -> BillEntry:
        days = self.setup.retention_days
        stored = written * self._sizes.stored_share * days / DAYS
        return self._entry("logs", f"kept for {days:,} days", stored / GB, "log-storage")

    def _entry(self, group: str, what: str, quantity: float, price: str) -> BillEntry:
        unit = self.tariff.prices[price].unit
        return BillEntry(group, what, quantity, unit, self.tariff.usd(price, quantity), (price,))

    def _metrics(self, what: str, metrics: float) -> BillEntry:
        usd = self.tariff.metrics_usd(metrics)
        return BillEntry(METRICS, what, metrics, "metrics", usd, self.tariff.tiers_of(metrics))
