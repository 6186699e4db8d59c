"""`--attribution team` writes no person's name and loses no core."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import generate_latest

from neuron_accounts.core_time import CostRules
from neuron_accounts.ledger import row_line
from neuron_accounts.prices import Prices
from neuron_emf.reading.minute_lines import MinuteLines
from neuron_emf.reading.periods import WHOLE_TIME
from neuron_emitter.errors import SettingsError
from neuron_emitter.logs import Event, EventQueue
from neuron_emitter.owners.assignments import Allocation, Assignments, RuntimeOwner
from neuron_emitter.prometheus.metrics_page import MetricsPage
from neuron_emitter.settings import RunSettings
from neuron_wire import MinuteRecord, parse
from neuron_wire.core_members import core_indexes
from neuron_wire.names import UNALLOCATED_OWNER
from neuron_wire.owners import UNNAMED_OWNER
from tests.neuron_emitter.loop_rig import FakeClock, records, run
from tests.neuron_emitter.neuron_reports import (
    REPORTS_START_S,
    counters,
    executions,
    hardware,
    instance,
    kubernetes,
    memory,
    report,
    runtime,
    runtime_vcpu,
    written,
)

PERSON = "ada-lovelace"
TEAM_CORES = 32
TEAM_POD = "pod"
ANY_TEAMS = st.sampled_from(["ml", "ops", None])
HOLDERS = st.lists(
    st.tuples(st.sampled_from([TEAM_POD, "slurm:7", "process:python3"]), ANY_TEAMS), max_size=8
)


class TeamLookup:
    """A lookup that knows every process, except those of pods, which the report names."""

    def __init__(self, holders):
        self.holders = dict(enumerate(holders, 1))

    def note_pids(self, pids):
        """Do nothing: all processes are known."""

    def owner_of(self, pid):
        """Return an owner with a person's name, and the scheduler's team."""
        owner_kind, team = self.holders[pid]
        return (
            None
            if owner_kind == TEAM_POD
            else RuntimeOwner(f"{owner_kind} {PERSON}", team=team, command=PERSON)
        )


class FakeReservations:
    """Assignments of a scheduler: pods have the cores they hold, each of *teams* one free core."""

    def __init__(self, holders, teams):
        pods = [
            (core, team or "lab")
            for core, (owner_kind, team) in enumerate(holders)
            if owner_kind == TEAM_POD
        ]
        free = [(len(holders) + number, team) for number, team in enumerate(teams)]
        allocations = [
            Allocation(f"{team or 'lab'}/{PERSON}-{core}", team, frozenset([core]), is_exact=True)
            for core, team in (*pods, *free)
        ]
        self.assignments = Assignments("known", tuple(allocations))

    def current_assignments(self):
        """Return the fixed assignments."""
        return self.assignments


def document_of(holders):
    """Return a report in which each holder has a core, with a person's name in every free text."""
    pods = {
        core: f"{team or 'lab'}/{PERSON}-0"
        for core, (owner_kind, team) in enumerate(holders)
        if owner_kind == TEAM_POD
    }
    runtimes = [
        runtime(
            counters([0] * TEAM_CORES),
            memory({core: 1}, [(0, 0)] if core == 0 else [], cores=TEAM_CORES),
            executions(1, causes={PERSON: 1}),
            runtime_vcpu(error=f"no vCPU of {PERSON}"),
            pid=core + 1,
            tag=PERSON,
            error=f"{PERSON} waits",
        )
        for core in range(len(holders))
    ]
    whole = report(
        *runtimes,
        instance_info=instance("trn1.32xlarge", instance_name=PERSON),
        neuron_hardware_info=hardware(16, 2),
        neuron_k8s_info=kubernetes(pods),
    )
    return written(whole).replace(b"model.neff", PERSON.encode()) + b"\n"


def events_of_others():
    """Return events with texts of neuron-monitor and the kernel."""
    events = EventQueue()
    events.add_event(
        Event("MonitorDied", REPORTS_START_S, "neuron-monitor exited", {"Stderr": PERSON})
    )
    events.add_event(
        Event("HardwareFault", REPORTS_START_S, "a fault", {"KernelMessage": PERSON, "Fault": "X"})
    )
    return events


