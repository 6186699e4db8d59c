"""A core is held by bytes on it, a model on it, or use of it; listing it is not holding it."""

from __future__ import annotations

import pytest
from neuron_reports import (
    START_S,
    add,
    closed,
    counters,
    hardware,
    memory,
    minute_of,
    new_fold,
    report,
    runtime,
)

IDLE = counters([0, 0, 0, 0])


def table_of(group):
    """Bytes by core and use of a `memory_used`."""
    return group["neuron_runtime_used_bytes"]["usage_breakdown"]["neuroncore_memory_usage"]


def test_listing_a_core_is_not_holding_it():
    """Every runtime lists every core it can see."""
    assert "uuuu" == minute_of(report(runtime(IDLE, memory()))).core_state


@pytest.mark.parametrize(("use", "size", "states"), [
    ("constants", 1, "uauu"), ("model_code", 1, "uauu"), ("model_shared_scratchpad", 1, "uauu"),
    ("runtime_memory", 1, "uauu"), ("tensors", 1, "uauu"), ("a_use_of_a_newer_tool", 1, "uauu"),
    ("tensors", None, "uuuu"), ("tensors", 0, "uuuu"), ("tensors", -1, "uuuu"),
])  # fmt: skip
def test_any_bytes_on_a_core_hold_it(use, size, states):
    """As on an inf2.xlarge: 13,376 bytes of runtime memory and no loaded model."""
    group = memory()
    table_of(group)["1"][use] = size
    assert states == minute_of(report(runtime(IDLE, group))).core_state


@pytest.mark.parametrize("first", [None, {"neuroncore_index": None, "neuron_device_index": 0}])
def test_a_subgraph_that_says_no_place_hides_no_other(first):
    """The next one of the same model holds its core."""
    group = memory(models=[(0, 3)])
    loaded = group["loaded_models"][0]
    loaded["subgraphs"] = {"sg_000": first, **loaded["subgraphs"]}
    assert "uuua" == minute_of(report(runtime(IDLE, group))).core_state


@pytest.mark.parametrize(
    ("place", "expected"), [((0, 0), 0), ((0, 1), 1), ((1, 0), 2), ((7, 1), 15), ((15, 1), 31)]
)
def test_the_core_index_of_a_model_counts_within_its_device(place, expected):
    """
    Checked on a report of 32 runtimes against its memory table: as a global index it
    fits 2 of 32.
    """
    entry = runtime(counters([0] * 32), memory(models=[place], cores=32))
    record = minute_of(report(entry, neuron_hardware_info=hardware(16, 2)))
    assert [expected] == [core for core, state in enumerate(record.core_state) if state == "a"]


@pytest.mark.parametrize(
    "group", [None, memory({0: 1}, error="cannot read memory")], ids=["missing", "in error"]
)
def test_a_runtime_without_usable_memory_holds_every_core_it_lists(group):
    """Nothing says otherwise; cores it does not list stay free."""
    entry = runtime(counters({1: 0, 2: 0}), group)
    assert "uaau" == minute_of(report(entry)).core_state


def test_a_memory_group_of_a_wrong_type_is_no_evidence():
    """The dropped group is missing, so what the runtime lists is held."""
    fold = new_fold()
    add(fold, report(runtime(counters({1: 0}), {**memory(), "loaded_models": "many"})), START_S)
    assert "uauu" == closed(fold).core_state
    assert 1 == fold.groups_dropped == fold.malformed


IDLE_0, IDLE_1, BOTH = (runtime(IDLE, memory(dict.fromkeys(on, 1))) for on in ([0], [1], [0, 1]))
UNTOLD = runtime(IDLE)
OTHER_1, OTHER_3 = (runtime(IDLE, memory({core: 1}), pid=2) for core in (1, 3))
FAILED = runtime(IDLE, memory({0: 1, 1: 1, 2: 1}, error="cannot read memory"))
LISTS_1, OTHER_LISTS_3 = runtime(counters({1: 0})), runtime(counters({3: 0}), pid=2)
SILENT, OTHER_SILENT = runtime(None, memory(error="x")), runtime(counters([], error="x"), pid=2)


