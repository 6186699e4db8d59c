"""
The findings of instances, for the buckets that one process reads.

The effect of a minute is a draft until the minute has been published: a minute that turned out to
be incomplete, or that could not be published, changes nothing. A minute that is read again because
of late records adds the faults that no event has reported.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from aggregator.findings.detail import NO_ROLLUP_FACTS, event_of, instance_members
from aggregator.findings.steps import close_finding, open_silence, step_faults, step_idleness
from aggregator.rollups.rollup import SilentInstance
from aggregator.rollups.sums import HARDWARE_ERROR_MEMBERS
from aggregator.storage.record_items import bucket_of
from neuron_accounts.findings import (
    CLOSED,
    CLOSED_AS_GONE,
    CLOSED_BY_REPORT,
    HARDWARE_FAULT,
    IDLE_INSTANCE,
    OPENED,
    SILENT_INSTANCE,
    FindingKey,
    FindingsState,
)
from neuron_accounts.owner_minutes import cores_by_owner, quiet_minutes_of
from neuron_wire.names import BUSY_STATE, UNKNOWN_STATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from aggregator.environment import Rules
    from aggregator.findings.detail import FactsOf
    from aggregator.findings.outbox import StackLogGroups
    from aggregator.findings.steps import FindingStep
    from neuron_accounts.findings import Detail
    from neuron_wire import MinuteRecord
    from neuron_wire.merging import InstanceMinute, Key


MAX_DUE: Final = 100
"""Events that may wait in one item; without room for its event, a step is not applied yet."""

MAX_OPEN_CHARS: Final = 250_000
"""Most characters of the findings in one item: 5,000 instances, or 160,000 in all buckets."""

_NUMBERS_CHARS: Final = 40  # of a finding, in addition to its names


@dataclass(slots=True)
class _Draft:
    step: FindingStep
    found: InstanceMinute | SilentInstance | None  # content of the event besides the step
    has_room: bool  # True if the event of the step has room; False also without an event
    faults: int = 0  # faults of the minute that the step reports


@dataclass(slots=True)
class InstanceFindings:
    """
    The open findings of some buckets.

    Attributes:
        states: The state by bucket.

        rules: The settings that decide which cores count as idle.

        groups: The log groups of the evidence.
    """

    states: Mapping[int, FindingsState]
    rules: Rules
    groups: StackLogGroups
    _changed: set[int] = field(default_factory=set)
    _minute: int = 0
    _taken_in: int = 0
    _drafts: dict[FindingKey, _Draft] = field(default_factory=dict)
    _idle: list[tuple[FindingKey, InstanceMinute, int | None]] = field(default_factory=list)
    _events: Counter[int] = field(default_factory=Counter)
    _seen: set[Key] = field(default_factory=set)
    _chars: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Count the characters of the findings."""
        for bucket, state in self.states.items():
            self._chars[bucket] = sum(_chars(key.subject) for key in state.findings) + sum(
                _chars(instance_id) * len(minutes)
                for (_, instance_id), minutes in state.faults.items()
            )

    def begin_minute(self, minute: int, taken_in: int) -> None:
        """
        Start a draft of *minute*, and discard the draft before it.

        Minutes up to *taken_in* were folded: only faults of such a minute are read.
        """
        self._minute = minute
        self._taken_in = taken_in
        self._drafts = {}
        self._idle = []
        self._events = Counter()
        self._seen = set()

    def draft_instance(self, found: InstanceMinute) -> None:
        """Draft the effect of an instance's minute on its findings."""
        record = found.record
        faults = round(max(record.number(member) or 0 for member in HARDWARE_ERROR_MEMBERS))
        if faults:
            self._draft_faults(found, faults)
        if self._minute <= self._taken_in:
            return
        idle_minutes = None
        if not found.in_other_clusters:  # another emitter reports differently about the instance
            idle_minutes = fully_idle_minutes(record, self.rules.idle_after_minutes)
        state = self._state(bucket_of(record.instance_id))
        if state is None:
            return
        idle, fault, silence = (
            FindingKey(record.cluster, finding_kind, record.instance_id)
            for finding_kind in (IDLE_INSTANCE, HARDWARE_FAULT, SILENT_INSTANCE)
        )
        self._seen.add((record.cluster, record.instance_id))
        if idle_minutes is not None or idle in state.findings:
            self._idle.append((idle, found, idle_minutes))
        if fault in state.findings and not faults:
            step = step_faults(state.findings[fault], 0, self._minute, self._minute)
            self._draft(fault, step, found)
        if silence in state.findings:
            step = close_finding(state.findings[silence], self._minute, CLOSED_BY_REPORT)
            self._draft(silence, step, found)

    def _draft_faults(self, found: InstanceMinute, faults: int) -> None:
        record = found.record
        state = self.states[bucket_of(record.instance_id)]
        instance = record.cluster, record.instance_id
        reported = state.faults.get(instance, {}).get(self._minute, 0)
        if faults <= reported:
            return
        key = FindingKey(record.cluster, HARDWARE_FAULT, record.instance_id)
        before = state.findings.get(key)
        step = step_faults(before, faults - reported, self._minute, self._newest(state))
        self._draft(key, step, found, faults)

    def draft_absent(
        self,
        silent: Mapping[str, Sequence[SilentInstance]],
        presence_of: Callable[[str, str, int], tuple[str, int]],
    ) -> None:
        """
        Draft the instances without a record, after `draft_instance` had all others.

        *presence_of* returns `live`, `silent` or `gone` for a cluster's instance in a minute, and
        its minutes of absence.
        """
        for cluster, instances in silent.items():
            for instance in instances:
                key = FindingKey(cluster, SILENT_INSTANCE, instance.instance_id)
                state = self._state(bucket_of(instance.instance_id))
                if state is not None and key not in state.findings:
                    self._draft(key, open_silence(instance.last_minute, self._minute), instance)
        for bucket in self.states:
            state = self._state(bucket)
            for key, finding in state.findings.items() if state else ():
                if (key.cluster, key.subject) in self._seen:
                    continue
                presence, absent_minutes = presence_of(key.cluster, key.subject, self._minute)
                reason = CLOSED_BY_REPORT if presence == "live" else CLOSED_AS_GONE
                if key.kind == SILENT_INSTANCE:
                    ends = presence != "silent"
                else:  # an instance that restarts also shuts down cleanly, and returns soon
                    ends = presence == "gone" and absent_minutes > self.rules.silent_after_minutes
                if ends:
                    self._draft(key, close_finding(finding, self._minute, reason))

    def keep_drafts(self, facts: FactsOf) -> int:
        """
        Apply the draft, now that the minute was published.

        Return the number of steps that must wait, because too many wait already.
        """
        others = self._drafts
        self._drafts = {}
        for key, found, idle_minutes in self._idle:
            awaited = facts.get(key.cluster, NO_ROLLUP_FACTS).awaited
            self._draft_idleness(key, found, idle_minutes, awaited)
        self._drafts |= others
        waiting = 0
        for key, draft in self._drafts.items():
            bucket = bucket_of(key.subject)
            state = self.states[bucket]
            step = draft.step
            is_full = step.change is not None and not draft.has_room
            grows = step.change == OPENED or draft.faults
            if is_full or (grows and self._chars[bucket] > MAX_OPEN_CHARS):
                waiting += 1
                continue
            if draft.has_room:
                rollup_facts = facts.get(key.cluster, NO_ROLLUP_FACTS)
                about = draft.found
                members: Detail = {}
                if isinstance(about, SilentInstance):
                    members = about.members()
                elif about is not None:
                    members = instance_members(about, key.kind, self.rules, rollup_facts.awaited)
                members |= rollup_facts.members()
                state.due.append(event_of(key, step, self._minute, members, self.groups))
            self._apply(bucket, key, step)
            if draft.faults:
                reported = state.faults.setdefault((key.cluster, key.subject), {})
                reported[self._minute] = draft.faults
                self._chars[bucket] += _chars(key.subject)
        self._drafts = {}
        self._idle = []
        return waiting

    def _draft_idleness(
        self,
        key: FindingKey,
        found: InstanceMinute,
        idle_minutes: int | None,
        awaited: Mapping[str, bool],
    ) -> None:
        """
        Draft the effect of the cluster on an instance that was idle for *idle_minutes*.

        An instance whose owners work elsewhere waits for them, and that counts as work.
        """
        record = found.record
        owners = [owner for owner in cores_by_owner(record) if owner in awaited]
        step = step_idleness(
            self.states[bucket_of(key.subject)].findings.get(key),
            None if owners else idle_minutes,
            self._minute,
            self.rules.idle_after_minutes,
            worked=BUSY_STATE in record.core_state
            or record.has_executions
            or any(awaited[owner] for owner in owners),
        )
        self._draft(key, step, found)

    def _apply(self, bucket: int, key: FindingKey, step: FindingStep) -> None:
        state = self.states[bucket]
        if step.change == CLOSED:
            del state.findings[key]
            self._chars[bucket] -= _chars(key.subject)
        else:
            state.findings[key] = step.after
        if step.change == OPENED:
            self._chars[bucket] += _chars(key.subject)
        state.minute = self._newest(state)
        self._changed.add(bucket)

    def packed_buckets(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the changed buckets: the number of due events in each, and its state."""
        for bucket in sorted(self._changed):
            state = self.states[bucket]
            yield bucket, len(state.due), state.packed()

    def _state(self, bucket: int) -> FindingsState | None:
        """Return the state of *bucket*; None if the minute has been folded already."""
        state = self.states[bucket]
        # The state has the minute that last changed it, so a written step is not drafted again.
        return state if self._minute > state.minute else None

    def _newest(self, state: FindingsState) -> int:
        """Return the newest minute that is known for a bucket with that *state*."""
        return max(self._minute, self._taken_in, state.minute)

    def _draft(
        self,
        key: FindingKey,
        step: FindingStep | None,
        found: InstanceMinute | SilentInstance | None = None,
        faults: int = 0,
    ) -> None:
        """Draft *step* of a finding, if there is one."""
        if step is None:
            return
        bucket = bucket_of(key.subject)
        room = MAX_DUE - len(self.states[bucket].due)
        has_room = step.change is not None and self._events[bucket] < room
        self._events[bucket] += has_room
        self._drafts[key] = _Draft(step, found, has_room, faults)


def fully_idle_minutes(record: MinuteRecord, after_minutes: int) -> int | None:
    """
    Return the minutes for which every core of an instance is idle and no execution is known.

    None if it is less than *after_minutes*, or a core is unknown.
    """
    state = record.core_state
    if not state or BUSY_STATE in state or UNKNOWN_STATE in state:
        return None
    least = min(*record.idle_minutes, quiet_minutes_of(record))
    return least if least >= after_minutes else None


def _chars(instance_id: str) -> int:
    return len(instance_id) + _NUMBERS_CHARS
