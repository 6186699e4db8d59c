"""The heat map is what the minute lines say, once, and nothing where they say nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from local.page.cores import cores
from local.page.log_lines import CollectedLine
from neuron_wire import encode
from neuron_wire.holders import Holder
from proof.factories import records as factories

START_MS = 1_800_000_000_000
MINUTE_MS = 60_000
STATES = "bau?"


def record(minute, state, *, instance="i-1", cluster="a", boot="b1", covered=60.0, **more):
    """A minute of an instance; a busy core works at 50 percent."""
    known = {"b": 50.0, "?": None}
    return factories.record(
        cluster=cluster, instance_id=instance, boot=boot, minute_ms=START_MS + minute * MINUTE_MS,
        covered_seconds=covered, core_state=state,
        utilization_percent=tuple(known.get(letter, 0.0) for letter in state),
        idle_minutes=tuple(0 if letter == "b" else minute for letter in state), **more,
    )  # fmt: skip


def line(one):
    """Its log line."""
    members = {**one.members(), "Timestamp": one.minute_ms}
    return CollectedLine(one.minute_ms, encode(members))


def drawn(records, cluster="a", minutes=1000):
    """The heat map of the lines of *records*."""
    lines = [line(one) for one in records]
    return cores(cluster, lines, START_MS, START_MS + minutes * MINUTE_MS)


RECORDS = st.lists(
    st.tuples(
        st.integers(0, 9), st.text(STATES, min_size=1, max_size=4), st.sampled_from(["i-1", "i-2"])
    ),
    max_size=12,
    unique_by=lambda one: (one[0], one[2]),
)


@given(RECORDS, st.randoms(use_true_random=False))
def test_every_cell_is_what_the_line_says_or_nothing(told, draw):
    """Copies and order change nothing; a minute without a line is no minute."""
    records = [record(minute, state, instance=one) for minute, state, one in told]
    copied = [*records, *records]
    draw.shuffle(copied)
    found = drawn(copied)
    assert sorted({one for _, _, one in told}) == [one["instance_id"] for one in found["instances"]]
    says = {(one, minute): state for minute, state, one in told}
    times = [minute for minute, _, _ in told]
    expected = range(min(times), max(times) + 1) if times else ()
    assert [START_MS + minute * MINUTE_MS for minute in expected] == found["minutes"]
    for instance in found["instances"]:
        assert instance["cores"] == len(instance["states"]) == len(instance["utilization"])
        for core in range(instance["cores"]):
            for at, minute in enumerate(expected):
                state = says.get((instance["instance_id"], minute), "")
                letter = state[core] if core < len(state) else "-"
                assert letter == instance["states"][core][at]
                value = {"b": 50.0, "a": 0.0, "u": 0.0}.get(letter)
                assert value == instance["utilization"][core][at]


def test_an_emitter_that_restarted_covers_one_minute_in_parts():
    """
    Merged as the stack merges: weighted by what each part covers, never two instances; a copy of
    a part does not make two emitters of them.
    """
    parts = [record(0, "u", boot="b1", covered=15.0), record(0, "b", boot="b2", covered=45.0)]
    ((instance,),) = [drawn([*parts, *parts])["instances"]]
    assert ["b"] == instance["states"]
    assert [[37.5]] == instance["utilization"]


def test_who_holds_idle_cores_is_said_by_the_newest_minute():
    """And for how long each core has been idle."""
    held = record(3, "au", holders=(Holder("0", name="team/x", pid=7, tag="t"),), holders_more=2)
    ((instance,),) = [drawn([held, record(1, "bb")])["instances"]]
    assert [3, 3] == instance["idle_minutes"]
    assert [{"cores": "0", "name": "team/x", "pid": 7, "tag": "t"}] == instance["holders"]
    assert 2 == instance["holders_more"]
    assert ("trn1.2xlarge", 2) == (instance["instance_type"], instance["cores"])
    assert ["b-a", "b-u"] == instance["states"]


def test_only_minutes_of_the_cluster_and_the_time_range_are_drawn():
    """Lines of other kinds and of nobody are passed over."""
    records = [record(0, "b"), record(1, "b", cluster="b"), record(5, "b")]
    found = drawn(records, minutes=5)
    assert [START_MS] == found["minutes"]
    others = [CollectedLine(START_MS, "START"), CollectedLine(START_MS, '{"Kind":"minute"}')]
    expected = {"cluster": "a", "minutes": [], "instances": []}
    assert expected == cores("a", others, START_MS, START_MS + MINUTE_MS)
