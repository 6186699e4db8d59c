"""Reserved cores, their owners, and quiet minutes, in which an owner executed nothing."""

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
    no_runtimes,
    report,
    runtime,
)

FOUR_CORES = hardware(2, 2)
ANY_STATES = st.text("bau?", min_size=1, max_size=12)
RESERVED_OWNERS = ["ml/a/main", "ml/b/main", "ml/c", "slurm:7 ann"]


@st.composite
def nodes(draw):
    """Generate core states, runtimes that hold cores, their owners and scheduler assignments."""
    states = draw(ANY_STATES)
    taken = [core for core, letter in enumerate(states) if letter in "ba"]
    some = st.sets(st.sampled_from(taken), max_size=6) if taken else st.just(set())
    held = {(pid, "1"): draw(some) for pid in range(draw(st.integers(0, 4)))}
    owner = st.builds(
        RuntimeOwner, st.none() | st.sampled_from(RESERVED_OWNERS), st.none(), st.booleans()
    )
    ids = st.frozensets(st.integers(0, 15), max_size=8)
    devices = st.frozensets(st.integers(0, 7), max_size=3)
    allocation = st.builds(
        Allocation,
        st.sampled_from(RESERVED_OWNERS),
        st.none(),
        ids,
        devices,
        st.booleans(),
        st.booleans(),
    )
    return states, held, {key: draw(owner) for key in held}, draw(st.lists(allocation, max_size=5))


@given(nodes(), st.sampled_from([None, 1, 2]))
def test_reserved_cores_are_unattached_and_no_more_than_assigned(node, per_device):
    """An owner's reserved cores are unattached, and at most its assigned minus its held cores."""
    states, held, owners, allocations = node
    reserved = reserve_cores(allocations, held, owners, states, per_device)
    assert len({holding.name.split("/main")[0] for holding in reserved.holdings}) == len(
        reserved.holdings
    )
    for holding in reserved.holdings:
        assert all(states[core] == "u" for core in holding.reserved)
        place = holding.name.removesuffix("/main")
        owned = [
            allocation
            for allocation in allocations
            if allocation.name.removesuffix("/main") == place
        ]
        assigned_ids = set().union(*(allocation.cores for allocation in owned))
        for allocation in owned:
            assigned_ids |= {
                n * (per_device or 0) + k
                for n in allocation.devices
                for k in range(per_device or 0)
            }
        own = set().union(
            *(
                cores
                for key, cores in held.items()
                if (owners[key].name or "").removesuffix("/main") == place
            )
        )
        if not all(allocation.is_exact for allocation in owned):
            assert len(holding.reserved) <= max(0, len(assigned_ids) - len(own))


