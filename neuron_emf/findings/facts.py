"""
What is known of an instance: by its lines, and by the account that it runs in.

What the account did not tell is `Untold` with the reason, never a default. Lines are read as
`top`, `report` and the page do: of the emitters' group only those that hold the instance's id
are asked for, of the rollups' group only those that hold the cluster's name, which are the same
few calls in a fleet of any size.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from emitter.errors import SourceError
from neuron_emf.reading import LogGroup, Records, pattern_of
from neuron_emf.reading.log_group import term_of
from neuron_emf.reading.rollup_line import Rollup, rollup_of
from neuron_wire.findings import LEAST_IDLE_MINUTES
from neuron_wire.merging import merge
from neuron_wire.names import MINUTE_MS, ROLLUP

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neuron_emf.account import Account
    from neuron_wire import MinuteRecord
    from neuron_wire.merging import InstanceMinute

HOUR_MINUTES: Final = LEAST_IDLE_MINUTES
"""Minutes of lines that are looked at, up to the newest."""

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class LineFacts:
    """
    What log lines say.

    Attributes:
        instance_id: The instance.

        now_ms: When it is asked, milliseconds since the Unix epoch.

        minutes: Its merged minutes of the hour up to its newest, in order of time; at least one.

        cluster_minutes: The rollups of its cluster since then, in order of time, each minute once.

        paid_by_type: How instances of a type are paid, as `--paid-by-type` says.
    """

    instance_id: str
    now_ms: int
    minutes: Sequence[InstanceMinute]
    cluster_minutes: Sequence[Rollup]
    paid_by_type: Mapping[str, str] = field(default_factory=dict)

    @property
    def newest(self) -> MinuteRecord:
        """Its newest minute."""
        return self.minutes[-1].record

    @property
    def start_ms(self) -> int:
        """Start of the hour."""
        return self.newest.minute_ms - (HOUR_MINUTES - 1) * MINUTE_MS


@dataclass(frozen=True, slots=True)
class Untold:
    """
    What the account did not tell.

    Attributes:
        why: As a person reads it, such as `ec2:DescribeInstances was denied`.
    """

    why: str


Told: TypeAlias = _Value | Untold


@dataclass(frozen=True, slots=True)
class Ec2Facts:
    """
    What EC2 describes.

    Attributes:
        state: `running` and so on.

        launched_ms: When it was last started, milliseconds since the Unix epoch.

        lifecycle: `spot`, `capacity-block` and so on; None is on demand.

        capacity_reservation_id: The reservation that it runs in, None without one.

        placement_group: Its name, empty without one.

        managed_by: The AWS service that operates it, empty for none.

        tags: By key.
    """

    state: str
    instance_type: str
    availability_zone: str
    account_id: str
    launched_ms: int
    lifecycle: str | None = None
    capacity_reservation_id: str | None = None
    placement_group: str = ""
    managed_by: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """
    Its auto-scaling group.

    Attributes:
        state: `InService` and so on, of the instance in it.

        is_protected: The group may not choose it when it shrinks.
    """

    name: str
    state: str
    is_protected: bool
    minimum: int
    desired: int


@dataclass(frozen=True, slots=True)
class AccountFacts:
    """
    What the account says, each part told or not.

    Attributes:
        ec2: The instance.

        has_stop_protection: Its attribute disableApiStop.

        has_termination_protection: Its attribute disableApiTermination.

        has_instance_store: Whether its type has disks that a stop erases.

        group: Its auto-scaling group; None without one.

        ecs_clusters: Those in which it is registered.

        sessions: Open Session Manager sessions on it.
    """

    ec2: Told[Ec2Facts]
    has_stop_protection: Told[bool]
    has_termination_protection: Told[bool]
    has_instance_store: Told[bool]
    group: Told[GroupFacts | None]
    ecs_clusters: Told[tuple[str, ...]]
    sessions: Told[int]


READ_MINUTES: Final = HOUR_MINUTES + 10
"""So far back is read: the hour up to a newest line that may be some minutes old."""

_AHEAD_MS: Final = HOUR_MINUTES * MINUTE_MS  # a line of a wrong clock is to be seen
_ROLLUP_TERM: Final = '"RollupId"'


def read_line_facts(
    account: Account, instance_id: str, now_ms: int, paid_by_type: Mapping[str, str]
) -> LineFacts:
    """
    Read what both log groups of *account* say of *instance_id* at *now_ms*.

    Raises:
        SourceError: If they cannot be read, or there is no line of it.
    """
    start_ms, end_ms = now_ms - READ_MINUTES * MINUTE_MS, now_ms + _AHEAD_MS
    own = LogGroup(account, account.log_group)
    lines = list(own.lines(start_ms, end_ms, pattern_of(instance_id)))
    cluster = _cluster_of(lines, instance_id)
    if cluster is None:
        msg = (
            f"No minute line of {instance_id} in the last {READ_MINUTES} minutes in log group "
            f"{account.log_group}. Check the id, --log-group, --region, and that its emitter runs."
        )
        raise SourceError(msg)
    of_cluster = LogGroup(account, account.rollups_log_group)
    pattern = " ".join(filter(None, [_ROLLUP_TERM, term_of(cluster)]))
    rollups = of_cluster.lines(start_ms, end_ms, pattern)
    return line_facts(lines, rollups, instance_id, now_ms, paid_by_type)


def line_facts(
    lines: Iterable[str],
    rollup_lines: Iterable[str],
    instance_id: str,
    now_ms: int,
    paid_by_type: Mapping[str, str],
) -> LineFacts:
    """
    What *lines* and *rollup_lines* say, in any order and with copies.

    At least one of *lines* is a minute of *instance_id*.
    """
    records = sorted(
        (one for one in Records().of(lines) if one.instance_id == instance_id),
        key=lambda one: one.minute_ms,
    )
    minutes = [merge(parts) for _, parts in groupby(records, key=lambda one: one.minute_ms)]
    newest = minutes[-1].record
    since_ms = newest.minute_ms - (HOUR_MINUTES - 1) * MINUTE_MS
    return LineFacts(
        instance_id,
        now_ms,
        [one for one in minutes if one.record.minute_ms >= since_ms],
        _rollups(rollup_lines, newest.cluster, since_ms),
        paid_by_type,
    )


def _cluster_of(lines: Iterable[str], instance_id: str) -> str | None:
    own = [one for one in Records().of(lines) if one.instance_id == instance_id]
    return max(own, key=lambda one: one.minute_ms).cluster if own else None


def _rollups(lines: Iterable[str], cluster: str, since_ms: int) -> list[Rollup]:
    newest: dict[int, Rollup] = {}
    for text in lines:
        rollup = _rollup(text)
        if rollup is None or rollup.cluster != cluster or rollup.minute_ms < since_ms:
            continue
        known = newest.get(rollup.minute_ms)
        if known is None or rollup.publication >= known.publication:
            newest[rollup.minute_ms] = rollup
    return [newest[minute_ms] for minute_ms in sorted(newest)]


def _rollup(text: str) -> Rollup | None:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or line.get("Kind") != ROLLUP:
        return None
    return rollup_of(line)
