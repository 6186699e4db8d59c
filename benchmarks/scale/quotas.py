"""
What a fleet takes of what an account allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.scale.fleets import CLOSE_MB, CLOSE_TIMEOUT_S, SPREAD_S, Fleet, Mode
from benchmarks.scale.functions import close_of, ingest_of, shard_load
from benchmarks.scale.tariff import QUOTAS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.scale.measured import Measured


@dataclass(frozen=True, slots=True)
class Load:
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
        """
        Above 1 it does not fit.
        """
        return self.taken / self.most


def loads(found: Measured, fleet: Fleet, mode: Mode) -> Iterator[Load]:
    """
    Every limit that grows with the fleet.
    """
    ingest, close = ingest_of(found, fleet, mode), close_of(found, fleet, mode)
    yield _load("put_log_events", fleet.instances / SPREAD_S)
    yield _load("concurrency", ingest.busiest_at_a_time + 1)
    yield _load("new_concurrency", ingest.busiest_at_a_time + 1)
    yield _load("table_writes", ingest.busiest_write_units)
    yield _load("new_table_writes", ingest.busiest_write_units)
    yield _load("item_bytes", close.largest_item_bytes)
    yield _load("series", fleet.clusters)
    yield Load("seconds of a run of close", close.seconds, CLOSE_TIMEOUT_S)
    yield Load("MB of memory of close", close.peak_mib, CLOSE_MB)
    if mode == "kinesis":
        yield Load(
            "seconds of ingest in a second of a shard", shard_load(found, fleet.instances), 1
        )


def stream_creation_s(fleet: Fleet) -> float:
    """
    How long a fleet that starts at once takes to make its log streams.
    """
    return fleet.instances / QUOTAS["create_log_stream"].most


def _load(name: str, taken: float) -> Load:
    quota = QUOTAS[name]
    return Load(quota.what, taken, quota.most)
