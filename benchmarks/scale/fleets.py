"""
The fleets of the page, and what is assumed of them.

An assumption is a number that no code can measure: how many clusters there
are, how far a processor of Lambda differs from the one that was measured. Each
stands here once, and the page tells it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Mode = Literal["direct", "kinesis"]
MODES: Final[Sequence[Mode]] = ("direct", "kinesis")


@dataclass(frozen=True, slots=True)
class Fleet:
    """
    Instances of 32 cores.

    Attributes:
        instances: How many.

        clusters: In how many clusters of equal size, each with two instance types.
    """

    instances: int
    clusters: int


SMALL: Final = Fleet(10, 1)
MIDDLE: Final = Fleet(1_000, 2)
LARGE: Final = Fleet(100_000, 100)
FLEETS: Final = (SMALL, MIDDLE, LARGE)
SCATTERED: Final = Fleet(1_000, 20)
"""Measured beside `MIDDLE`, to learn what a further cluster takes."""

SPREAD_S: Final = 30  # emitters send within this time after each minute
RUNTIMES: Final = 8  # of an instance, each with one line an hour
READINGS: Final = 1.5  # of a minute by close: a run that finds it incomplete reads in vain
LAMBDA_SLOWNESS: Final = 1.5  # processor time on Lambda for that of the machine measured
RUNTIME_CPU_S: Final = 0.0005  # of Lambda's own client, each invocation
CALL_S: Final = 0.010  # until the table has answered one request
WHOLE_PROCESSOR_MB: Final = 1_769  # of memory, for which Lambda gives one processor
RECORD_HOURS: Final = 26 + 48  # LateMinutes and a day, then until DynamoDB gets round to deleting
ITEM_OVERHEAD_BYTES: Final = 100  # of stored items, as DynamoDB bills them
SHARD_RECORDS_S: Final = 1_000
SHARD_BYTES_S: Final = 1 << 20
SHARD_USE: Final = 0.7  # of a shard at the busiest: streams do not spread evenly
STREAM_UNIT_BYTES: Final = 25 * 1_024
COUNTERFACTUAL_METRICS: Final = 27  # of an instance, by PutMetricData, a request a minute
PROMISED_SHARE: Final = 0.03  # of that, at 1,000 instances

# The template's own; a test compares.
CLOSE_MB: Final = 1_769
CLOSE_TIMEOUT_S: Final = 55
INGEST_MB: Final[Mapping[Mode, int]] = {"direct": 256, "kinesis": 1_024}
BATCH_DELIVERIES: Final = 500
BATCH_WINDOW_S: Final = 20
RETENTION_DAYS: Final = 30
