"""Close and findings on one table: which minutes change a finding, and which events are sent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from neuron_wire.holders import Holder
from neuron_wire.line_members import iso_minute
from neuron_wire.owners import Owner
from proof.factories.records import MINUTE
from tests.aggregator.findings.findings_fleet import FindingsFleet, busy, held, idle, maker


def owners(events):
    """Return the events about an owner."""
    return [event for event in events if "Owner" in event]


def shown(events):
    """Return step, kind, subject and change of each event."""
    return [
        (event["Step"], event["Kind"], event.get("InstanceId", event.get("Owner")), event["Change"])
        for event in events
    ]


def test_an_idle_instance_opens_one_finding_that_closes_when_it_works_again():
    """
    An idle instance opens one finding that closes when it works; other minutes write and send
    nothing.
    """
    fleet = FindingsFleet()
    assert [(1, "idle-instance", "i-1", "opened")] == shown(fleet.pass_minute(maker(idle)))
    versions = {place: finding.version for place, finding in fleet.table.findings.items()}
    assert [] == fleet.pass_minute(maker(idle, minutes=21))
    assert versions == {place: finding.version for place, finding in fleet.table.findings.items()}
    assert [(2, "idle-instance", "i-1", "worsened")] == shown(
        fleet.pass_minute(maker(idle, minutes=30))
    )
    closing = [fleet.pass_minute(maker(busy)) for _ in range(3)]
    assert [[], [], [(3, "idle-instance", "i-1", "closed")]] == [
        shown(events) for events in closing
    ]
    assert 1 == len({event["Id"] for event in fleet.sent})
    assert not any(state.findings for state in fleet.states().values())


@pytest.mark.parametrize(
    ("changes", "guard"),
    [
        ({"minutes": 59}, "idle-cores"),
        ({"core_state": "au"}, "no-holder"),
        ({"readings": {}}, "host-cpu"),
        ({"readings": {"HostCpuPercent": 6.25}}, "host-cpu"),
        ({"instance_type": "trn1.16xlarge"}, "host-cpu"),
        ({"reservations": "unknown"}, "reservations-known"),
        ({"reservations": None}, "reservations-known"),
        ({"paid": "committed"}, "not-committed"),
        ({"covered_seconds": 56.0}, "coverage"),
    ],
)
def test_each_guard_alone_holds_a_stop_back(changes, guard):
    """
    Each guard alone prevents a stop, at its boundary: 60 minutes, half of eight vCPUs, 95 %
    coverage.
    """
    members = {"minutes": 60, "readings": {"HostCpuPercent": 6.24}, **changes}

    def make(**moment):
        others = {name: value for name, value in members.items() if name != "core_state"}
        base = idle(**others, **moment)
        state = members.get("core_state", "uu")
        return replace(base, core_state=state)

    (event,) = FindingsFleet().pass_minute(make)
    assert [guard] == event["HeldBackBy"]


def test_a_busy_host_of_a_scheduler_without_assignments_is_no_reason_to_keep():
    """
    A busy host of a scheduler without assignments does not prevent a stop: the scheduler restarts
    its pods elsewhere.
    """
    (event,) = FindingsFleet().pass_minute(
        maker(idle, minutes=60, reservations="known", readings={})
    )
    assert [] == event["HeldBackBy"]


def test_two_emitters_hold_a_stop_back():
    """Two emitters prevent a stop, because each of them knows only its own lines."""
    members = {"minutes": 60, "readings": {"HostCpuPercent": 4.9}}
    (event,) = FindingsFleet().pass_minute(
        maker(idle, **members), maker(idle, boot="another", **members)
    )
    assert ["one-emitter"] == event["HeldBackBy"]


def test_an_instance_in_two_clusters_is_not_an_idle_instance_in_either():
    """
    An instance in two clusters is not an idle instance in either; one that moves within a minute
    is.
    """
    fleet = FindingsFleet()
    other = {"cluster": "inference", "boot": "another"}
    assert [] == fleet.pass_minute(maker(idle), maker(idle, **other))
    moving = maker(idle, covered_seconds=30.0), maker(idle, covered_seconds=36.0, **other)
    opened = fleet.pass_minute(*moving)
    assert {"training", "inference"} == {event["ClusterName"] for event in opened}
    assert [] == fleet.pass_minute(maker(busy), maker(busy, **other))
    assert [] == fleet.pass_minute(maker(idle, minutes=99), maker(idle, minutes=99, **other))


def test_silence_neither_closes_nor_worsens_and_a_clean_shutdown_closes_after_a_while():
    """
    Silence neither closes nor worsens a finding. A clean shutdown closes it after
    SilentAfterMinutes, because a restart is one too.
    """
    fleet = FindingsFleet()
    other = maker(busy, instance_id="i-2")
    fleet.pass_minute(maker(idle), other)
    assert [[]] * 5 == [fleet.pass_minute(other) for _ in range(5)]
    back = fleet.pass_minute(maker(idle, minutes=20, is_clean_shutdown=True), other)
    assert [] == back
    sent = [shown(fleet.pass_minute(other)) for _ in range(6)]
    assert [[]] * 5 + [[(2, "idle-instance", "i-1", "closed")]] == sent
    assert "gone" == fleet.sent[-1]["Reason"]


@pytest.mark.parametrize(
    "changes",
    [
        {"executions": 1},
        {"execution_errors": 1},
        {"owners": (Owner("0-1", "slurm:7 ann", None, "", 0, 14),)},
        {"owners": (Owner("0-1", "slurm:7 ann", None, "", 80),)},
        {"owners": (Owner("0-1", "slurm:7 ann"),)},
        {"core_state": "a?", "utilization_percent": (0.0, None)},
        {"owners": (Owner("0", "slurm:7 ann", None, "", 0, 20),), "owners_more": "1"},
        {"owners": (), "holders": (Holder("0-1", "slurm:7 ann"),), "holders_more": 1},
        {
            "core_state": "ab",
            "utilization_percent": (0.0, 50.0),
            "owners": (),
            "holders": (Holder("0", "slurm:7 ann"),),
        },
    ],
)
def test_an_owner_that_executes_or_is_partly_unknown_is_no_finding(changes):
    """
    Neither an owner that executes or executed 14 minutes ago, nor one with unknown work, nor its
    instance is a finding.
    """
    assert [] == FindingsFleet().pass_minute(held("aa", (20, 20), **changes))


def test_an_instance_that_executes_is_not_idle():
    """
    An instance opens a finding 15 minutes after the last execution of its owners, and executions
    close it.
    """
    fleet = FindingsFleet()
    assert [] == fleet.pass_minute(maker(idle, executions=1))
    quiet = [
        held("aa", (40, 40), owners=(Owner("0-1", "[unnamed]", None, "", 0, minutes),))
        for minutes in range(1, 16)
    ]
    sent = [fleet.pass_minute(make) for make in quiet]
    assert [[]] * 14 == sent[:-1]
    assert [("opened", iso_minute(MINUTE + 1))] == [
        (event["Change"], event["Since"]) for event in sent[-1]
    ]
    closing = [fleet.pass_minute(maker(idle, execution_errors=1)) for _ in range(3)]
    assert [[], [], ["work"]] == [[event["Reason"] for event in sent] for sent in closing]


def test_an_owner_that_only_has_cores_reserved_is_idle_from_when_it_got_them():
    """
    An owner with only reserved cores is idle from the assignment on, although the cores may have
    been free for hours.
    """
    fleet = FindingsFleet()
    pods = [
        maker(
            idle,
            minutes=400,
            reservations="known",
            owners=(Owner("", "ml/trainer-0", "ml", "0-1", None, minutes),),
        )
        for minutes in (14, 15)
    ]
    assert [] == fleet.pass_minute(pods[0])
    sent = fleet.pass_minute(pods[1])
    assert [(1, "idle-instance", "i-1", "opened"), (1, "idle-owner", "ml/trainer-0", "opened")] == (
        sorted(shown(sent), key=lambda row: row[1])
    )
    (owner,) = owners(sent)
    assert ["idle-cores", "no-reservation"] == (
        next(event for event in sent if "InstanceId" in event)["HeldBackBy"]
    )
    expected = {
        "AllocatedCores": 2,
        "IdleCores": 2,
        "BusyCores": 0,
        "IdleMinutes": 15,
        "Team": "ml",
    }
    assert expected.items() <= owner.items()


def test_the_work_of_another_rank_closes_the_findings_about_a_rank():
    """Work of another rank of its job closes the findings about a rank and its instance."""
    fleet = FindingsFleet()
    waits = held("aa", (90, 90), "ml/train-0/main", instance_id="i-3")
    assert 2 == len(fleet.pass_minute(waits))
    works = held("bb", (0, 0), "ml/train-1/main")
    closing = [fleet.pass_minute(works, waits) for _ in range(3)]
    assert [[], [], ["work", "work"]] == [[event["Reason"] for event in sent] for sent in closing]


def test_an_owner_with_unknown_cores_stays():
    """
    Unknown cores and silent instances do not close a finding about an owner; a free core does.
    """
    fleet = FindingsFleet()
    fleet.pass_minute(held("aa", (20, 20)))
    unknown = [fleet.pass_minute(held("??", (0, 0), owner="other")) for _ in range(10)]
    assert [[]] * 10 == unknown
    free = [fleet.pass_minute(maker(idle, minutes=1)) for _ in range(3)]
    assert [[], [], ["gone"]] == [[event["Reason"] for event in sent] for sent in free]


def test_an_owner_of_cores_without_a_holder_stops_nothing():
    """A line that names an owner for an unattached core does not keep the owner's finding open."""
    fleet = FindingsFleet()
    fleet.pass_minute(held("aa", (20, 20)))
    assert [] == owners(fleet.pass_minute(held("uu", (40, 40))))


