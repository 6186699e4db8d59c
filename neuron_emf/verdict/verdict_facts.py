"""
Known facts about an instance, from its lines and from its account.

A fact that the account did not provide is `Unknown` with the reason, never a default.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from neuron_accounts.findings import LEAST_IDLE_MINUTES
from neuron_emf.check_results import UnknownFactError
from neuron_wire.names import BUSY_STATE, MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from neuron_accounts.now import IdleOwner
    from neuron_emf.reading.rollup_lines import PublishedRollup
    from neuron_emf.verdict.managers import Manager
    from neuron_wire import MinuteRecord
    from neuron_wire.line_members import Texts

LEAST_MINUTES_READ: Final = LEAST_IDLE_MINUTES
"""Minutes of lines that are checked, up to the newest."""

_Value = TypeVar("_Value")


def record_order(record: MinuteRecord) -> tuple[int, str, int]:
    """Return the key that sorts records by time, and those of one minute by emitter."""
    return record.minute_ms, record.boot, record.seq


@dataclass(frozen=True, slots=True)
class InstanceLines:
    """
    Distinct lines about one instance, raw: parts of a minute and lines of one identity are kept.

    Attributes:
        stream: Name of its own log stream.

        own: Minute records of its own log stream, in order of time.

        received_ms: When CloudWatch Logs received the newest of them, milliseconds since the Unix
            epoch; None if unknown.

        elsewhere: Minute records of other log streams by name, in order of time; None if other log
            streams were not read.

        unreadable: Lines that name the instance and cannot be read.
    """

    stream: str
    own: Sequence[MinuteRecord]
    received_ms: int | None
    elsewhere: Mapping[str, Sequence[MinuteRecord]] | None
    unreadable: int

    def all_records(self) -> Sequence[MinuteRecord]:
        """Return the minute records of all log streams that were read, in order of time."""
        others = (self.elsewhere or {}).values()
        return sorted(
            [*self.own, *(record for some in others for record in some)], key=record_order
        )

    def minutes_of_two(self) -> Iterator[int]:
        """
        Yield minutes in which two emitters write.

        Either two records have the same Boot and Seq, or records of two Boots overlap for longer
        than the minute of a restart.
        """
        records = self.all_records()
        counts = Counter((record.boot, record.seq) for record in records)
        for record in records:
            if counts[record.boot, record.seq] > 1:
                yield record.minute_ms
        minutes: dict[str, list[int]] = defaultdict(list)
        for record in self.own:
            minutes[record.boot].append(record.minute_ms)
        for times, others in combinations(minutes.values(), 2):
            end_ms = min(times[-1], others[-1])
            if end_ms > max(times[0], others[0]):
                yield end_ms


@dataclass(frozen=True, slots=True)
class IdleStart:
    """
    When an instance turned idle.

    Attributes:
        minute_ms: Its first minute without a busy core.

        busy_cores: Its busy cores in each minute around it that has a line, in order of time.
    """

    minute_ms: int
    busy_cores: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class LineFacts:
    """
    The facts from log lines.

    Attributes:
        instance_id: The instance.

        now_ms: The present, milliseconds since the Unix epoch.

        lines: The lines about it that were read.

        idle_start: When it turned idle; None if its idle count cannot be followed back.

        cluster_minutes: The last publications of its cluster's rollups, for the hour, the minute
            before it and around its idle start, in order of time.

        cluster_owners: The owners in the newest rollup, unless it is old.

        unreadable_rollups: Lines that name its cluster and cannot be read.

        paid_by_type: How instances of a type are paid, from `--paid-by-type`.
    """

    instance_id: str
    now_ms: int
    lines: InstanceLines
    idle_start: IdleStart | None
    cluster_minutes: Sequence[PublishedRollup]
    cluster_owners: Sequence[IdleOwner]
    unreadable_rollups: int
    paid_by_type: Texts

    @property
    def newest(self) -> MinuteRecord:
        """The newest record of its own log stream."""
        return self.lines.own[-1]

    @property
    def start_ms(self) -> int:
        """Start of the hour."""
        return self.newest.minute_ms - (LEAST_MINUTES_READ - 1) * MINUTE_MS

    @property
    def own_records(self) -> Sequence[MinuteRecord]:
        """The records of its own log stream in the hour, in order of time; at least one."""
        return [record for record in self.lines.own if record.minute_ms >= self.start_ms]

    @property
    def records(self) -> Sequence[MinuteRecord]:
        """The records of all log streams from the start of the hour, in order of time."""
        records = self.lines.all_records()
        return [record for record in records if record.minute_ms >= self.start_ms]

    @property
    def idle_minutes(self) -> int:
        """The number of minutes for which no core was busy and nothing executed, if known."""
        newest_ms = self.newest.minute_ms
        minutes = [
            min(record.idle_minutes, default=0)
            for record in self.own_records
            if record.minute_ms == newest_ms
        ]
        minutes += [
            (newest_ms - record.minute_ms) // MINUTE_MS
            for record in self.records
            if BUSY_STATE in record.core_state or record.has_executions
        ]
        return min(minutes)

    def covered_seconds(self) -> Mapping[int, float]:
        """Return the covered seconds of its own log stream by minute, in ms since the epoch."""
        hundredths: Counter[int] = Counter()  # as in lines: 29.94 and 36.06 are 66
        for record in self.own_records:
            hundredths[record.minute_ms] += round(100 * record.covered_seconds)
        return {minute_ms: total / 100 for minute_ms, total in hundredths.items()}

    def hour_rollups(self) -> Sequence[PublishedRollup]:
        """The rollups of the hour."""
        return [rollup for rollup in self.cluster_minutes if rollup.minute_ms >= self.start_ms]


@dataclass(frozen=True, slots=True)
class Unknown:
    """
    A fact that the account did not provide.

    Attributes:
        why: The reason for a person, such as `ec2:DescribeInstances is denied`.
    """

    why: str


Known: TypeAlias = _Value | Unknown


def require_known(value: Known[_Value]) -> _Value:
    """
    Return *value* if it is known.

    Raises:
        UnknownFactError: If it is not.
    """
    if isinstance(value, Unknown):
        raise UnknownFactError(value.why)
    return value


@dataclass(frozen=True, slots=True)
class Ec2Facts:
    """
    EC2's description, or SageMaker's of a HyperPod node.

    Attributes:
        state: `running` and other states.

        account_id: The account; None for HyperPod, which runs in an account of AWS.

        launched_ms: Its last start, milliseconds since the Unix epoch.

        lifecycle: `spot`, `capacity-block` and other values; None means on demand.

        reservation: The prepaid capacity in which it runs, None without one.

        placement_group: Its name, empty without one.

        operator: The AWS service that operates it, empty for none.

        tags: Tags by key.
    """

    state: str
    instance_type: str
    availability_zone: str
    account_id: str | None
    launched_ms: int
    lifecycle: str | None = None
    reservation: str | None = None
    placement_group: str = ""
    operator: str = ""
    tags: Texts = field(default_factory=dict)


class TypeFacts(NamedTuple):
    """EC2's facts about its type: vCPUs, and disks that a stop erases."""

    vcpus: int
    has_instance_store: bool


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """
    Its auto-scaling group.

    Attributes:
        state: `InService` and other states of the instance in it.

        is_protected: True if the group may not choose it when it shrinks.
    """

    name: str
    state: str
    minimum: int
    desired: int
    is_protected: bool = False


@dataclass(frozen=True, slots=True)
class AccountFacts:
    """
    The account's facts; each part may be `Unknown`.

    Attributes:
        ec2: The instance.

        type_facts: Its type.

        manager: The service that places work on it and replaces it.

        has_stop_protection: Its attribute disableApiStop.

        has_termination_protection: Its attribute disableApiTermination.

        group: Its auto-scaling group; None without one.

        sessions: Open Session Manager sessions on it.
    """

    ec2: Known[Ec2Facts]
    type_facts: Known[TypeFacts]
    manager: Known[Manager]
    has_stop_protection: Known[bool]
    has_termination_protection: Known[bool]
    group: Known[GroupFacts | None]
    sessions: Known[int]