POD_ALLOCATION = Allocation("ml/b/main", "ml", frozenset({0, 1}))
A = RuntimeOwner("ml/a/main")
B = RuntimeOwner("ml/b/main")
GONE_OWNER = RuntimeOwner("ml/a/main", gone=True)
NODE_CASES = [
    # states, holders, allocations, reserved, waiting owner, unverified
    ("uuuu", {}, [POD_ALLOCATION], "0-1", None, 0),
    ("auuu", {0: B}, [POD_ALLOCATION], "1", None, 0),
    # the device plugin gave other cores: only the number counts
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
    """An owner reserves its assigned cores if they are free, otherwise the lowest free cores."""
    states, held, allocations, cores, successor, unverified = case
    runtimes = {(core, "1"): {core} for core in held}
    owners = {(core, "1"): owner for core, owner in held.items()}
    reserved = reserve_cores(allocations, runtimes, owners, states, 2)
    assert [set(core_indexes(cores))] * bool(cores) == [
        holding.reserved for holding in reserved.holdings
    ]
    assert unverified == reserved.unverified
    assert {successor} - {None} == {*reserved.assigned_to.values()}
    assert all(owners[key].name != successor for key in reserved.assigned_to)


def node(fold, minute, *runtimes, **members):
    """Return the minute of a report of four cores."""
    reported = {"neuron_hardware_info": FOUR_CORES, **members}
    document = report(*runtimes, **reported) if runtimes else no_runtimes(60.0, **reported)
    add(fold, document, REPORTS_START_S + 60 * minute)
    return closed(fold, seq=minute + 1)


def using(pid, core, completed=None):
    """Return a runtime that has a byte on *core*."""
    ran = [] if completed is None else [executions(completed, period=60.0)]
    return runtime(counters([0] * 4, 60.0), memory({core: 1}), *ran, pid=pid, tag="1")


def started(assignments_now, state=None):
    """Return a fold that names processes by PID and has these assignments."""
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
def test_the_schedulers_facts_of_a_job_name_its_holder(jobs, status, team):
    """The scheduler's facts of a job name its holders; missing facts come from the process."""
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


def test_owners_have_held_and_reserved_cores():
    """An owner has held and reserved cores. Its team can come from the reservation."""
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
    assert "known" == members["Reservations"]
    assert 2 == members["UnattachedCores"]
    assert 2 == members["ReservedCores"]


@pytest.mark.parametrize("status", ["none", "unknown"])
def test_unknown_assignments_are_reported_and_not_counted(status):
    """If assignments are unknown, or no scheduler exists, ReservedCores is absent, not 0."""
    members = node(started(Assignments(status)), 0).members()
    assert status == members["Reservations"]
    assert members.get("ReservedCores") is None


def test_reports_have_assignments_if_no_other_source_answers():
    """For two minutes, assignments in reports count if no other source answers."""
    fold = started(Assignments("unknown"))
    reported = [node(fold, 0, neuron_k8s_info=kubernetes({0: "ml/b", 1: "ml/b"})), node(fold, 1)]
    pod = Owner("", "ml/b/main", "ml", "0-1")
    assert [("known", pod.name, pod.reserved)] * 2 == [
        (record.reservations, record.owners[0].name, record.owners[0].reserved)
        for record in reported
    ]
    late = node(fold, 2)
    assert "unknown" == late.reservations
    assert () == late.owners


def test_an_unnamed_process_has_the_owner_that_its_core_is_assigned_to():
    """A process without a name has the owner of its core's assignment; others keep their own."""
    reported = Assignments("known", (POD_ALLOCATION._replace(cores=frozenset({0})),))
    nameless = Fold(FoldSettings(period_s=60.0), current_assignments=lambda: reported)
    assert [Owner("0", "ml/b/main", "ml")] == [*node(nameless, 0, using(7, 0)).owners]
    expected = [Owner("", "ml/b/main", "ml", "1", None, 1), Owner("0", "slurm:7 ann")]
    assert expected == [*node(started(reported), 0, using(7, 0)).owners]


@pytest.mark.parametrize("has_reports", [True, False], ids=["not collected", "no line"])
def test_a_minute_without_read_executions_restarts_quiet_minutes(has_reports):
    """A minute in which executions were not read restarts quiet minutes: 20, a gap and 1 are 1."""
    fold = started(Assignments("none"))
    for minute in range(29):
        if minute < 20:
            last = node(fold, minute, using(7, 0, 0))
        elif has_reports:
            node(fold, minute, neuron_runtime_data=None)
    assert 20 == last.owners[0].quiet_minutes
    assert 1 == node(fold, 29, using(7, 0, 0)).owners[0].quiet_minutes


def test_an_owner_with_only_reservations_counts_as_read():
    """
    An owner with only reservations counts as read. An unknown minute changes no quiet minutes.

    Both also hold after a restart.
    """
    reported = Assignments("known", (POD_ALLOCATION,))
    fold = started(reported)
    assert [1, 2] == [node(fold, minute).owners[0].quiet_minutes for minute in (0, 1)]
    assert () == node(fold, 2, neuron_runtime_data=None).owners
    again = started(reported, fold.encode_state())
    assert () == node(again, 3, neuron_runtime_data=None).owners
    assert 3 == node(again, 4).owners[0].quiet_minutes


def test_quiet_minutes_count_from_when_an_owner_came():
    """
    Quiet minutes start when an owner appears, and again after executions or a gap.

    A restart keeps them.
    """
    fold = started(Assignments("none"))
    minutes = [[using(7, 0, completed)] for completed in (0, 0, 5, 0, None, 0)] + [[using(8, 0, 0)]]
    records = [node(fold, minute, *runtimes) for minute, runtimes in enumerate(minutes)]
    assert [1, 2, None, 1, None, 1, 1] == [record.owners[0].quiet_minutes for record in records]
    assert [0, 0, 5, 0, None, 0, 0] == [record.owners[0].executions for record in records]
    again = node(started(Assignments("none"), fold.encode_state()), len(minutes), using(8, 0, 0))
    assert 2 == again.owners[0].quiet_minutes
    later = node(
        started(Assignments("none"), fold.encode_state()), len(minutes) + 20, using(8, 0, 0)
    )
    assert 1 == later.owners[0].quiet_minutes


def test_a_process_that_outlived_its_pod_keeps_its_name():
    """A process without its pod keeps the old pod's name, even if the core has a new pod."""
    fold = Fold(
        FoldSettings(period_s=60.0), owner_of=lambda _pid: RuntimeOwner("ml/old", "ml", gone=True)
    )
    (holder,) = node(fold, 0, using(7, 3), neuron_k8s_info=kubernetes({3: "ml/new"})).holders
    assert "ml/old" == holder.name
    assert "ml" == holder.team
    assert holder.gone is True
