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
from aggregator.explain.finding import instances_of
from aggregator.explain.subject import (
    ERRORS,
    HARDWARE,
    IDLE_COST,
    SILENCE,
    UTILIZATION,
    AlarmSubject,
)
from aggregator.query_text import PLAIN, StackLogGroups, member_is
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from aggregator.explain.members import Members

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
    rollup: Members | None = None,
) -> InsightsQuery:
    """
    The query that shows most about *subject* in *cluster*.

    It looks at the last hour; of the instances that are silent in *rollup* also at what
    was before that, of cost at the whole day.
    """
    end_s = int(now_s) + MINUTE_S
    start_s, named = end_s - HOUR_S, ""
    if subject == IDLE_COST:
        start_s = min(start_s, int(now_s) // _DAY_S * _DAY_S)
    if subject == SILENCE and rollup is not None:
        silent = rollup.entries("SilentInstanceNames")
        names = [f'"{one}"' for one in instances_of(silent) if PLAIN.fullmatch(one)]
        named = f" and InstanceId in [{', '.join(names[:MAX_IDS])}]" if names else ""
        since = [at_ms // 1000 for one in silent if (at_ms := one.start_ms("LastSeen")) is not None]
        first_s = int(min(since, default=end_s)) - _BEFORE_S
        start_s = max(min(start_s, first_s), end_s - _DAY_S)
    shows, commands = _TEMPLATES.get(subject.metric, _OF_CORES)
    wanted = member_is("ClusterName", cluster) + named
    return InsightsQuery(
        shows,
        groups.rollups if subject == IDLE_COST else groups.records,
        tuple(one.replace("OF_CLUSTER", wanted, 1) for one in commands),
        start_s,
        end_s,
    )


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
_TEMPLATES: Final[dict[str, _Template]] = {
    IDLE_COST.metric: (
        "idle cost today by hour, each rollup counted once",
        (
            "fields substr(Minute, 0, 13) as Hour",
            'filter Kind = "rollup" and OF_CLUSTER',
            "stats max(IdleCost) as Usd by RollupId, Hour",
            "stats sum(Usd) as IdleCostUsd by Hour",
            "sort Hour desc",
        ),
    ),
    SILENCE.metric: (
        "the last lines of the silent instances",
        (
            "fields @timestamp, InstanceId, Kind, Event, Message, Reports, BusyCores",
            'filter Kind in ["minute", "event"] and OF_CLUSTER',
            "sort @timestamp desc",
            "limit 50",
        ),
    ),
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
    HARDWARE.metric: (
        "kernel faults with the action that the driver recommends, and memory errors, by device",
        (
            (
                "fields @timestamp, InstanceId, Event, Device, Fault, Action, DeviceCore,"
                " SerialNumber, Count, Counter, Rise, Value"
            ),
            (
                'filter Kind = "event" and OF_CLUSTER'
                ' and Event in ["HardwareFault", "EccRise", "EccFirstSeen"]'
            ),
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