@pytest.mark.parametrize(
    ("states", "reports"),
    [
        # A runtime that let go of a core within the minute does not hold it.
        ("uauu", [[BOTH], [IDLE_1]]),
        # Where memory is due less often than counters, its last reading stands.
        ("uauu", [[IDLE_1], [UNTOLD], [UNTOLD]]),
        ("uauu", [[IDLE_1], None]),
        # So does that before a group that failed, whatever others reported since.
        ("auua", [[IDLE_0, OTHER_1], [FAILED, OTHER_3]]),
        ("auua", [[IDLE_0, OTHER_1], [FAILED, OTHER_3], [FAILED, OTHER_3]]),
        ("uuua", [[IDLE_0, OTHER_1], [FAILED, OTHER_3], [OTHER_3]]),
        ("auuu", [[IDLE_0], [FAILED]]),
        # Who appears after the last reading has none, and holds what it lists.
        ("uaua", [[IDLE_1], [UNTOLD, OTHER_LISTS_3]]),
        ("uauu", [[IDLE_1], [UNTOLD, OTHER_LISTS_3], [IDLE_1]]),
        # Who ended holds nothing, nor does no runtime once it is believed.
        ("uauu", [[IDLE_0, OTHER_1], [OTHER_1]]),
        ("uuuu", [[IDLE_0], [], []]),
        ("uuuu", [[LISTS_1], [], []]),
        # Where counters are due less often than lines, their last reading stands.
        ("uaua", [[LISTS_1, OTHER_LISTS_3], [SILENT, OTHER_SILENT]]),
        ("uauu", [[LISTS_1, OTHER_LISTS_3], [SILENT]]),
        ("auua", [[OTHER_LISTS_3], [IDLE_0, OTHER_SILENT]]),
        # Without memory the exception is for the runtime, not for the report.
        ("auua", [[IDLE_0, OTHER_LISTS_3]]),
    ],
)
def test_the_last_report_that_had_the_group_decides(states, reports):
    """Per runtime: a minute without a list of runtimes says nothing of any."""
    documents = [report(neuron_runtime_data=entries) for entries in reports]
    assert states == minute_of(*documents).core_state


def test_holding_does_not_outlive_its_minute():
    """A minute speaks of its own reports."""
    fold = new_fold()
    add(fold, report(runtime(IDLE, memory({0: 1}))), START_S)
    assert "auuu" == closed(fold).core_state
    for minute, group in enumerate((None, memory()), 1):
        add(fold, report(runtime(counters({}), group)), START_S + 60 * minute)
        assert "uuuu" == closed(fold).core_state


def test_runtimes_with_one_pid_are_told_apart_by_their_tag():
    """Pids repeat over namespaces: the second one without memory holds what it lists."""
    first = runtime(IDLE, memory({0: 1}), pid=1, tag="a")
    second = runtime(counters({2: 0}), None, pid=1, tag="b")
    assert "auau" == minute_of(report(first, second)).core_state


def test_entries_with_the_same_pid_and_tag_add_up():
    """Two containers can show the same pair: what either holds is held."""
    entries = [runtime(IDLE, memory({core: 1}), pid=1, tag="1") for core in (0, 2)]
    assert "auau" == minute_of(report(*entries)).core_state


def test_an_unknown_core_is_unknown_although_it_is_held():
    """Holding says nothing about use."""
    entry = runtime(None, memory({0: 1}))
    other = runtime(IDLE, memory(), pid=2)
    assert "?uuu" == minute_of(report(entry, other)).core_state


def test_a_core_that_is_held_exists_although_nobody_lists_it():
    """
    Bytes on core 5 of an instance that should have four: it is there, and nobody says what it did.
    """
    assert "uuuu??" == minute_of(report(runtime(IDLE, memory({5: 1})))).core_state


def test_a_short_sample_is_evidence_of_holding():
    """Gauges of a first sample count: only its percentages are noise."""
    short = runtime(counters([0] * 4, 0.07), memory({2: 1}, period=0.07))
    assert "uuau" == minute_of(report(short), report(UNTOLD)).core_state


@pytest.mark.parametrize(("place", "states"), [((0, 2), "uuau"), ((1, 0), "uuuu")])
def test_while_nobody_says_how_many_cores_a_device_has_only_the_first_is_understood(place, states):
    """Nothing tells where the cores of a second device start."""
    unknown = {"neuron_hardware_info": None, "instance_info": None}
    entry = runtime(IDLE, memory(models=[place]))
    assert states == minute_of(report(entry, **unknown)).core_state


@pytest.mark.parametrize(
    "place", [(0, 4), (0, -1), (-1, 0), (256, 0), (1024, 0), (None, 0), (0, None)]
)
def test_a_model_on_a_core_that_cannot_be_is_dropped_and_counted(place):
    """
    An index within a device is below its number of cores; a place that no core
    has must not make one.
    """
    fold = new_fold()
    add(fold, report(runtime(IDLE, memory(models=[place]))), START_S)
    told = fold.malformed  # in time for the line of this minute
    assert "uuuu" == closed(fold).core_state
    assert int(None not in place) == told == fold.malformed


def test_a_place_is_counted_once_also_when_the_runtime_ends():
    """The minute after has no runtime, and no malformed place."""
    fold = new_fold()
    for at_s, document in ((0, report(runtime(IDLE, memory(models=[(0, 4)])))), (60, report())):
        add(fold, document, START_S + at_s)
        closed(fold)
    assert 1 == fold.malformed


@pytest.mark.parametrize("key", ["1024", "-1", "nc0", "01", "1.0", ""])
def test_bytes_on_a_core_that_cannot_be_are_dropped_and_counted(key):
    """At most 1,024 cores: more is malformed."""
    fold = new_fold()
    group = memory()
    table_of(group)[key] = {"tensors": 1}
    add(fold, report(runtime(IDLE, group)), START_S)
    assert ("uuuu", 1) == (closed(fold).core_state, fold.malformed)
