"""Laws for the minute of any reports."""

from __future__ import annotations

import copy

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.neuron_emitter.neuron_reports import (
    REPORTS_START_S,
    add,
    closed,
    counters,
    executions,
    hardware,
    hardware_counters,
    host_memory,
    memory,
    new_fold,
    report,
    runtime,
    vcpu,
)

LAW_CORES = 4
LETTER_RANK = {"?": -1, "u": 0, "a": 1, "b": 2}

# Drawing whole reports takes milliseconds. Rare faults have examples in other tests.
FOLD_LAW = settings(max_examples=30)

# Multiples of 1/4 have exact sums in any order.
ANY_PERCENT = st.one_of(st.none(), st.sampled_from([0, 0, 0.25, 0.75, 1, 50, 99.75, 100, -1, 130]))
ANY_PERIOD = st.sampled_from([None, 0.07, 0.5, 1.0, 5.0, 5.0, 5.0, 12.0])
ANY_ERROR = st.sampled_from(["", "", "", "cannot read"])
ANY_BYTES = st.sampled_from([0, 0, 1, 4096])


@st.composite
def counter_groups(draw):
    """Generate `neuroncore_counters`, sometimes missing, short or in error."""
    listed = draw(st.dictionaries(st.integers(0, LAW_CORES + 1), ANY_PERCENT, max_size=LAW_CORES))
    rates = draw(
        st.dictionaries(
            st.integers(0, LAW_CORES), st.sampled_from([0, 1e12, 3e12]), max_size=LAW_CORES
        )
    )
    name = draw(st.sampled_from(["flops", "effective_flops"]))
    return counters(listed, draw(ANY_PERIOD), draw(ANY_ERROR), **{name: rates})


@st.composite
def memory_groups(draw):
    """Generate `memory_used`, sometimes in error."""
    by_core = draw(st.dictionaries(st.integers(0, LAW_CORES), ANY_BYTES, max_size=LAW_CORES))
    models = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, LAW_CORES)), max_size=2))
    return memory(by_core, models, error=draw(ANY_ERROR))


EXECUTIONS = st.builds(
    executions,
    st.integers(0, 100),
    timed_out=st.integers(0, 3),
    total=st.sampled_from([None, {"p50": 0.25, "p99": 0.5}]),
)


@st.composite
def runtimes(draw):
    """Generate a runtime's entry; PIDs and tags collide often."""
    return runtime(
        draw(st.none() | counter_groups() | counter_groups()),
        draw(st.none() | memory_groups() | memory_groups()),
        draw(st.none() | EXECUTIONS),
        pid=draw(st.integers(1, 4)),
        tag=draw(st.sampled_from(["1", "2"])),
        error=draw(st.sampled_from(["", "", "", "no such process"])),
    )


@st.composite
def reports(draw):
    """Generate a report with up to four runtimes, or without the list of runtimes."""
    entries = draw(st.one_of(st.none(), st.lists(runtimes(), max_size=4)))
    information = draw(
        st.sampled_from([None, hardware(), hardware(), hardware(2, 2), hardware(0, 0, error="x")])
    )
    system = {
        "memory_info": host_memory(),
        "vcpu_usage": vcpu(draw(ANY_PERIOD), user=draw(st.sampled_from([0, 50, 130]))),
        "neuron_hw_counters": hardware_counters({"mem_ecc_corrected": draw(st.integers(0, 9))}),
    }
    return report(neuron_runtime_data=entries, neuron_hardware_info=information, system_data=system)


ANY_MINUTES = st.lists(
    st.tuples(reports(), st.sampled_from([0.0, 0.5, 5.0, 5.0, 7.5, 20.0, -30.0])), max_size=5
)
ANY_FOLD_SETTINGS = st.fixed_dictionaries(
    {
        "period_s": st.sampled_from([None, 1.0, 5.0]),
        "only_matched": st.booleans(),
        "idle_below_percent": st.sampled_from([1.0, 1.0, 50.0]),
    }
)


def folded(entries, chosen):
    """Return the minute of reports; each entry has a report and the seconds since the last."""
    fold = new_fold(**chosen)
    at_s = REPORTS_START_S
    fold.clock.open_minute(at_s)
    for document, wait_s in entries:
        at_s += wait_s
        add(fold, document, at_s)
    return closed(fold)


@FOLD_LAW
@given(ANY_MINUTES, ANY_FOLD_SETTINGS)
def test_every_minute_is_consistent(entries, chosen):
    """
    A minute's coverage, utilization and letters are within their limits and agree.

    Each core has one letter, one value and one count. No core is idle or busy without a sample.
    """
    record = folded(entries, chosen)
    assert 0 <= record.covered_seconds <= 60
    assert len(record.core_state) == len(record.utilization_percent) == len(record.idle_minutes)
    for state, percent in zip(record.core_state, record.utilization_percent, strict=True):
        assert (state == "?") == (percent is None)
        if percent is not None:
            assert 0 <= percent <= 100
            assert (state == "b") == (percent >= chosen["idle_below_percent"])
            assert record.covered_seconds > 0
        if state == "u":
            assert percent == 0
    assert all(0 <= minutes <= 1 for minutes in record.idle_minutes)


@FOLD_LAW
@given(ANY_MINUTES, ANY_FOLD_SETTINGS, st.randoms(use_true_random=False))
def test_the_order_of_runtimes_in_a_report_does_not_matter(entries, chosen, random):
    """Any order of runtimes in a report gives the same minute."""
    shuffled = copy.deepcopy(entries)
    for document, _ in shuffled:
        random.shuffle(document["neuron_runtime_data"] or [])
    assert folded(entries, chosen) == folded(shuffled, chosen)