def played(holders, attribution, reserved=()):
    """Return the lines and the page of 66 s of the running emitter."""
    clock = FakeClock()
    page = MetricsPage(clock)
    chunks = [(second, document_of(holders)) for second in range(0, 65, 5)]
    lines, _ = run(
        chunks,
        until_s=66,
        clock=clock,
        page=page,
        owners=TeamLookup(holders),
        reservations=FakeReservations(holders, reserved) if reserved else None,
        events=events_of_others(),
        attribution=attribution,
        runtime_lines="all",
        high_resolution_metrics=True,
    )
    return lines, generate_latest(page).decode()


@settings(max_examples=30)
@given(HOLDERS, st.lists(ANY_TEAMS, max_size=4))
def test_teams_have_their_cores_and_no_person_a_name(holders, reserved):
    """No line, page or ledger row has a person's name, and each team has its cores."""
    lines, page = played(holders, "team", reserved)
    for text in (*lines, page):
        assert PERSON not in text, text
    expected = {}
    for core, (owner_kind, team) in enumerate(holders):
        named = team or ("lab" if owner_kind == TEAM_POD else None)
        expected.setdefault(f"team:{named}" if named else UNNAMED_OWNER, (set(), set()))[0].add(
            core
        )
    for core, team in enumerate(reserved, len(holders)):
        expected.setdefault(f"team:{team}" if team else UNNAMED_OWNER, (set(), set()))[1].add(core)
    minutes = [record for record in map(parse, lines) if isinstance(record, MinuteRecord)]
    assert minutes
    for record in minutes:
        assert expected == {
            owner.name: (set(core_indexes(owner.cores)), set(core_indexes(owner.reserved)))
            for owner in record.owners
        }
        assert {holder.pid for holder in record.holders} <= set(range(1, len(holders) + 1))
        assert {None} >= {holder.tag for holder in record.holders}
    rows = list(MinuteLines(WHOLE_TIME, "", CostRules(Prices())).fold_lines(lines))
    assert {*expected, UNALLOCATED_OWNER} == {row.owner for row in rows}
    assert all(PERSON not in row_line(row) for row in rows)
    for row in rows:
        assert (row.owner.partition("team:")[2] or None) == row.team
        cores = expected.get(row.owner, [range(len(holders) + len(reserved), TEAM_CORES)])
        assert sum(map(len, cores)) * len(minutes) * 1_000_000 == row.allocated


def test_owners_are_named_without_attribution_team():
    """Without `--attribution team`, lines and page have names, so the law above is not empty."""
    lines, page = played([(TEAM_POD, "ml"), ("slurm:7", "ml"), ("process:python3", None)], "auto")
    texts = {json.loads(line)["Kind"]: line for line in lines if PERSON in line}
    assert {"minute", "runtime", "event"} == texts.keys()
    assert PERSON in page


def test_a_core_assigned_to_another_owner_is_assigned_to_its_team():
    """A pod that waits for a core is named by its team."""
    holders = [("slurm:7", "ops")]
    lost = TeamLookup(holders)
    lost.owner_of = lambda _pid: RuntimeOwner(f"slurm:7 {PERSON}", team="ops", gone=True)
    reservations = FakeReservations([(TEAM_POD, "ml")], [])
    chunks = [(second, document_of(holders)) for second in range(0, 60, 5)]
    parts = {"owners": lost, "reservations": reservations, "attribution": "team"}
    (holder,) = records(chunks, until_s=59, **parts)[0].holders
    assert "team:ops" == holder.name
    assert holder.gone is True
    assert "team:ml" == holder.assigned_to


def test_raw_reports_are_refused_with_attribution_team():
    """Raw reports are refused, because they have tags and pod names."""
    with pytest.raises(SettingsError, match="--raw-reports writes the names that --attribution t"):
        RunSettings(attribution="team", raw_reports=60)
