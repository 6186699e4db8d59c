"""Which cores are reserved, by whom, and for how long their owners have executed nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.fold import Fold, FoldSettings
from neuron_emitter.fold.attribution import reserve_cores
from neuron_emitter.owners.assignments import Allocation, Assignments, RuntimeOwner
from neuron_wire.core_members import core_indexes
from neuron_wire.owners import Owner
from tests.neuron_emitter.neuron_reports import (
    REPORTS_START_S,
    add,
    closed,
    counters,
    executions,
    hardware,
    kubernetes,
    memory,
    nobody,
    report,
    runtime,
)

FOUR_CORES = hardware(2, 2)
ANY_STATES = st.text("bau?", min_size=1, max_size=12)
RESERVED_OWNERS = ["ml/a/main", "ml/b/main", "ml/c", "slurm:7 ann"]


@st.composite
def nodes(draw):
    """Cores with states, runtimes that hold those that are not unattached, and assignments."""
    states = draw(ANY_STATES)
    taken = [core for core, letter in enumerate(states) if letter in "ba"]
    some = st.sets(st.sampled_from(taken), max_size=6) if taken else st.just(set())
    held = {(pid, "1"): draw(some) for pid in range(draw(st.integers(0, 4)))}
    owner = st.builds(
        RuntimeOwner, st.none() | st.sampled_from(RESERVED_OWNERS), st.none(), st.booleans()
    )
    ids = st.frozensets(st.integers(0, 15), max_size=8)
    devices = st.frozensets(st.integers(0, 7), max_size=3)
    one = st.builds(
        Allocation,
        st.sampled_from(RESERVED_OWNERS),
        st.none(),
        ids,
        devices,
        st.booleans(),
        st.booleans(),
    )
    return states, held, {key: draw(owner) for key in held}, draw(st.lists(one, max_size=5))


@given(nodes(), st.sampled_from([None, 1, 2]))
def test_reserved_cores_are_unattached_and_no_more_than_assigned(node, per_device):
    """By each owner, its assigned cores less its held ones, for any answers of schedulers."""
    states, held, owners, allocations = node
    found = reserve_cores(allocations, held, owners, states, per_device)
    assert len({holding.name.split("/main")[0] for holding in found.holdings}) == len(
        found.holdings
    )
    for holding in found.holdings:
        assert all(states[core] == "u" for core in holding.reserved)
        place = holding.name.removesuffix("/main")
        theirs = [each for each in allocations if each.name.removesuffix("/main") == place]
        assigned_ids = set().union(*(each.cores for each in theirs))
        for each in theirs:
            assigned_ids |= {
                n * (per_device or 0) + k for n in each.devices for k in range(per_device or 0)
            }
        own = set().union(
            *(
                cores
                for key, cores in held.items()
                if (owners[key].name or "").removesuffix("/main") == place
            )
        )
        if not all(each.is_exact for each in theirs):
            assert len(holding.reserved) <= max(0, len(assigned_ids) - len(own))


POD_ALLOCATION = Allocation("ml/b/main", "ml", frozenset({0, 1}))
A = RuntimeOwner("ml/a/main")
B = RuntimeOwner("ml/b/main")
GONE_OWNER = RuntimeOwner("ml/a/main", gone=True)
NODE_CASES = [
    # states, who holds what, allocations, reserved, whose cores were given to another, unverified
    ("uuuu", {}, [POD_ALLOCATION], "0-1", None, 0),
    ("auuu", {0: B}, [POD_ALLOCATION], "1", None, 0),
    # the extension gave others: the number is right
    ("uuau", {2: B}, [POD_ALLOCATION], "0", None, 0),
    ("aauu", {0: A, 1: A}, [POD_ALLOCATION], "2-3", None, 0),
    ("aaau", {0: A, 1: A, 2: A}, [POD_ALLOCATION], "3", None, 0),
    ("aauu", {0: GONE_OWNER, 1: GONE_OWNER}, [POD_ALLOCATION], "", "ml/b/main", 0),
    ("aauu", {0: GONE_OWNER, 1: B}, [POD_ALLOCATION], "", "ml/b/main", 0),
    ("?uuu", {}, [POD_ALLOCATION], "1", None, 0),
    ("a?uu", {0: B, 1: B}, [POD_ALLOCATION._replace(cores=frozenset(range(4)))], "2-3", None, 0),
    ("aauu", {0: A, 1: A}, [POD_ALLOCATION._replace(is_exact=True)], "", "ml/b/main", 0),
    ("aauu", {0: RuntimeOwner(), 1: RuntimeOwner()}, [POD_ALLOCATION._replace(is_exact=True)], "",
        None, 0),
    ("auuu", {0: B}, [POD_ALLOCATION._replace(is_exact=True)], "1", None, 0),
    ("uuuu", {}, [POD_ALLOCATION._replace(cores=frozenset(), devices=frozenset({1}))], "2-3", None,
        0),
    ("uuuu", {},
        [POD_ALLOCATION, POD_ALLOCATION._replace(cores=frozenset(), devices=frozenset({0}))], "0-1",
        None, 0),
    ("uuuu", {}, [POD_ALLOCATION._replace(name="ml/b/side"), POD_ALLOCATION], "0-1", None, 0),
    ("uuuu", {}, [POD_ALLOCATION._replace(is_verified=False)], "", None, 2),
    ("uuuu", {}, [POD_ALLOCATION._replace(cores=frozenset({4, 99}))], "", None, 0),
]  # fmt: skip


@pytest.mark.parametrize("case", NODE_CASES)
def test_assigned_cores_without_a_holder_are_reserved(case):
    """At its own ids where nobody holds them, else at the lowest that are free."""
    states, held, allocations, cores, to, unverified = case
    runtimes = {(core, "1"): {core} for core in held}
    owners = {(core, "1"): owner for core, owner in held.items()}
    found = reserve_cores(allocations, runtimes, owners, states, 2)
    assert [set(core_indexes(cores))] * bool(cores) == [
        holding.reserved for holding in found.holdings
    ]
    assert unverified == found.unverified
    assert {to} - {None} == {*found.assigned_to.values()}
    assert all(owners[key].name != to for key in found.assigned_to)


def node(fold, minute, *runtimes, **members):
    """The minute of a report of four cores."""
    reported = {"neuron_hardware_info": FOUR_CORES, **members}
    made = report(*runtimes, **reported) if runtimes else nobody(60.0, **reported)
    add(fold, made, REPORTS_START_S + 60 * minute)
    return closed(fold, seq=minute + 1)


def using(pid, core, completed=None, **counts):
    """A runtime that has a byte on a core."""
    ran = [] if completed is None else [executions(completed, period=60.0, **counts)]
    return runtime(counters([0] * 4, 60.0), memory({core: 1}), *ran, pid=pid, tag="1")


def started(assignments_now, state=None):
    """An emitter that names processes by their pids, and has these assignments."""
    return Fold(
        FoldSettings(period_s=60.0),
        state,
        owner_of=lambda pid: RuntimeOwner(f"slurm:{pid} ann", job=str(pid)),
        current_assignments=lambda: assignments_now,
    )


JOBS = st.lists(
    st.builds(
        Allocation,
        st.sampled_from(["", "slurm:7 ada"]),
        st.sampled_from([None, "physics"]),
        job=st.sampled_from(["7", "8"]),
        has_ended=st.booleans(),
    ),
    max_size=2,
    unique_by=lambda allocation: allocation.job,
)


@given(JOBS, st.sampled_from(["known", "unknown"]), st.sampled_from([None, "env"]))
def test_what_the_scheduler_knows_of_a_job_names_its_holder(jobs, status, team):
    """Member by member: what it does not know leaves what the process says, for holders too."""
    owner = RuntimeOwner("slurm:sluid=x 1000", team, job="7")
    fold = Fold(
        FoldSettings(period_s=60.0),
        owner_of=lambda _pid: owner,
        current_assignments=lambda: Assignments(status, tuple(jobs)),
    )
    (holder,) = node(fold, 0, using(1, 0, 0)).holders
    known = next((job for job in jobs if job.job == "7"), Allocation(""))
    expected = (known.name or owner.name, known.team or team, known.has_ended)
    assert expected == (holder.name, holder.team, holder.gone)


def test_owners_of_a_minute_have_what_they_hold_and_what_is_reserved():
    """Reserved is within unattached; the team of a job is known by its reservation."""
    assignments_now = Assignments(
        "known", (POD_ALLOCATION._replace(name="slurm:7 ann", cores=frozenset({0, 1, 2})),)
    )
    record = node(started(assignments_now), 0, using(7, 0, 80), using(8, 3, 0))
    assert "auua" == record.core_state
    assert (
        Owner("0", "slurm:7 ann", "ml", "1-2", 80),
        Owner("3", "slurm:8 ann", None, "", 0, 1),
    ) == record.owners
    members = record.members()
    assert ("known", 2, 2) == tuple(
        members[name] for name in ("Reservations", "UnattachedCores", "ReservedCores")
    )


@pytest.mark.parametrize("status", ["none", "unknown"])
def test_what_was_not_read_is_said_and_nothing_is_counted(status):
    """Unknown is not unreserved, and without a scheduler there is no number."""
    members = node(started(Assignments(status)), 0).members()
    assert status == members["Reservations"]
    assert members.get("ReservedCores") is None


def test_reports_have_assignments_if_no_other_source_answers():
    """For two minutes after they told it last, as they name holders."""
    fold = started(Assignments("unknown"))
    reported = [node(fold, 0, neuron_k8s_info=kubernetes({0: "ml/b", 1: "ml/b"})), node(fold, 1)]
    pod = Owner("", "ml/b/main", "ml", "0-1")
    assert [("known", pod.name, pod.reserved)] * 2 == [
        (one.reservations, one.owners[0].name, one.owners[0].reserved) for one in reported
    ]
    late = node(fold, 2)
    assert "unknown" == late.reservations
    assert () == late.owners


def test_an_unnamed_process_has_the_owner_that_its_core_is_assigned_to():
    """One that tells its own pod keeps it, whatever ids say."""
    reported = Assignments("known", (POD_ALLOCATION._replace(cores=frozenset({0})),))
    nameless = Fold(FoldSettings(period_s=60.0), current_assignments=lambda: reported)
    assert [Owner("0", "ml/b/main", "ml")] == [*node(nameless, 0, using(7, 0)).owners]
    expected = [Owner("", "ml/b/main", "ml", "1", None, 1), Owner("0", "slurm:7 ann")]
    assert expected == [*node(started(reported), 0, using(7, 0)).owners]


@pytest.mark.parametrize("unread", [True, False], ids=["not collected", "no line"])
def test_a_minute_in_which_executions_were_not_read_begins_again(unread):
    """20 quiet, 9 unread and 1 quiet minute are 1: fully idle means read in every minute."""
    fold = started(Assignments("none"))
    for minute in range(29):
        if minute < 20:
            last = node(fold, minute, using(7, 0, 0))
        elif unread:
            node(fold, minute, neuron_runtime_data=None)
    assert 20 == last.owners[0].quiet_minutes
    assert 1 == node(fold, 29, using(7, 0, 0)).owners[0].quiet_minutes


def test_an_owner_with_only_reservations_counts_as_read():
    """An unknown minute hides its cores and neither adds nor resets, also over a restart."""
    reported = Assignments("known", (POD_ALLOCATION,))
    fold = started(reported)
    assert [1, 2] == [node(fold, minute).owners[0].quiet_minutes for minute in (0, 1)]
    assert () == node(fold, 2, neuron_runtime_data=None).owners
    again = started(reported, fold.encode_state())
    assert () == node(again, 3, neuron_runtime_data=None).owners
    assert 3 == node(again, 4).owners[0].quiet_minutes


def test_quiet_minutes_count_from_when_an_owner_came():
    """Not while it executes, nor over a minute that nobody read; and over a restart."""
    fold = started(Assignments("none"))
    minutes = [[using(7, 0, done)] for done in (0, 0, 5, 0, None, 0)] + [[using(8, 0, 0)]]
    records = [node(fold, minute, *one) for minute, one in enumerate(minutes)]
    assert [1, 2, None, 1, None, 1, 1] == [record.owners[0].quiet_minutes for record in records]
    assert [0, 0, 5, 0, None, 0, 0] == [record.owners[0].executions for record in records]
    again = node(started(Assignments("none"), fold.encode_state()), len(minutes), using(8, 0, 0))
    assert 2 == again.owners[0].quiet_minutes
    later = node(
        started(Assignments("none"), fold.encode_state()), len(minutes) + 20, using(8, 0, 0)
    )
    assert 1 == later.owners[0].quiet_minutes


TRN1 = hardware(16, 2)


def runtime_using(pid, used, held):
    """A runtime that uses some cores and has a byte on others."""
    shares = [50 if core in used else 0 for core in range(32)]
    return runtime(counters(shares), memory(dict.fromkeys(held, 1)), pid=pid, tag="1")


def trn1(*runtimes, **members):
    """A report of 32 cores."""
    return report(*runtimes, **{"neuron_hardware_info": TRN1, **members})


def test_a_process_that_outlived_its_pod_keeps_its_name():
    """Its core is allocated to another pod by now, which is not to blame."""
    fold = Fold(
        FoldSettings(period_s=5.0), owner_of=lambda _pid: RuntimeOwner("ml/old", "ml", gone=True)
    )
    add(
        fold,
        trn1(runtime_using(7, [], [3]), neuron_k8s_info=kubernetes({3: "ml/new"})),
        REPORTS_START_S,
    )
    (holder,) = closed(fold).holders
    assert "ml/old" == holder.name
    assert "ml" == holder.team
    assert holder.gone is True