def with_an_idle_runtime(document, core):
    """
    Return the report with one more runtime, which lists *core* as 0 and holds nothing.

    Its period is the longest accepted period, so that the report's weight does not change. Without
    accepted counters, the report is returned unchanged.
    """
    periods = [
        group["period"]
        for entry in document["neuron_runtime_data"] or ()
        if (group := entry["report"].get("neuroncore_counters")) is not None
        and not group["error"]
        and not entry["error"]
        and (group["period"] or 0) >= 0.5
    ]
    if not periods:
        return document
    idle = runtime(counters({core: 0}, max(periods)), memory(), pid=99)
    return {**document, "neuron_runtime_data": [*document["neuron_runtime_data"], idle]}


@FOLD_LAW
@given(reports(), ANY_FOLD_SETTINGS, st.integers(0, LAW_CORES - 1))
def test_a_runtime_that_lists_a_core_as_0_never_lowers_a_number_or_a_letter(document, chosen, core):
    """
    Another runtime without work lowers neither a core's utilization nor its letter.

    The law holds for one report. Over a minute, an unlisted core without a hardware block gets a
    sample of 0 as soon as a runtime lists it.
    """
    before = folded([(document, 0)], chosen)
    after = folded([(with_an_idle_runtime(document, core), 0)], chosen)
    for index, (was, percent) in enumerate(
        zip(before.core_state, before.utilization_percent, strict=True)
    ):
        if percent is not None:
            assert percent == after.utilization_percent[index]
            assert LETTER_RANK[was] <= LETTER_RANK[after.core_state[index]]
    assert before.covered_seconds <= after.covered_seconds
    assert before.executions == after.executions


def spell_keys(uses):
    """Return the uses with another spelling of all keys."""
    return {f"nc{key}": use for key, use in uses.items()}


def spell_one_key(uses):
    """Return the uses with another spelling of one key."""
    return {"nc0" if key == "0" else key: use for key, use in uses.items()}


def rename_percentages(uses):
    """Return the uses with another name for each percentage."""
    return {
        key: use and {"utilization": use["neuroncore_utilization"]} for key, use in uses.items()
    }


COUNTER_SHAPES = {
    "as it is": lambda uses: uses,
    "keys": spell_keys,
    "one key": spell_one_key,
    "percentages": rename_percentages,
    "empty": lambda _uses: {},
    "null": lambda _uses: None,
    "wrong type": lambda _uses: "none",
}


@st.composite
def unreadable(draw):
    """Generate a report whose groups may have another shape and whose devices may be missing."""
    seldom = st.sampled_from([False, False, False, False, True])
    document = copy.deepcopy(draw(reports()))
    for entry in document["neuron_runtime_data"] or ():
        group = entry["report"].get("neuroncore_counters")
        if group is not None:
            shape = draw(st.sampled_from(sorted(COUNTER_SHAPES)))
            group["neuroncores_in_use"] = COUNTER_SHAPES[shape](group["neuroncores_in_use"])
    if draw(seldom):
        document["neuron_hardware_info"] = hardware(0, 4)
    if draw(seldom):
        document["system_data"]["neuron_hw_counters"]["neuron_devices"] = None
    return document


def has_number(use):
    """Return True if the entry of a core has a percentage of 0 or more."""
    percent = None if use is None else use.get("neuroncore_utilization")
    return percent is not None and percent >= 0


def cores_with_bytes(group):
    """Return the cores with memory on them, or all cores if the memory is unreadable."""
    if group is None or group["error"]:
        return set(range(1024))
    by_core = group["neuron_runtime_used_bytes"]["usage_breakdown"]["neuroncore_memory_usage"]
    return {int(key) for key, by_use in by_core.items() if any(by_use.values())}


def shown_cores(document):
    """Compute from a report's JSON alone which of its cores may be idle."""
    shown = set()
    hidden = set()
    if document["neuron_runtime_data"] is None:
        return shown
    devices = document["neuron_hardware_info"] or hardware(None)
    listed = document["system_data"]["neuron_hw_counters"]["neuron_devices"]
    is_whole = not devices["error"] and devices["neuron_device_count"] != 0 and listed is not None
    for entry in document["neuron_runtime_data"]:
        group = entry["report"].get("neuroncore_counters")
        uses = group and group["neuroncores_in_use"]
        if group is None or isinstance(uses, str):
            is_whole &= bool(entry["error"])  # the runtime's process is gone
        elif uses is None or group["error"] or (group["period"] or 0) < 0.5:
            is_whole = False
        else:
            known = {key for key, use in uses.items() if has_number(use)}
            is_whole &= all(map(str.isdigit, uses)) and bool(known or not uses)
            if not uses:
                hidden |= cores_with_bytes(entry["report"].get("memory_used"))
            shown |= {int(key) for key in known if key.isdigit()}
            hidden |= {int(key) for key in uses.keys() - known if key.isdigit()}
    return (set(range(1024)) - hidden) | shown if is_whole else shown


@settings(max_examples=300)
@given(unreadable(), st.booleans())
def test_a_core_is_idle_only_if_a_counters_group_shows_it(document, is_restarted):
    """
    A core is idle only if a counters group shows it, or if all groups and devices are readable.

    This also holds after a restart with the same spool. A minute with unknown cores has a reason.
    """
    fold = new_fold()
    add(fold, report(), REPORTS_START_S)
    closed(fold)
    if is_restarted:
        fold = new_fold(fold.encode_state())
    add(fold, document, REPORTS_START_S + 60)
    record = closed(fold, 2)
    idle = {core for core, state in enumerate(record.core_state) if state in "au"}
    assert set() == idle - shown_cores(document)
    assert ("?" in record.core_state) == (record.unknown_reason is not None)
