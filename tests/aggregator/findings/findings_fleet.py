"""A small fleet that reports minute by minute, and an event bus that keeps its events."""

from __future__ import annotations

from aggregator.environment import Rules
from aggregator.findings.outbox import FindingsOutlet, StackLogGroups
from neuron_accounts.findings import FindingsState
from neuron_accounts.teams import team_rules
from neuron_wire.owners import Owner
from proof.factories.records import MINUTE, record
from tests.aggregator.memory_stack import MemoryStack

FLEET_RULES = Rules(grace_s=60, teams=team_rules("training|slurm:*=ml"))
STACK_GROUPS = StackLogGroups("records", "rollups")
NOTHING_RAN = {"executions": None, "execution_errors": None}
IDLE_MEMBERS = {
    "core_state": "uu",
    "utilization_percent": (0.0, 0.0),
    "reservations": "none",
    **NOTHING_RAN,
}


def idle(instance_id="i-1", minutes=20, **changes):
    """Return a record of an instance that is fully idle and that no process holds."""
    members = {**IDLE_MEMBERS, "idle_minutes": (minutes, minutes + 5), **changes}
    return record(instance_id=instance_id, **members)


def busy(instance_id="i-1", **changes):
    """Return a record of an instance whose cores work."""
    return record(
        instance_id=instance_id,
        core_state="bb",
        utilization_percent=(80.0, 90.0),
        idle_minutes=(0, 0),
        **changes,
    )


class FindingsFleet:
    """A stack whose minutes pass one after another, and an event bus."""

    def __init__(self, rules=FLEET_RULES):
        self._stack = MemoryStack(rules)
        self.table = self._stack.table
        self.sent = []
        self.minute = MINUTE - 1
        self.accepts = lambda details: [True] * len(details)
        self.close()

    def put(self, details):
        answers = self.accepts(details)
        self.sent += [detail for detail, is_taken in zip(details, answers, strict=True) if is_taken]
        return answers

    def deliver(self, *records, minute):
        now_s = max((minute + 1) * 60 + 5, (self.minute + 1) * 60)
        delivered = [record for record in records if record.minute_ms == minute * 60_000]
        assert len(records) == len(delivered)
        self._stack.deliver(now_s, *delivered)

    def close(self, after_s=100.0):
        outlet = FindingsOutlet(self.put, STACK_GROUPS)
        return self._stack.close((self.minute + 1) * 60 + after_s, outlet=outlet)

    def pass_minute(self, *makers):
        """Report one minute, with a record from each of *makers*; return the events."""
        self.minute += 1
        records = [maker(minute=self.minute, seq=self.minute - MINUTE + 1) for maker in makers]
        if records:
            self.deliver(*records, minute=self.minute)
        before = len(self.sent)
        self.close()
        return self.sent[before:]

    def states(self):
        return {
            place: FindingsState.unpacked(finding.payload)
            for place, finding in self.table.findings.items()
        }


def maker(make, **changes):
    """Return a maker, which `pass_minute` calls for a record of its minute."""
    return lambda **moment: make(**changes, **moment)


def held(state, minutes, owner="slurm:7 ann", instance_id="i-1", **changes):
    """Return a maker of records of an instance whose cores an owner holds."""
    members = {
        "core_state": state,
        "idle_minutes": minutes,
        "owners": (Owner("0-1", owner, executions=0, quiet_minutes=min(minutes) or None),),
        "utilization_percent": tuple(
            None if letter == "?" else 50.0 * (letter == "b") for letter in state
        ),
        **NOTHING_RAN,
        **changes,
    }
    return maker(record, instance_id=instance_id, **members)
