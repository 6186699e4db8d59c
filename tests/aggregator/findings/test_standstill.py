"""Executions that do not end: from when on they are findings, and what is known to end them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.environment import Rules
from neuron_wire.holders import Holder
from neuron_wire.owner_patterns import OwnerPatternsError, is_of, owner_patterns
from neuron_wire.phrases import iso_minute
from neuron_wire.stalls import Stall
from neuron_wire.teams import team_rules
from proof.factories.records import record
from tests.aggregator.findings.fleet import Fleet, maker

RULES = Rules(grace_s=60, hung_after_minutes=60, teams=team_rules("training|slurm:*=ml"))
KNOWN = {"core_state": "aa", "utilization_percent": (0.0, 0.0), "idle_minutes": (5, 5)}
NO_DATE = Holder("0", "slurm:7 ann", last_execution="2025-13-24T10:00Z")
UNKNOWN = {"core_state": "a?", "utilization_percent": (0.0, None), "idle_minutes": (5, 5)}


def stall(cause, minutes, **changes):
    """A record of an instance on which one runtime stalls."""
    job = {"name": "slurm:7 ann", "last_execution": "2025-11-24T10:00Z", **changes}
    return maker(record, stalls=(Stall("0-1", **job, cause=cause, minutes=minutes),), **KNOWN)


def stopped(minutes, **changes):
    """A record of one whose idle cores a job holds that last executed so long ago."""

    def make(minute, **moment):
        last = None if minutes is None else iso_minute(minute - minutes)
        job = Holder("0-1", last_execution=last, **{"name": "slurm:7 ann", **changes})
        return record(minute=minute, holders=(job,), **KNOWN, **moment)

    return make


def changes(fleet, *makers):
    """What each minute tells, in short."""
    return [[(one["Kind"], one["Change"]) for one in fleet.pass_minute(make)] for make in makers]


@pytest.mark.parametrize(("cause", "limit"), [("collectives", 1), ("timeouts", 10), ("busy", 60)])
def test_a_stall_is_a_finding_at_the_limit_of_its_cause(cause, limit):
    """Not a minute earlier; it closes in the first minute that knows of none."""
    over = maker(record, **KNOWN)
    assert [[], [("hung-execution", "opened")], [], [("hung-execution", "closed")]] == changes(
        Fleet(RULES), stall(cause, limit - 1), stall(cause, limit), stall(cause, limit + 1), over
    )


def test_an_event_says_who_hangs():
    """The processes of one owner and cause together, with the latest execution of any."""
    first = Stall("0", "slurm:7 ann", 1, "1", "lab", "2025-11-24T10:00Z", cause="busy", minutes=61)
    second = Stall("1", "slurm:7 ann", 2, "2", "lab", "2025-11-24T10:01Z", cause="busy", minutes=60)
    third = Stall("3", None, 3, cause="timeouts", minutes=10)
    early = Stall("4", "slurm:9 bob", 4, cause="timeouts", minutes=9)
    fleet = Fleet(RULES)
    fleet.pass_minute(maker(record, stalls=(first, third, second, early), **KNOWN))
    assert [
        {"Name": "slurm:7 ann", "Team": "ml", "Cores": "0-1", "LastExecution": "2025-11-24T10:01Z",
         "Cause": "busy"},
        {"Name": "[unnamed]", "Cores": "3", "Cause": "timeouts"},
    ] == fleet.told[0]["Owners"]  # fmt: skip
    assert iso_minute(fleet.minute - 60) == fleet.told[0]["Since"]


def test_a_job_that_holds_idle_cores_and_stopped_is_a_finding_after_60_minutes():
    """Worded as what it may be; an execution, or cores that it lets go, closes it."""
    fleet = Fleet(RULES)
    free = maker(record, core_state="uu", utilization_percent=(0.0, 0.0), idle_minutes=(5, 5))
    assert [[], [("executions-stopped", "opened")], [("executions-stopped", "closed")]] == changes(
        fleet, stopped(59), stopped(60), stopped(0)
    )
    assert [[("executions-stopped", "opened")], [("executions-stopped", "closed")]] == changes(
        fleet, stopped(60), free
    )
    event, closed = fleet.told[-2:]
    assert "finished, waiting, compiling or hung" == event["Meaning"]
    assert ("over", None) == (closed["Reason"], closed.get("Meaning"))
    assert [("slurm:7 ann", "ml", "0-1")] == [
        (one["Name"], one["Team"], one["Cores"]) for one in event["Owners"]
    ]


@pytest.mark.parametrize(("name", "is_job"), [
    ("slurm:7 ann", True), ("ml/llama/main", False), (None, False), ("batch/x", True),
])  # fmt: skip
def test_only_jobs_are_to_go_on(name, is_job):
    """A service may wait for requests for hours."""
    fleet = Fleet(Rules(grace_s=60, job_owners=("slurm:*", "batch/*")))
    assert is_job == bool(fleet.pass_minute(stopped(600, name=name)))


@pytest.mark.parametrize(
    ("opens", "unknown"),
    [
        (stall("busy", 60), maker(record, executions=None, **KNOWN)),
        (stopped(60), maker(record, **UNKNOWN)),
        (stopped(60), maker(record, core_state="", utilization_percent=(), idle_minutes=())),
        (stopped(60), maker(record, holders_more=1, **KNOWN)),
        (stopped(60), stopped(None)),
        (stopped(60), maker(record, holders=(NO_DATE,), **KNOWN)),
    ],
)
def test_what_nobody_knows_closes_nothing(opens, unknown):
    """Executions, a core, a holder that found no room, or since when one has not executed."""
    fleet = Fleet(RULES)
    assert 1 == len(fleet.pass_minute(opens))
    assert [[], []] == changes(fleet, unknown, unknown)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["unknown", "under", "none"]), max_size=12))
def test_nothing_opens_without_a_stall_at_its_limit(minutes):
    """Of whatever minutes, known or not."""
    made = {
        "unknown": maker(record, executions=None, **UNKNOWN),
        "under": stall("busy", 59), "none": maker(record, **KNOWN),
    }  # fmt: skip
    fleet = Fleet(RULES)
    assert [] == [one for name in minutes for one in fleet.pass_minute(made[name])]


def test_they_worsen_whenever_the_time_has_doubled_and_close_when_the_instance_is_gone():
    """As idleness does; the other instance keeps the cluster alive."""
    fleet = Fleet(RULES)
    assert [[("hung-execution", "opened")], [], [("hung-execution", "worsened")]] == changes(
        fleet, stall("timeouts", 60), stall("timeouts", 119), stall("timeouts", 120)
    )
    other = maker(record, instance_id="i-2", **KNOWN)
    bye = maker(record, bye=True, executions=None, **KNOWN)
    fleet.pass_minute(bye, other)
    told = [one for _ in range(6) for one in fleet.pass_minute(other)]
    assert [("closed", "gone")] == [(one["Change"], one["Reason"]) for one in told]


@pytest.mark.parametrize(("made", "kind", "limit"), [
    (lambda minutes: stall("busy", minutes), "hung-execution", 30),
    (stopped, "executions-stopped", 60),
])  # fmt: skip
def test_each_kind_worsens_by_its_own_limit(made, kind, limit):
    """HungAfterMinutes means nothing to jobs that stopped."""
    steps = [made(limit), made(2 * limit - 1), made(2 * limit)]
    fleet = Fleet(Rules(grace_s=60, hung_after_minutes=30))
    assert [[(kind, "opened")], [], [(kind, "worsened")]] == changes(fleet, *steps)


def test_a_late_record_changes_no_standstill():
    """Neither opens nor closes one."""
    fleet = Fleet(RULES)
    fleet.pass_minute(stall("busy", 60))
    fleet.pass_minute(stall("busy", 61))
    late = record(minute=fleet.minute - 1, seq=99, instance_id="i-2", holders=(
        Holder("0", "slurm:1", last_execution="2025-01-01T00:00Z"),
    ), **KNOWN)  # fmt: skip
    fleet.deliver(late, minute=fleet.minute - 1)
    fleet.close()
    assert ["opened"] == [one["Change"] for one in fleet.told]


# --- JobOwners ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", ()), ("slurm:*", ("slurm:*",)), ("slurm:*, batch/* ", ("slurm:*", "batch/*"))],
)
def test_patterns_of_owners_stand_between_commas(text, expected):
    """Blanks around each do not count; empty is none."""
    assert expected == owner_patterns(text)


@pytest.mark.parametrize("text", [",", "a,", "a='b'", "a|b", " ", "x" * 257])
def test_what_is_no_pattern_is_refused(text):
    """The message says what was found and what to write."""
    with pytest.raises(OwnerPatternsError, match=r"\*"):
        owner_patterns(text)


def test_a_pattern_is_of_the_whole_name():
    """`*` stands for any text."""
    assert is_of(("slurm:*",), "slurm:7 ann")
    assert not is_of(("slurm:*",), "x slurm:7")
    assert not is_of((), "slurm:7")
    assert not is_of(("*",), None)
