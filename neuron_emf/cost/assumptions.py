"""
What a bill assumes, and what it takes from the template.

An assumption is a number that no code can measure: how far a processor of
Lambda differs from the one that was measured, how many runtimes an instance
has. Each stands here once, and docs/explanation/scale.md tells it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Mode = Literal["direct", "kinesis"]
MODES: Final[Sequence[Mode]] = ("direct", "kinesis")

SPREAD_S: Final = 30  # emitters send within this time after each minute
RUNTIMES: Final = 8  # of an instance, each with one line an hour
RAW_REPORT_BYTES: Final = 1_500  # of a report, without a runtime
RAW_RUNTIME_BYTES: Final = 1_000  # of each of its runtimes, and
RAW_CORE_BYTES: Final = 340  # of each core that a runtime lists: all that there are
READINGS: Final = 1.5  # of a minute by close: a run that finds it incomplete reads in vain
LATE_SHARE: Final = 0.001  # of the records, after their minute was closed: it is read again
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
HEALTH_LINE_BYTES: Final = 700  # what close says about itself each minute
SETTLE_CPU_S: Final = 0.023  # of an instance-hour of 32 cores, measured of 1,000 and of 200
LEDGER_BYTES: Final = 150  # of an instance-hour of two or three owners; measured were 90
LEDGER_OBJECTS: Final = 9  # of an hour: its parts and their summary
LEDGER_DAYS: Final = 400  # the template's own
DIGEST_CPU_S: Final = 0.0000025  # of an instance-hour with an owner of its own, of 100,000
SETTLE_READINGS: Final = 2  # of an hour: itself, and the minutes that say who is missed in it
FINDINGS_READ_UNITS: Final = 1  # of each minute, to see what is open
FINDING_WRITE_UNITS: Final = 4  # of a step: its item with the event, and again without it
COUNTERFACTUAL_METRICS: Final = 27  # of an instance, by PutMetricData

FIRST_CLOSE_S: Final = 12
"""
Within which a minute should be read and published: what the memory of close is chosen for.
Then no late record of the last hour waits for more than half an hour, which
`tests/proof/test_lateness.py` decides.
"""

# The template's own; a test compares.
CLOSE_MB: Final = 512
MOST_CLOSE_MB: Final = 10_240
INGEST_MB: Final[Mapping[Mode, int]] = {"direct": 256, "kinesis": 1_024}
BATCH_DELIVERIES: Final = 500
BATCH_WINDOW_S: Final = 20
RETENTION_DAYS: Final = 30
CLUSTER_ALARMS: Final = 6  # each on every cluster
COUNTER_METRICS: Final = 1  # of the metric filter that counts arriving lines; filters are free
PIPELINE_ALARM_METRICS: Final[Mapping[Mode, int]] = {"direct": 19, "kinesis": 20}
"""What the template's other alarms look at; CloudWatch bills each. One is the stream's age."""
