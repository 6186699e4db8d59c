"""
The findings of owners, which are known once the shares of a minute are merged.

Their state is one item for each cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from aggregator.findings import detail, steps
from aggregator.findings.bucket_findings import MAX_DUE
from neuron_wire.findings import CLOSED, GONE, IDLE_CORES, FindingKey, FindingsState
from neuron_wire.names import NOBODY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aggregator.environment import Rules
    from aggregator.findings.detail import EvidenceGroups, RollupFacts
    from aggregator.findings.steps import FindingStep
    from aggregator.rollups.owners import OwnerSum
    from aggregator.rollups.rollup import RollupInProgress
    from neuron_wire.findings import OpenFinding

    _OwnerSteps = dict[FindingKey, tuple[FindingStep, OwnerSum | None]]

MAX_OPEN_OWNERS: Final = 200
"""Owners of one cluster with a finding; those that hold most cost come first."""


@dataclass(slots=True)
class OwnersSeen:
    """
    Owners with a finding that hold cores in a minute.

    Attributes:
        holding: All of them.

        working: Those with a busy core.
    """

    holding: set[str] = field(default_factory=set)
    working: set[str] = field(default_factory=set)

    def include(self, other: OwnersSeen) -> None:
        """Add those of *other*."""
        self.holding |= other.holding
        self.working |= other.working


@dataclass(frozen=True, slots=True)
class _ClusterMinute:
    # What is known of one minute of a cluster; without facts it has no rollup any more.
    cluster: str
    minute: int
    idle: Mapping[str, OwnerSum] | None
    seen: OwnersSeen
    facts: RollupFacts | None


@dataclass(slots=True)
class ClusterFindings:
    """
    What is open of the owners of all clusters.

    Attributes:
        states: By cluster; one without a finding has none.

        rules: How long owners are remembered, and their teams.

        groups: Where the evidence is.

        waiting: Steps of owners that found no room.
    """

    states: dict[str, FindingsState]
    rules: Rules
    groups: EvidenceGroups
    waiting: int = 0
    _changed: set[str] = field(default_factory=set)

    def watched(self) -> dict[str, frozenset[str]]:
        """The owners with a finding, by cluster: whether they work is asked of each instance."""
        return {
            cluster: frozenset(key.subject for key in state.findings)
            for cluster, state in self.states.items()
            if state.findings
        }

    def step(
        self,
        minute: int,
        clusters: Mapping[str, RollupInProgress],
        seen: Mapping[str, OwnersSeen],
        facts: Mapping[str, RollupFacts],
    ) -> None:
        """*minute* was published: what it makes of the owners of *clusters*."""
        for cluster in sorted({*clusters, *self.states}):
            state = self.states.get(cluster) or FindingsState()
            if minute > state.minute:
                in_progress = clusters.get(cluster)
                of_minute = _ClusterMinute(
                    cluster,
                    minute,
                    in_progress.idle_owners() if in_progress else {},
                    seen.get(cluster) or OwnersSeen(),
                    facts.get(cluster),
                )
                self._apply(of_minute, state, self._owner_steps(of_minute, state))

    def _owner_steps(self, of_minute: _ClusterMinute, state: FindingsState) -> _OwnerSteps:
        idle = of_minute.idle
        if idle is None:
            return {}  # too many to say of one that it holds nothing idle
        found: _OwnerSteps = {}
        room = MAX_OPEN_OWNERS - len(state.findings)
        for owner, owner_sum in idle.items():
            key = FindingKey(of_minute.cluster, IDLE_CORES, owner)
            before = state.findings.get(key)
            if owner in NOBODY or (before is None and room <= 0):
                continue
            room -= before is None
            step = steps.of_idleness(
                before,
                owner_sum.minutes,
                of_minute.minute,
                self.rules.idle_after_minutes,
                worked=False,
            )
            if step is not None:
                found[key] = step, owner_sum
        for key, before in state.findings.items():
            if key.subject not in idle:
                step = self._without_idle_cores(key.subject, before, of_minute)
                if step is not None:
                    found[key] = step, None
        return found

    def _without_idle_cores(
        self, owner: str, before: OpenFinding, of_minute: _ClusterMinute
    ) -> FindingStep | None:
        minute, facts, seen = of_minute.minute, of_minute.facts, of_minute.seen
        if facts is None:  # the cluster itself is gone
            return steps.close(before, minute, GONE)
        if owner in seen.holding:
            worked = owner in seen.working
            after_minutes = self.rules.idle_after_minutes
            return steps.of_idleness(before, None, minute, after_minutes, worked=worked)
        return steps.of_absence(
            before, minute, self.rules.silent_forget_minutes, is_all_known=facts.is_all_known
        )

    def _apply(
        self,
        of_minute: _ClusterMinute,
        state: FindingsState,
        owners: _OwnerSteps,
    ) -> None:
        """Take the steps in."""
        if not owners:
            return
        cluster, minute, facts = of_minute.cluster, of_minute.minute, of_minute.facts
        self.states[cluster] = state
        self._changed.add(cluster)
        state.minute = minute
        for key, (step, owner_sum) in owners.items():
            if step.change is not None:
                if len(state.due) >= MAX_DUE:
                    self.waiting += 1
                    continue
                members = detail.of_step(key, step, minute)
                if owner_sum is not None:
                    members |= detail.of_owner(cluster, key.subject, owner_sum, self.rules)
                since = step.after.since
                state.due.append(detail.completed(members, since, minute, facts, self.groups))
            if step.change == CLOSED:
                del state.findings[key]
            else:
                state.findings[key] = step.after

    def packed(self) -> Iterator[tuple[str, int, bytes]]:
        """The clusters that changed: how many events are due in each, and its state."""
        for cluster in sorted(self._changed):
            state = self.states[cluster]
            yield cluster, len(state.due), state.packed()
