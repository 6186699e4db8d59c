"""
The Logs Insights query that shows most about a subject.

Its fields are those of `neuron_wire.catalogue`. A rollup or record that came
twice must not count twice: amounts are taken once per RollupId, and the rest is
read with latest, avg or max.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aggregator.explain.commands import MAX_IDS, in_region
from aggregator.explain.subject import (
    ECC,
    ERRORS,
    FAULTS,
    IDLE_COST,
    SILENCE,
    UTILIZATION,
    AlarmSubject,
)
from aggregator.query_text import PLAIN, StackLogGroups, member_is
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Sequence

HOUR_S: Final = 3600
_DAY_S: Final = 24 * HOUR_S
_BEFORE_S: Final = 10 * MINUTE_S  # what an instance said before it fell silent


@dataclass(frozen=True, slots=True)
class InsightsQuery:
    """
    One Logs Insights query.

    Attributes:
        shows: What it shows, as half a sentence.

        log_group: Where it looks.

        commands: Its commands, in order.

        start_s: From when on it looks, seconds since the epoch.

        end_s: Until when.
    """

    shows: str
    log_group: str
    commands: tuple[str, ...]
    start_s: int
    end_s: int

    @property
    def text(self) -> str:
        """As one pastes it into the console."""
        return "\n| ".join(self.commands)

    def shell(self, region: str) -> tuple[str, ...]:
        """As one types it."""
        start = (
            f"aws logs start-query{in_region(region)}"
            f" --log-group-name {shlex.quote(self.log_group)}"
            f" --start-time {self.start_s} --end-time {self.end_s}"
            f" --query-string {shlex.quote(' | '.join(self.commands))}"
        )
        results = f"aws logs get-query-results{in_region(region)} --query-id ID"
        return start, f"{results}  # ID: the queryId that it printed"


def query_of(
    subject: AlarmSubject,
    cluster: str,
    groups: StackLogGroups,
    now_s: float,
    *,
    instances: Sequence[str] = (),
    since_s: float | None = None,
) -> InsightsQuery:
    """
    The query that shows most about *subject* in *cluster*.

    It looks at the last hour; of *instances* that have been silent *since_s*
    also at what was before that, of cost at the whole day.
    """
    end_s = int(now_s) + MINUTE_S
    start_s = end_s - HOUR_S
    of_cluster = member_is("ClusterName", cluster)
    if subject == IDLE_COST:
        midnight_s = int(now_s) // _DAY_S * _DAY_S
        return InsightsQuery(
            "idle cost today by hour, each rollup counted once",
            groups.rollups,
            (
                "fields substr(Minute, 0, 13) as Hour",
                f'filter Kind = "rollup" and {of_cluster}',
                "stats max(IdleCost) as Usd by RollupId, Hour",
                "stats sum(Usd) as IdleCostUsd by Hour",
                "sort Hour desc",
            ),
            min(start_s, midnight_s),
            end_s,
        )
    if subject == SILENCE:
        plain = [one for one in instances if PLAIN.fullmatch(one)]
        named = ", ".join(f'"{one}"' for one in plain[:MAX_IDS])
        before_s = start_s if since_s is None else int(since_s) - _BEFORE_S
        return InsightsQuery(
            "the last lines of the silent instances",
            groups.records,
            (
                "fields @timestamp, InstanceId, Kind, Event, Message, Reports, BusyCores",
                f'filter Kind in ["minute", "event"] and {of_cluster}'
                + (f" and InstanceId in [{named}]" if named else ""),
                "sort @timestamp desc",
                "limit 50",
            ),
            max(min(start_s, before_s), end_s - _DAY_S),
            end_s,
        )
    shows, commands = _OF_RECORDS.get(subject.metric, _OF_CORES)
    filled = tuple(one.replace("OF_CLUSTER", of_cluster, 1) for one in commands)
    return InsightsQuery(shows, groups.records, filled, start_s, end_s)


_Template = tuple[str, tuple[str, ...]]
"""What a query shows, and its commands."""

_OF_CORES: Final[_Template] = (
    "core states by instance, and who holds the cores",
    (
        'filter Kind = "minute" and OF_CLUSTER',
        # The end of a line: past the 200 fields that Logs Insights finds by itself.
        "fields jsonParse(@message) as line",
        (
            "stats latest(AttachedIdleCores) as AttachedIdle,"
            " latest(UnattachedCores) as Unattached, latest(BusyCores) as Busy,"
            " latest(line.Holders[0].Name) as Holder, latest(line.Holders[0].Pid) as HolderPid"
            " by InstanceId, InstanceType"
        ),
        "sort AttachedIdle desc, Unattached desc",
        "limit 50",
    ),
)
_OF_RECORDS: Final[dict[str, _Template]] = {
    UTILIZATION.metric: (
        "core states by instance, and how long an execution waits outside the device",
        (
            'filter Kind = "minute" and OF_CLUSTER',
            (
                "stats avg(BusyCores) as Busy, avg(AttachedIdleCores) as AttachedIdle,"
                " avg(UnattachedCores) as Unattached, avg(LatencyGapP50) as GapSeconds,"
                " avg(HostCpuPercent) as HostCpu by InstanceId, InstanceType"
            ),
            "sort Busy asc",
            "limit 50",
        ),
    ),
    ECC.metric: (
        "memory error counters that rose, by device",
        (
            "fields @timestamp, InstanceId, Event, Device, Counter, Rise, Value",
            'filter Kind = "event" and OF_CLUSTER and Event in ["EccRise", "EccFirstSeen"]',
            "sort @timestamp desc",
            "limit 50",
        ),
    ),
    FAULTS.metric: (
        "hardware faults by device, the action recommended by the driver, and memory errors",
        (
            "fields @timestamp, InstanceId, Fault, Device, DeviceCore, SerialNumber, Action, Count",
            'filter Kind = "event" and OF_CLUSTER and Event in ["HardwareFault", "EccRise"]',
            "sort @timestamp desc",
            "limit 50",
        ),
    ),
    ERRORS.metric: (
        "failed executions by instance and runtime",
        (
            'filter Kind in ["minute", "runtime"] and OF_CLUSTER and ExecutionErrors > 0',
            (
                "stats max(ExecutionErrors) as MostInAMinute,"
                " max(ExecutionsTimedOut) as TimedOut,"
                " max(ExecutionsIncorrectInput) as IncorrectInput,"
                " max(ExecutionsCompletedWithNumErr) as Numerical, latest(@timestamp) as Last"
                " by Kind, InstanceId, RuntimeTag, Owner"
            ),
            "sort Kind asc, MostInAMinute desc",
            "limit 50",
        ),
    ),
}
