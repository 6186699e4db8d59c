"""
What is known about an instance, from its lines and from the account that it runs in.

A fact that the account did not give is `Unknown` with the reason, never a default.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from neuron_accounts.findings import LEAST_IDLE_MINUTES
from neuron_emf.check_results import UnknownFactError
from neuron_wire.names import BUSY_STATE, MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_accounts.now import IdleOwner
    from neuron_emf.reading.rollup_lines import PublishedRollup
    from neuron_emf.verdict.instance_lines import InstanceLines
    from neuron_emf.verdict.managers import Manager
    from neuron_wire import MinuteRecord
    from neuron_wire.line_members import Texts

LEAST_MINUTES_READ: Final = LEAST_IDLE_MINUTES
"""Minutes of lines that are looked at, up to the newest."""

_Value = TypeVar("_Value")


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
    What log lines say.

    Attributes:
        instance_id: The instance.

        now_ms: When it is asked, milliseconds since the Unix epoch.

        lines: The lines about it that were read.

        idle_start: When it turned idle; None where its count cannot be followed back.

        cluster_minutes: The rollups of its cluster, of the hour, the minute before it and around
            its idle start, in order of time, as they were published last.

        cluster_owners: What the newest of them says of owners, where it is not old.

        unreadable_rollups: Lines that name its cluster and cannot be read.

        paid_by_type: How instances of a type are paid, as `--paid-by-type` says.
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
        """Minutes for which no core was busy and nothing executed, as far as is known."""
        newest_ms = self.newest.minute_ms
        worked = [
            record
            for record in self.records
            if BUSY_STATE in record.core_state or record.has_executions
        ]
        own = self.own_records
        counts = [record.idle_minutes for record in own if record.minute_ms == newest_ms]
        idle = min(min(count, default=0) for count in counts)
        return min([idle, *((newest_ms - record.minute_ms) // MINUTE_MS for record in worked)])

    def covered_seconds(self) -> Mapping[int, float]:
        """Return the covered seconds of its own log stream by minute, in ms since the epoch."""
        hundredths: Counter[int] = Counter()  # as lines have them: 29.94 and 36.06 are 66
        for record in self.own_records:
            hundredths[record.minute_ms // MINUTE_MS] += round(100 * record.covered_seconds)
        return {minute * MINUTE_MS: total / 100 for minute, total in hundredths.items()}

    def hour_rollups(self) -> Sequence[PublishedRollup]:
        """The rollups of the hour."""
        return [rollup for rollup in self.cluster_minutes if rollup.minute_ms >= self.start_ms]


@dataclass(frozen=True, slots=True)
class Unknown:
    """
    A fact that the account did not give.

    Attributes:
        why: As a person reads it, such as `ec2:DescribeInstances is denied`.
    """

    why: str


Known: TypeAlias = _Value | Unknown


def require_known(value: Known[_Value]) -> _Value:
    """
    *value*, if it is known.

    Raises:
        UnknownFactError: If it is not.
    """
    if isinstance(value, Unknown):
        raise UnknownFactError(value.why)
    return value


@dataclass(frozen=True, slots=True)
class Ec2Facts:
    """
    What EC2 describes, or SageMaker of a node of HyperPod.

    Attributes:
        state: `running` and so on.

        account_id: None of HyperPod, which runs in an account of AWS's.

        launched_ms: When it was last started, milliseconds since the Unix epoch.

        lifecycle: `spot`, `capacity-block` and so on; None is on demand.

        reservation: What was paid beforehand that it runs in, None without one.

        placement_group: Its name, empty without one.

        operator: The AWS service that operates it, empty for none.

        tags: By key.
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
    """What EC2 says of its instance type: vCPUs, and whether it has disks that a stop erases."""

    vcpus: int
    has_instance_store: bool


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
    minimum: int
    desired: int
    is_protected: bool = False


@dataclass(frozen=True, slots=True)
class AccountFacts:
    """
    What the account says; each part may be `Unknown`.

    Attributes:
        ec2: The instance.

        type_facts: Its type.

        manager: Who places work on it and replaces it.

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