def test_at_most_two_hundred_a_run_and_the_oldest_first():
    """A run sends at most 200 events, the oldest first; the next run sends the rest."""
    fleet = FindingsFleet()
    makers = [maker(idle, instance_id=f"i-{n}", cluster=f"c{n % 10}") for n in range(5 * 50)]
    first = fleet.pass_minute(*makers)
    assert 200 == len(first)
    rest = fleet.pass_minute(maker(busy, readings={"HardwareFaults": 1}, cluster="new"))
    assert [50, 1] == [
        sum(event["Kind"] == finding_kind for event in rest)
        for finding_kind in ("idle-instance", "hardware-fault")
    ]
    assert "hardware-fault" == rest[-1]["Kind"]


def test_events_that_the_bus_rejects_are_sent_by_the_next_run_and_rollups_do_not_wait():
    """
    Events that the bus rejects, in whole or in part, are sent by the next run. Rollups do not wait.
    """
    fleet = FindingsFleet()
    fleet.accepts = lambda details: [False] * len(details)
    fleet.pass_minute(*[maker(idle, instance_id=f"i-{n}") for n in range(12)])
    assert MINUTE in fleet.table.publications
    assert [] == fleet.sent
    fleet.accepts = lambda details: [number % 2 == 0 for number in range(len(details))]
    counts = []
    while fleet.close().findings_failed:
        counts.append(len(fleet.sent))
    assert 12 == len(fleet.sent) == len({event["Id"] for event in fleet.sent})
    assert counts
