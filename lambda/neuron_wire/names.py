"""The vocabulary of the contract: schema version, namespaces, kinds, core states."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

Variables: TypeAlias = "Mapping[str, str]"
"""Environment variables by name."""

VERSION: Final = 1
"""The schema of the lines that this package writes. A reader rejects a higher one."""

RECORD_NAMESPACE: Final = "Neuron"
"""Metrics that CloudWatch extracts from the emitters' own lines."""

CLUSTER_NAMESPACE: Final = "Neuron/Cluster"
"""Metrics of the rollups: one line per cluster and minute."""

STACK_NAMESPACE: Final = "Neuron/Stack"
"""Metrics of the stack about itself."""

PROFILE_NAMESPACE: Final = "Neuron/Profile"
"""Metrics of a profile: one line for each core in it."""

CLUSTER_DIMENSION: Final = "ClusterName"
MODEL_DIMENSION: Final = "Model"
PROFILE_CORE_DIMENSION: Final = "Core"

MINUTE_KIND: Final = "minute"
MORE_KIND: Final = "more"
CORE_KIND: Final = "core"
RUNTIME_KIND: Final = "runtime"
EVENT_KIND: Final = "event"
REPORT_KIND: Final = "report"
RAW_KIND: Final = "raw"
"""A report as neuron-monitor wrote it, for people: no metric, and the stack does not read it."""
ROLLUP_KIND: Final = "rollup"
PROFILE_KIND: Final = "profile"
"""The summary of a profile, written by `neuron-emf profile`; the stack does not read it."""
MESSAGE_KIND: Final = "message"
"""A message about an alarm, as explain sent it: no metric, and no function reads it."""

BUSY_STATE: Final = "b"
ATTACHED_IDLE_STATE: Final = "a"
UNATTACHED_STATE: Final = "u"
UNKNOWN_STATE: Final = "?"
CORE_STATES: Final = frozenset({BUSY_STATE, ATTACHED_IDLE_STATE, UNATTACHED_STATE, UNKNOWN_STATE})

DEVICES_NOT_SEEN: Final = "devices-not-seen"
COUNTERS_MISSING: Final = "counters-missing"
COUNTERS_UNREADABLE: Final = "counters-unreadable"
NO_RECENT_SAMPLE: Final = "no-recent-sample"
TAG_FILTER: Final = "tag-filter"
MONITOR_NOT_RUNNING: Final = "monitor-not-running"
REASON_NOT_REPORTED: Final = "not reported"
"""The reason in a rollup for unknown cores of a line without a reason."""

REASON_WORDS: Final = {
    DEVICES_NOT_SEEN: "the monitor does not see the devices",
    COUNTERS_MISSING: "the reports have no core counters",
    COUNTERS_UNREADABLE: "the emitter cannot read the core counters",
    NO_RECENT_SAMPLE: "no report of the minute has a sample of the cores",
    TAG_FILTER: "the tag filter of the monitor hides the cores",
    MONITOR_NOT_RUNNING: "neuron-monitor wrote no report in the minute",
    REASON_NOT_REPORTED: "the emitter does not report the reason",
}
"""Reasons of unknown cores in words: clauses without a capital letter and a full stop."""

UNKNOWN_REASONS: Final = tuple(REASON_WORDS)[:-1]
"""The reasons that may be in a minute line. If two have equally many cores, the first counts."""

UNALLOCATED_OWNER: Final = "[unallocated]"
"""The owner of cores that are neither held nor reserved."""
OTHER_OWNERS: Final = "[others]"
"""The owner name for all owners beyond those that a line or a list has room for."""
NOT_REPORTED_OWNER: Final = "[not reported]"
"""
The owner of a held core that a line of an older emitter does not name, and of an unattached core
while reservations are unknown.
"""
UNKNOWN_OWNER: Final = "[unknown]"
"""Owner of cores without telemetry: whether they were held is unknown."""
PLACEHOLDER_OWNERS: Final = frozenset(
    {UNALLOCATED_OWNER, OTHER_OWNERS, NOT_REPORTED_OWNER, UNKNOWN_OWNER}
)
"""Placeholders for owners: they have no team, and no line may use their names."""

RESERVATIONS_KNOWN: Final = "known"
RESERVATIONS_UNKNOWN: Final = "unknown"
RESERVATIONS_VALUES: Final = (RESERVATIONS_KNOWN, "none", RESERVATIONS_UNKNOWN)
"""
Whether the assignments of an instance's scheduler are known, or it has no scheduler. Unknown does
not mean unreserved.
"""

MICRO: Final = 1_000_000
"""Millionths of a core, a dollar or a percent: their sums do not depend on the order."""

MINUTE_MS: Final = 60_000
MINUTE_S: Final = 60
HOUR_MINUTES: Final = 60
DAY_HOURS: Final = 24
DAY_MINUTES: Final = DAY_HOURS * HOUR_MINUTES
WEEK_HOURS: Final = 7 * DAY_HOURS
HOUR_MS: Final = HOUR_MINUTES * MINUTE_MS
DAY_MS: Final = DAY_HOURS * HOUR_MS
WHOLE_MINUTE_S: Final = 45
"""Covered seconds from which a minute counts as whole."""

MAX_CORES: Final = 1024
"""Cores one instance may have; the largest instance today has 128."""

MAX_METRIC_VALUES: Final = 100
"""Values that one metric may have in one EMF line."""

# CloudWatch's own words in events about alarms: explain reads them, the rehearsal writes them.
OF_AN_ALARM: Final = "CloudWatch Alarm State Change"
OF_A_CONTRIBUTOR: Final = "CloudWatch Alarm Contributor State Change"
VANISHED: Final = "No data was returned for this contributor"
"""The constant reason of a contributor that is OK because it no longer exists."""

EC2_INSTANCE_ID: Final = re.compile(r"i-(?:[0-9a-f]{17}|[0-9a-f]{8})")
"""The format of instance IDs: 17 digits, or 8 digits for instances launched before 2016."""

AWS_REGION: Final = re.compile(r"[a-z]{2,4}(?:-[a-z]+)+-[0-9]{1,2}")
"""The format of AWS Regions, such as us-east-1, us-gov-west-1 and eusc-de-east-1."""

REGION_VARIABLES: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""Variables that name the AWS Region. Lambda, ECS and EKS set the first; boto3 reads the second."""


def region_of_variables(variables: Variables) -> str | None:
    """Return the AWS Region that *variables* name; None if they name no Region."""
    return next(filter(None, map(variables.get, REGION_VARIABLES)), None)


Paid = Literal["committed", "avoidable"]
COMMITTED_PAID: Final = "committed"
AVOIDABLE_PAID: Final = "avoidable"
PAID_VALUES: Final[tuple[Paid, ...]] = get_args(Paid)
