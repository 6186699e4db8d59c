"""
What AWS charges and allows in us-east-1, on-demand, without free tiers and discounts.

The only place where an amount of money or a quota stands. `is_verified` says
whether a published page was read for it on that date; the others are known and
were not looked up again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

AS_OF: Final = "2026-11-21"
REGION: Final = "us-east-1"
HOURS: Final = 730  # of a month, as AWS's own calculator has it
MINUTES: Final = 60 * HOURS
GB: Final = 1 << 30  # AWS bills powers of two


@dataclass(frozen=True, slots=True)
class Price:
    """
    What one unit costs.

    Attributes:
        what: What is sold.

        usd: For one unit.

        unit: Of that, such as `GB`.

        units: How many of them *usd* is for, such as a million.

        is_verified: A published page says it.
    """

    what: str
    usd: float
    unit: str
    units: float = 1
    is_verified: bool = False

    @property
    def usd_each(self) -> float:
        """
        USD for a single unit.
        """
        return self.usd / self.units


MILLION: Final = 1_000_000

PRICES: Final[Mapping[str, Price]] = {
    "log_ingestion": Price("CloudWatch Logs, ingestion", 0.50, "GB", is_verified=True),
    "log_storage": Price(
        "CloudWatch Logs, storage, compressed", 0.03, "GB-month", is_verified=True
    ),
    "put_metric_data": Price("PutMetricData", 0.01, "requests", 1_000, is_verified=True),
    "alarm": Price("alarms, each metric one looks at", 0.10, "metric-month", is_verified=True),
    "dashboard": Price("dashboard", 3.00, "dashboard-month", is_verified=True),
    "lambda_requests": Price("Lambda", 0.20, "requests", MILLION),
    "lambda_gb_s": Price("Lambda, arm64", 0.0000133334, "GB-seconds"),
    "schedule": Price("EventBridge Scheduler", 1.00, "invocations", MILLION),
    "write_unit": Price("DynamoDB on demand", 0.625, "write units", MILLION, is_verified=True),
    "read_unit": Price("DynamoDB on demand", 0.125, "read units", MILLION, is_verified=True),
    "table_storage": Price("DynamoDB storage", 0.25, "GB-month", is_verified=True),
    "shard_hour": Price("Kinesis, provisioned", 0.015, "shard-hours"),
    "stream_put": Price("Kinesis, provisioned", 0.014, "PUT units of 25 KB", MILLION),
    "stream_hour": Price("Kinesis on demand", 0.04, "stream-hours"),
    "stream_in": Price("Kinesis on demand, in", 0.08, "GB"),
    "stream_out": Price("Kinesis on demand, out", 0.04, "GB"),
}

METRIC_TIERS: Final[Sequence[tuple[float, float, bool]]] = (
    (10_000, 0.30, True),
    (240_000, 0.10, True),
    (750_000, 0.05, True),
    (float("inf"), 0.02, False),
)
"""Metrics of a tier, USD for one a month, and whether that is verified."""


def metrics_usd(metrics: float) -> float:
    """
    What so many metrics cost a month.
    """
    total, left = 0.0, metrics
    for size, usd, _ in METRIC_TIERS:
        total += min(left, size) * usd
        left = max(0.0, left - size)
    return total


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
