"""
The members of a step's event, as `neuron_accounts/finding.schema.json` describes them.

A share knows one instance; the whole cluster is known only after the shares are merged, and its
`RollupFacts` are added then.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from aggregator.minutes import end_s
from neuron_accounts.core_time import FINE, round_shares
from neuron_accounts.findings import (
    CLOSED,
    HARDWARE_FAULT,
    IDLE_INSTANCE,
    IDLE_OWNER,
    LEAST_COVERAGE_PERCENT,
    LEAST_IDLE_MINUTES,
    MOST_HOST_VCPUS,
    finding_id,
)
from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_accounts.owner_minutes import (
    core_owners,
    cores_by_owner,
    owner_minutes_of,
    quiet_minutes_of,
    waits_for,
)
from neuron_accounts.payment import is_committed
from neuron_wire.core_members import core_indexes, core_ranges, idle_cores
from neuron_wire.line_members import Members, iso_minute, present_members
from neuron_wire.names import (
    ATTACHED_IDLE_STATE,
    AVOIDABLE_PAID,
    COMMITTED_PAID,
    MICRO,
    MINUTE_S,
    RESERVATIONS_KNOWN,
    RESERVATIONS_UNKNOWN,
    VERSION,
)
from neuron_wire.owners import Owner
from neuron_words.name_words import member_is

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from aggregator.environment import Rules
    from aggregator.findings.outbox import StackLogGroups
    from aggregator.findings.steps import FindingStep
    from neuron_accounts.core_time import OwnerTime
    from neuron_accounts.findings import Detail, FindingKey
    from neuron_accounts.owner_minutes import OwnerMinute
    from neuron_wire import MinuteRecord
    from neuron_wire.merging import InstanceMinute

FactsOf: TypeAlias = "Mapping[str, RollupFacts]"
"""Facts of the rollup of each cluster."""

MAX_OWNERS_IN_EVENT: Final = 8  # named in an event
MAX_EVENT_CHARS: Final = 3_000
"""The most characters of an event with owners: some of them hold hundreds of scattered cores."""

_EVIDENCE_BEFORE_S: Final = 10 * MINUTE_S
_LONGEST_EVIDENCE_S: Final = 24 * 3600


@dataclass(frozen=True, slots=True)
class RollupFacts:
    """
    The rollup that a finding came from.

    Attributes:
        rollup_id: The ID of its last publication; None without a rollup.

        coverage_percent: The share of the cluster that reported; None if no instance was present.

        awaited: Owners of idle instances that are not fully idle in the cluster. The value is True
            if the owner, or a sibling, is known to work there.
    """

    rollup_id: str | None = None
    coverage_percent: float | None = None
    awaited: Mapping[str, bool] = field(default_factory=dict)

    def members(self) -> Detail:
        """Return the event's members about the rollup."""
        return present_members(
            {"RollupId": self.rollup_id, "CoveragePercent": self.coverage_percent}
        )


NO_ROLLUP_FACTS: Final = RollupFacts()
"""The facts of a cluster that no longer has a rollup."""


def instance_members(
    instance: InstanceMinute, kind: str, rules: Rules, awaited: Collection[str]
) -> Detail:
    """Return an event's members about an instance; *awaited* owners are not fully idle."""
    record = instance.record
    state = record.core_state
    cores = len(record.core_state)
    is_paid_anyway = is_committed(record, rules.paid_by_type)
    detail: Detail = {
        "InstanceType": record.instance_type,
        "Region": record.region,
        "AvailabilityZone": record.availability_zone,
        "AccountId": record.account_id,
        "Lifecycle": record.lifecycle,
        "Paid": COMMITTED_PAID if is_paid_anyway else AVOIDABLE_PAID,
        "NeuronCores": cores or None,
        "Reservations": RESERVATIONS_UNKNOWN if record.is_allocation_unknown else None,
        "Owners": _owners(record, rules) or None,
    }
    idle = idle_cores(state, record.idle_minutes, rules.idle_after_minutes)
    least = min([record.idle_minutes[core] for core in idle], default=0)
    idle_minutes = min(least, quiet_minutes_of(record))
    if kind == IDLE_INSTANCE and idle_minutes > 0:
        detail["IdleCores"] = len(idle)
        detail["Cores"] = core_ranges(idle)
        detail["IdleMinutes"] = idle_minutes
        detail["HeldBackBy"] = _held_back_by(instance, idle_minutes, is_paid_anyway=is_paid_anyway)
    price = rules.prices.usd_per_core_hour(record.instance_type, cores, record.region)
    if price is not None:
        cores_of = cores_by_owner(record)
        owned = core_owners(record, idle, cores_of)
        did = owner_minutes_of(record, cores_of)
        waits = waits_for(
            record,
            idle,
            owned.cores_of,
            did,
            rules.idle_after_minutes,
            is_excluded=is_paid_anyway or instance.in_other_clusters,
        )
        is_avoidable = waits is not None and not any(wait in awaited for wait in waits)
        detail["UsdPerHour"] = round(price * cores, 6)
        detail["AvoidableUsdPerHour"] = round(price * cores, 6) if is_avoidable else 0.0
    return present_members(detail)


