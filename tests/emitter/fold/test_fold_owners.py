"""Who held which core of a minute, busy or not, and when each last executed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from neuron_reports import (
    INSTANCE_ID,
    START_S,
    add,
    closed,
    counters,
    executions,
    hardware,
    kubernetes,
    memory,
    minute_of,
    new_fold,
    report,
    runtime,
)

from emitter.fold import Fold, FoldSettings, RuntimeOwner
from emitter.instance.facts import InstanceFacts
from neuron_wire.cores import core_indexes
from neuron_wire.owners import Owner

TRN1 = hardware(16, 2)
CORES = st.lists(st.integers(0, 31), max_size=5, unique=True)
MINUTE_S = 60


def using(pid, used, held):
    """A runtime that uses some cores and has a byte on others."""
    shares = [50 if core in used else 0 for core in range(32)]
    return runtime(counters(shares), memory(dict.fromkeys(held, 1)), pid=pid, tag="1")


def trn1(*runtimes, **members):
    """A report of 32 cores."""
    return report(*runtimes, **{"neuron_hardware_info": TRN1, **members})


def cores_of(record):
    """All cores that the record says somebody held."""
    texts = (*(one.cores for one in record.owners), record.owners_more)
    return [core for text in texts for core in core_indexes(text)]


@settings(max_examples=50)
@given(st.lists(st.tuples(CORES, CORES), max_size=20), st.sampled_from([None, 7, 150]))
def test_owners_and_those_left_out_are_exactly_the_held_cores(entries, letters):
    """Used in the minute or with bytes on it, by however many, of whatever names or none."""

    def owner_of(pid):
        return letters and RuntimeOwner(f"{pid}{'x' * letters}")

    fold = Fold(FoldSettings(period_s=5.0), owner_of=owner_of)
    runtimes = [using(pid, used, held) for pid, (used, held) in enumerate(entries, 1)]
    for second in range(0, 60, 5):
        add(fold, trn1(*runtimes), START_S + second)
    record = closed(fold)
    held = {core for used, has in entries for core in (*used, *has)}
    assert held == set(cores_of(record))
    assert held == {core for core, state in enumerate(record.core_state) if state in "ba"}


def test_a_core_without_telemetry_is_held_all_the_same():
    """Unknown is what it did, not whose it is."""
    failed = runtime(counters([0] * 4, error="x"), memory({1: 1}), pid=7)
    record = minute_of(report(failed))
    assert ("?", "1") == (record.core_state[1], record.owners[0].cores)


def test_owners_have_the_names_of_holders():
    """The pod of the core before the process; runtimes of one pod together; its team with it."""
    fold = Fold(
        FoldSettings(period_s=5.0),
        owner_of=lambda pid: RuntimeOwner(f"slurm:{pid}", "physics") if pid > 2 else None,
    )
    pods = kubernetes({0: "ml/llama", 1: "ml/llama", 2: "ml/llama"})
    runtimes = [using(1, [0, 1], []), using(2, [], [2]), using(3, [], [5]), using(-1, [8], [9])]
    add(fold, trn1(*runtimes, neuron_k8s_info=pods), START_S)
    record = closed(fold)
    expected = [
        Owner("0-2", "ml/llama/main", "ml"),
        Owner("8-9", "[unnamed]"),
        Owner("5", "slurm:3", "physics"),
    ]
    assert expected == list(record.owners)
    assert [("ml/llama/main", "ml"), ("slurm:3", "physics"), (None, None)] == sorted(
        ((one.name, one.team) for one in record.holders), key=lambda one: one[0] or "z"
    )


def test_a_process_that_outlived_its_pod_keeps_its_name():
    """Its core is allocated to another pod by now, which is not to blame."""
    fold = Fold(
        FoldSettings(period_s=5.0), owner_of=lambda _pid: RuntimeOwner("ml/old", "ml", gone=True)
    )
    add(fold, trn1(using(7, [], [3]), neuron_k8s_info=kubernetes({3: "ml/new"})), START_S)
    (holder,) = closed(fold).holders
    assert ("ml/old", "ml", True) == (holder.name, holder.team, holder.gone)


def test_a_holder_says_when_it_last_ended_an_execution():
    """The start of that minute; none before one was seen. A minute without reports ends nothing."""
    fold = new_fold()
    said = []

    def minute(number, completed, **counts):
        at_s = START_S + MINUTE_S * number
        fold.clock.open_minute(at_s)
        if completed is not None:
            entry = using(7, [], [1])
            entry["report"]["execution_stats"] = executions(completed, **counts)
            add(fold, trn1(entry), at_s)
        said.append([one.last_execution for one in closed(fold).holders])

    steps = [0, 3, 0, 0, None, 0, 0]
    for number, completed in enumerate(steps):
        minute(number, completed)
    minute(len(steps), 0, completed_with_num_err=1)
    first, second = "2027-01-15T08:01Z", "2027-01-15T08:07Z"
    assert [[None], [first], [first], [first], [], [first], [first], [second]] == said


def test_account_and_lifecycle_are_of_this_instance():
    """Reports that are piped from another instance do not get them; a form that is none neither."""
    facts = {"account_id": "123456789012", "lifecycle": "spot"}
    for here, told in ((INSTANCE_ID, facts), (None, facts), ("i-other", {}), (INSTANCE_ID, {})):
        fold = new_fold()
        fold.learn_facts(
            InstanceFacts(instance_id=here, **(facts if told or here == "i-other" else {}))
        )
        add(fold, report(), START_S)
        members = closed(fold).members()
        assert told == {
            name: members[member]
            for name, member in (("account_id", "AccountId"), ("lifecycle", "Lifecycle"))
            if member in members
        }
