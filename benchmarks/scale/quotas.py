"""
What an account allows in us-east-1, and what a fleet takes of it.

`is_verified` says whether a published page was read for it on the day of the
prices; the others are known and were not looked up again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_emf.cost.assumptions import CLOSE_TIMEOUT_S, SPREAD_S, WHOLE_PROCESSOR_MB, Mode
from neuron_emf.cost.fleet import FleetSpec, Setup
from neuron_emf.cost.functions import close_of, ingest_of, shard_load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from neuron_emf.cost.measurements import Measurements


@dataclass(frozen=True, slots=True)
class Quota:
    """
    What an account in one region may do before it asks for more.

    Attributes:
        what: What is counted.

        most: How much.

        is_adjustable: AWS raises it when asked.

        is_verified: A published page says it.
    """

    what: str
    most: float
    is_adjustable: bool
    is_verified: bool = False


QUOTAS: Final[Mapping[str, Quota]] = {
    "put_log_events": Quota("PutLogEvents a second", 5_000, is_adjustable=True, is_verified=True),
    "create_log_stream": Quota(
        "CreateLogStream a second", 50, is_adjustable=True, is_verified=True
    ),
    "concurrency": Quota("Lambda invocations at a time", 1_000, is_adjustable=True),
    "new_concurrency": Quota("the same in many new accounts", 10, is_adjustable=True),
    "table_writes": Quota("DynamoDB write units a second of a table", 40_000, is_adjustable=True),
    "new_table_writes": Quota("the same in a table's first half hour", 4_000, is_adjustable=False),
    "item_bytes": Quota(
        "bytes of a DynamoDB item", 400 * 1_024, is_adjustable=False, is_verified=True
    ),
    "series": Quota(
        "clusters of a Metrics Insights alarm", 500, is_adjustable=False, is_verified=True
    ),
    "contributors": Quota(
        "clusters in ALARM at a time in one such alarm", 100, is_adjustable=False, is_verified=True
    ),
}


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """
    One limit and what is taken of it.

    Attributes:
        what: What is limited.

        taken: By the fleet.

        most: That there is.
    """

    what: str
    taken: float
    most: float

    @property
    def share(self) -> float:
        """Above 1 it does not fit."""
        return self.taken / self.most


def loads(found: Measurements, fleet: FleetSpec, mode: Mode) -> Iterator[QuotaUse]:
    """Every limit that grows with the fleet."""
    setup = Setup(mode)
    ingest, close = ingest_of(found, fleet, setup), close_of(found, fleet, setup)
    processors = close.memory_mb / WHOLE_PROCESSOR_MB
    yield _load("put_log_events", fleet.instances / SPREAD_S)
    yield _load("concurrency", ingest.busiest_at_a_time + 1)
    yield _load("new_concurrency", ingest.busiest_at_a_time + 1)
    yield _load("table_writes", ingest.busiest_write_units)
    yield _load("new_table_writes", ingest.busiest_write_units)
    yield _load("item_bytes", close.largest_item_bytes)
    yield _load("series", fleet.clusters)
    yield QuotaUse("seconds of a run of close", close.seconds, CLOSE_TIMEOUT_S)
    memory = f"MB of each {WHOLE_PROCESSOR_MB:,} of memory of close"
    yield QuotaUse(memory, close.peak_mib / processors, WHOLE_PROCESSOR_MB)
    if mode == "kinesis":
        yield QuotaUse("seconds of ingest in a second of a shard", shard_load(found, fleet), 1)


def stream_creation_s(fleet: FleetSpec) -> float:
    """How long a fleet that starts at once takes to make its log streams."""
    return fleet.instances / QUOTAS["create_log_stream"].most


def _load(name: str, taken: float) -> QuotaUse:
    quota = QUOTAS[name]
    return QuotaUse(quota.what, taken, quota.most)