def owner_members(
    key: FindingKey, did: OwnerMinute, idle: OwnerTime | None, minutes: int, rules: Rules
) -> Detail:
    """
    Return an event's members about an owner that has been fully idle for *minutes*.

    *did* is its work in the minute. Without *idle* cores, the event has only allocated and busy
    ones.
    """
    detail: Detail = {
        "AllocatedCores": round(did.allocated / MICRO, 6),
        "BusyCores": round(did.busy / MICRO, 6),
    }
    if idle is not None:
        detail["Team"] = rules.teams.team_of(key.cluster, key.subject, idle.team)
        detail["IdleCores"] = round(idle.idle / MICRO, 6)
        detail["Instances"] = idle.instances
        detail["IdleMinutes"] = minutes
        if (cost := idle.idle_cost) is not None:
            detail["UsdPerHour"] = round_shares([cost], FINE)[0] / MICRO
    return present_members(detail)


def event_of(
    key: FindingKey, step: FindingStep, minute: int, members: Detail, groups: StackLogGroups
) -> Detail:
    """Return the event of *step*: the common members, *members*, and the evidence query."""
    detail: Detail = {
        "Schema": VERSION,
        "Id": finding_id(key, step.after.opened),
        "Step": step.after.step,
        "Change": step.change,
        "Kind": key.kind,
        "ClusterName": key.cluster,
        "Owner" if key.kind == IDLE_OWNER else "InstanceId": key.subject,
        "Minute": iso_minute(minute),
        "Opened": iso_minute(step.after.opened),
        "Since": iso_minute(step.after.since),
        "Reason": step.reason,
        "Faults": step.after.level if key.kind == HARDWARE_FAULT else None,
    }
    detail = present_members({**detail, **members})
    if step.change == CLOSED:
        detail.pop("HeldBackBy", None)  # an instance that works again is not stopped
    elif "HeldBackBy" in detail and detail.get("CoveragePercent", 0.0) < LEAST_COVERAGE_PERCENT:
        detail["HeldBackBy"] = [*detail["HeldBackBy"], "coverage"]
    detail["Query"] = _query(detail, step.after.since, minute, groups)
    if len(json.dumps(detail)) > MAX_EVENT_CHARS:
        detail.pop("Owners", None)
    return detail


def _query(
    detail: Mapping[str, object], since: int, minute: int, groups: StackLogGroups
) -> Members:
    end = end_s(minute)
    start = max(end_s(since - 1) - _EVIDENCE_BEFORE_S, end - _LONGEST_EVIDENCE_S)
    cluster = member_is("ClusterName", str(detail["ClusterName"]))
    group = groups.records
    if "InstanceId" not in detail:
        group = groups.rollups
        text = f'filter Kind = "rollup" and {cluster} | sort @timestamp desc | limit 60'
    else:
        fields = "Kind, CoreState, BusyCores, UnknownCores, HostCpuPercent, Message"
        kinds = 'Kind in ["minute", "event"]'
        if detail["Kind"] == HARDWARE_FAULT:
            fields = "Event, Message, Device, Action"
            kinds = 'Kind = "event"'
        text = (
            f"fields @timestamp, {fields} | filter {kinds} and {cluster}"
            f" and {member_is('InstanceId', str(detail['InstanceId']))}"
            " | sort @timestamp desc | limit 60"
        )
    return {"LogGroup": group, "QueryString": text, "StartTime": start, "EndTime": end}


def _held_back_by(
    instance: InstanceMinute, idle_minutes: int, *, is_paid_anyway: bool
) -> list[str]:
    """
    Return the guards of `neuron-emf findings` that fail in this minute of the instance.

    Two guards are not evaluated here: half the cluster idle at once, and those of the account.
    """
    record = instance.record
    host_vcpus = _host_vcpus(record)
    holds = any(owner.cores for owner in record.owners) or bool(record.holders)
    hides_some = bool(record.holders_more or record.owners_more)
    guards = {
        "idle-cores": idle_minutes < LEAST_IDLE_MINUTES,
        "no-holder": ATTACHED_IDLE_STATE in record.core_state or holds or hides_some,
        "no-reservation": bool(record.reserved),
        "reservations-known": record.is_allocation_unknown,
        "host-cpu": record.reservations != RESERVATIONS_KNOWN
        and (host_vcpus is None or host_vcpus >= MOST_HOST_VCPUS),
        "not-committed": is_paid_anyway,
        "one-emitter": instance.duplicate_emitters or instance.in_other_clusters,
    }
    return [name for name, holds_back in guards.items() if holds_back]


def _host_vcpus(record: MinuteRecord) -> float | None:
    """Return the number of busy vCPUs of the host; None if unknown."""
    percent = record.number("HostCpuPercent")
    made = INSTANCE_TYPES.get(record.instance_type or "")
    vcpus = None if made is None else made.vcpus
    return None if percent is None or vcpus is None else percent * vcpus / 100


def _owners(record: MinuteRecord, rules: Rules) -> list[Detail]:
    """Return the owners of the instance's cores, most cores first."""
    named = [
        (party.name, party.team, party.cores, party.reserved if isinstance(party, Owner) else "")
        for party in record.owners or record.holders
        if party.name
    ]
    return [
        present_members(
            {
                "Name": name,
                "Team": rules.teams.team_of(record.cluster, name, team),
                "Cores": core_ranges((*core_indexes(cores), *core_indexes(reserved))),
                "Reserved": reserved or None,
            }
        )
        for name, team, cores, reserved in named[:MAX_OWNERS_IN_EVENT]
    ]
