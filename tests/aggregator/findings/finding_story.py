"""Some hours of a small fleet in which every kind of finding opens, worsens and closes."""

from __future__ import annotations

from dataclasses import replace

from aggregator.environment import Rules
from neuron_accounts.teams import team_rules
from neuron_wire.owners import Owner
from proof.factories.records import record
from tests.aggregator.findings.findings_fleet import NOTHING_RAN, FindingsFleet, busy, idle, maker

STORY_TEAMS = team_rules("research|slurm:*=ml")
STORY_PLACE = {
    "region": "us-east-1",
    "availability_zone": "us-east-1b",
    "account_id": "123456789012",
    "lifecycle": "spot",
}


def story():
    """Return the events in the order in which they were sent."""
    return [*_hours_of_research(), *_a_day_after_a_fault()]


def _hours_of_research():
    fleet = FindingsFleet(Rules(grace_s=60, teams=STORY_TEAMS))
    job = {"cluster": "research", "instance_type": "trn1.2xlarge", "reservations": "known"}
    owner, other = (Owner("0-1", f"slurm:{name}", "default") for name in ("7 ann", "8 ben"))
    works = maker(busy, instance_id="i-0works", owners=(other,), **job)
    holds = [
        maker(
            record,
            instance_id="i-0holds",
            core_state="aa",
            utilization_percent=(0.0, 0.0),
            idle_minutes=(minutes, minutes),
            **NOTHING_RAN,
            **STORY_PLACE,
            **job,
            owners=(replace(owner, executions=0, quiet_minutes=minutes),),
        )
        for minutes in (16, 30, 61)
    ]
    for hold in holds:
        fleet.pass_minute(hold, works)
    for _ in range(3):
        fleet.pass_minute(maker(busy, instance_id="i-0holds", owners=(owner,), **job), works)
    for _ in range(6):  # one instance falls silent, then reports again
        fleet.pass_minute(works)
    unread = {"cluster": "research", "reservations": "unknown"}
    fleet.pass_minute(maker(idle, instance_id="i-0holds", **unread), works)
    fleet.pass_minute(
        maker(idle, instance_id="i-0holds", cluster="research", is_clean_shutdown=True), works
    )
    for _ in range(6):  # then it shuts down for good
        fleet.pass_minute(works)
    return fleet.sent


def _a_day_after_a_fault():
    fleet = FindingsFleet(Rules(grace_s=60, silent_after_minutes=60))
    faults = {"HardwareFaults": 2}
    fleet.pass_minute(maker(busy, cluster="serving", readings=faults, ecc_uncorrected_rise=1))
    fleet.pass_minute(maker(busy, cluster="serving", readings=faults))
    for _ in range(24):
        fleet.minute += 59
        fleet.pass_minute(maker(busy, cluster="serving"))
    return fleet.sent
