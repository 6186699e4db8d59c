"""Items of findings stay under DynamoDB's size limit, and a larger one does not block close."""

from __future__ import annotations

import random

from aggregator.environment import Rules
from aggregator.findings import book, instance_findings
from aggregator.findings.instance_findings import MAX_DUE, MAX_OPEN_CHARS, InstanceFindings
from aggregator.findings.outbox import StackLogGroups
from aggregator.findings.owner_findings import MAX_OPEN_OWNERS
from aggregator.reading.capacity import MAX_BUCKET_BYTES
from neuron_accounts.findings import CLUSTER_PLACE, FindingsState
from neuron_wire.holders import MAX_HOLDER_NAME_CHARS, MAX_TEAM_CHARS
from neuron_wire.merging import merge_records
from neuron_wire.minute_record import MAX_CLUSTER_CHARS, MAX_INSTANCE_CHARS
from neuron_wire.owners import Owner
from proof.factories.records import MINUTE
from tests.aggregator.findings.findings_fleet import FindingsFleet, held, idle, maker

FULL_BUCKET = 7
DUE_GROUP = MAX_DUE // 2
OWNERS_IN_ITEM = 8  # owners of one event, which is then nearly as long as an event can be
ITEM_LETTERS = [chr(code) for code in range(33, 127) if chr(code) not in '"\\']


def noise(draw, length):
    """Return a name without any pattern."""
    return "".join(draw.choices(ITEM_LETTERS, k=length))


def test_an_item_with_all_it_may_hold_is_under_the_limit(monkeypatch):
    """
    A full item of open findings and due events stays under the limit with names that do not
    compress; findings without room are counted.
    """
    monkeypatch.setattr(instance_findings, "bucket_of", lambda _: FULL_BUCKET)
    draw = random.Random(0)
    names = [noise(draw, MAX_INSTANCE_CHARS) for _ in range(MAX_OPEN_CHARS // MAX_INSTANCE_CHARS)]
    cluster = noise(draw, 20)  # The name is frequent, and takes the room of names that are not.
    findings = InstanceFindings(
        {FULL_BUCKET: FindingsState()}, Rules(), StackLogGroups("records", "rollups")
    )

    def see(minute, instances, idle_minutes):
        findings.begin_minute(minute, minute - 1)
        for name in instances:
            owners = tuple(
                Owner(
                    "0-1",
                    noise(draw, MAX_HOLDER_NAME_CHARS),
                    noise(draw, MAX_TEAM_CHARS),
                    "",
                    0,
                    99,
                )
                for _ in range(OWNERS_IN_ITEM)
            )
            sent = {"core_state": "aa", "owners": owners}
            record = idle(name, idle_minutes, cluster=cluster, minute=minute, **sent)
            findings.draft_instance(merge_records([record]))
        return findings.keep_drafts({})

    state = findings.states[FULL_BUCKET]
    waiting = 0
    for number, first in enumerate(range(0, len(names), MAX_DUE)):
        waiting += see(MINUTE + number, names[first:][:MAX_DUE], 20)
        state.due.clear()
    assert len(names) == waiting + len(state.findings)
    assert 0 < waiting < len(names) / 2
    known = [key.subject for key in state.findings]
    assert DUE_GROUP == see(MINUTE + 1 + number, known[: MAX_DUE + DUE_GROUP], 60)
    assert MAX_DUE == len(state.due)
    assert {OWNERS_IN_ITEM} == {len(event["Owners"]) for event in state.due}
    ((_, due, payload),) = findings.packed_buckets()
    assert MAX_DUE == due
    assert 300_000 < len(payload) <= MAX_BUCKET_BYTES


def test_the_item_of_owners_with_all_it_may_hold_is_under_the_limit():
    """
    The item of owners stays under the limit with as many owners as can have a finding; steps
    without room are counted.
    """
    draw = random.Random(0)
    owners = [noise(draw, MAX_HOLDER_NAME_CHARS) for _ in range(MAX_OPEN_OWNERS)]
    cluster = noise(draw, MAX_CLUSTER_CHARS)
    fleet = FindingsFleet()
    idle_minutes = dict.fromkeys(owners, 1)

    def pass_minute(some, minutes):
        idle_minutes.update(dict.fromkeys(some, minutes))
        fleet.minute += 1
        records = [
            held(
                "ab",
                (idle_minutes[owner], 0),
                instance_id=f"i-{number}",
                cluster=cluster,
                owners=(Owner("0", owner, None, "", 0, 99), Owner("1", "works")),
            )(minute=fleet.minute, seq=fleet.minute - MINUTE + 1)
            for number, owner in enumerate(owners)
        ]
        fleet.deliver(*records, minute=fleet.minute)
        return fleet.close().findings_waiting

    groups = [owners[first:][:DUE_GROUP] for first in range(0, len(owners), DUE_GROUP)]
    assert [0] * len(groups) == [pass_minute(some, 20) for some in groups]
    assert MAX_OPEN_OWNERS == len(fleet.sent)
    fleet.accepts = lambda details: [False] * len(details)
    assert [0, 0, DUE_GROUP] == [pass_minute(some, 60) for some in groups[:3]]
    item = fleet.table.findings[f"{CLUSTER_PLACE}{cluster}"]
    assert MAX_DUE == item.due
    assert MAX_OPEN_OWNERS == len(FindingsState.unpacked(item.payload).findings)
    assert 30_000 < len(item.payload) <= MAX_BUCKET_BYTES


def test_an_item_that_is_too_large_is_counted_and_holds_nothing_up(monkeypatch):
    """
    If an item is too large, it is counted and stays as it was, the rollup is published, and
    findings that still hold are sent later.
    """
    fleet = FindingsFleet()
    monkeypatch.setattr(book, "MAX_BUCKET_BYTES", 10)
    fleet.minute += 1
    fleet.deliver(idle(minute=fleet.minute), minute=fleet.minute)
    assert 1 == fleet.close().findings_waiting
    assert fleet.minute in fleet.table.publications
    assert [] == fleet.sent
    assert {} == fleet.table.findings
    monkeypatch.undo()
    (event,) = fleet.pass_minute(maker(idle, minutes=21))
    assert 1 == event["Step"]
    assert "opened" == event["Change"]
