"""
The findings of owners, which are known after the shares of a minute are merged.

Their state is one item for each cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from aggregator.findings.detail import NO_ROLLUP_FACTS, event_of, owner_members
from aggregator.findings.instance_findings import MAX_DUE
from aggregator.findings.steps import step_absence, step_idleness
from aggregator.minutes import SILENT_FORGET_MINUTES
from neuron_accounts.cluster_idle import IdleOwners
from neuron_accounts.findings import (
    CLOSED,
    IDLE_OWNER,
    FindingKey,
    FindingsState,
)
from neuron_wire.names import PLACEHOLDER_OWNERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aggregator.environment import Rules
    from aggregator.findings.detail import FactsOf, RollupFacts
    from aggregator.findings.outbox import StackLogGroups
    from aggregator.findings.steps import FindingStep
    from aggregator.rollups.rollup import RollupInProgress
    from neuron_accounts.core_time import OwnerTime
    from neuron_accounts.findings import Detail, OpenFinding
    from neuron_accounts.owner_minutes import OwnerMinutes


if TYPE_CHECKING:
    _OwnerSteps = dict[FindingKey, FindingStep]


MAX_OPEN_OWNERS: Final = 200
"""Owners of one cluster with a finding; those with the highest cost come first."""


@dataclass(frozen=True, slots=True)
class _ClusterMinute:
    # One minute of a cluster: its facts, `NO_ROLLUP_FACTS` if it no longer has a rollup, and
    # *idle*, the owners with idle cores; None if they are too many.
    cluster: str
    minute: int
    idle: Mapping[str, OwnerTime] | None
    seen: OwnerMinutes
    facts: RollupFacts


@dataclass(slots=True)
class OwnerFindings:
    """
    The open findings of owners in all clusters.

    Attributes:
        states: The state by cluster; a cluster without a finding has none.

        rules: How long owners are remembered, and their teams.

        groups: The log groups of the evidence.

        waiting: Number of steps that did not fit into the items of their clusters.
    """

    states: dict[str, FindingsState]
    rules: Rules
    groups: StackLogGroups
    waiting: int = 0
    _changed: set[str] = field(default_factory=set)

    def step_minute(
        self,
        minute: int,
        clusters: Mapping[str, RollupInProgress],
        facts: FactsOf,
    ) -> None:
        """Open, change and close findings of owners in *clusters* after *minute* was published."""
        for cluster in sorted({*clusters, *self.states}):
            state = self.states.get(cluster) or FindingsState()
            if minute > state.minute:
                in_progress = clusters.get(cluster)
                owners = in_progress.idle.owners if in_progress else IdleOwners()
                of_minute = _ClusterMinute(
                    cluster,
                    minute,
                    owners.sums(),
                    owners.minutes,
                    facts.get(cluster, NO_ROLLUP_FACTS),
                )
                self._apply(of_minute, state, self._owner_steps(of_minute, state))

    def _owner_steps(self, of_minute: _ClusterMinute, state: FindingsState) -> _OwnerSteps:
        found: _OwnerSteps = {}
        if of_minute.idle is None:
            return found  # with too many owners, it is unknown which of them has no idle core
        room = MAX_OPEN_OWNERS - len(state.findings)
        # Idle owners first, highest cost first, then owners with a finding.
        for owner in dict.fromkeys([*of_minute.idle, *[key.subject for key in state.findings]]):
            key = FindingKey(of_minute.cluster, IDLE_OWNER, owner)
            before = state.findings.get(key)
            if owner in PLACEHOLDER_OWNERS or (before is None and room <= 0):
                continue
            step = self._owner_step(owner, before, of_minute)
            if step is not None:
                found[key] = step
                room -= before is None
        return found

    def _owner_step(
        self, owner: str, before: OpenFinding | None, of_minute: _ClusterMinute
    ) -> FindingStep | None:
        minute = of_minute.minute
        seen = of_minute.seen
        did = seen.by_owner.get(owner)
        if did is not None:
            after_minutes = self.rules.idle_after_minutes
            idle_minutes = seen.fully_idle_minutes(owner)
            return step_idleness(
                before,
                idle_minutes if idle_minutes >= after_minutes else None,
                minute,
                after_minutes,
                worked=seen.has_working_sibling(owner),
            )
        if before is None:
            return None
        is_known = not (seen.are_more or owner in seen.unseen)
        return step_absence(before, minute, SILENT_FORGET_MINUTES, is_known=is_known)

    def _apply(
        self,
        of_minute: _ClusterMinute,
        state: FindingsState,
        owners: _OwnerSteps,
    ) -> None:
        """Apply the steps."""
        if not owners:
            return
        cluster = of_minute.cluster
        minute = of_minute.minute
        self.states[cluster] = state
        self._changed.add(cluster)
        state.minute = minute
        for key, step in owners.items():
            if step.change is not None:
                if len(state.due) >= MAX_DUE:
                    self.waiting += 1
                    continue
                members = self._members(key, step, of_minute)
                members |= of_minute.facts.members()
                state.due.append(event_of(key, step, minute, members, self.groups))
            if step.change == CLOSED:
                del state.findings[key]
            else:
                state.findings[key] = step.after

    def _members(self, key: FindingKey, step: FindingStep, of_minute: _ClusterMinute) -> Detail:
        """Return an event's members about the owner of a finding."""
        did = of_minute.seen.by_owner.get(key.subject)
        if did is None:
            return {}
        idle = None if step.change == CLOSED else (of_minute.idle or {}).get(key.subject)
        return owner_members(
            key, did, idle, of_minute.seen.fully_idle_minutes(key.subject), self.rules
        )

    def packed_clusters(self) -> Iterator[tuple[str, int, bytes]]:
        """Yield the changed clusters: the number of due events in each, and its state."""
        for cluster in sorted(self._changed):
            state = self.states[cluster]
            yield cluster, len(state.due), state.packed()
