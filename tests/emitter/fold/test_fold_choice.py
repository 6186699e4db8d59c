"""What a minute tells only because somebody chose it as a metric."""

from __future__ import annotations

import pytest
from neuron_reports import (
    START_S,
    add,
    closed,
    counters,
    executions,
    hardware,
    hardware_counters,
    minute_of,
    new_fold,
    nobody,
    report,
    runtime,
)

from neuron_wire.catalogue import CHOOSABLE

ECC = "EccUncorrectedReported"
RARE = frozenset(one.name for one in CHOOSABLE.values() if one.is_rare and one.family == "tally")
FAILURES = RARE - {ECC}
PHYSICAL = frozenset({"PhysicalCoreUtilization"})
LNC_2 = {"neuron_hardware_info": hardware(1, 2, logical_neuroncore_config=2)}


def test_a_chosen_failure_that_was_not_there_is_0():
    """Each that can be chosen; one that was there is counted, and without a choice none is told."""
    stats = executions(5, timed_out=2)
    found = minute_of(report(runtime(execution_stats=stats)), chosen=RARE).details
    assert {**dict.fromkeys(FAILURES, 0), "ExecutionsTimedOut": 2} == found
    assert {"ExecutionsTimedOut": 2} == minute_of(report(runtime(execution_stats=stats))).details


@pytest.mark.parametrize(
    ("stats", "told"),
    [(None, set()), (executions(5), FAILURES), ({**executions(5), "error_summary": None}, "Exec")],
)
def test_what_was_not_read_is_not_0(stats, told):
    """Without the group none, without errors by cause only the endings."""
    found = minute_of(report(runtime(counters([1.0]), execution_stats=stats)), chosen=RARE)
    expected = {name for name in RARE if name.startswith(told)} if told == "Exec" else set(told)
    assert expected == found.details.keys()


def test_no_runtime_and_no_memory_error_are_0_where_they_are_told():
    """Nobody runs, so nothing failed; the counters were read, and all are 0."""
    system = {"neuron_hw_counters": hardware_counters({"mem_ecc_uncorrected": 0})}
    found = minute_of(report(system_data=system), chosen=RARE, executions_asked=True)
    assert dict.fromkeys(RARE, 0) == found.details


def split(shares, key="v3d"):
    """Counters of two logical cores, each the mean of its two physical ones."""
    whole = counters([(one + other) / 2 for one, other in shares])
    for core, parts in enumerate(shares):
        whole["neuroncores_in_use"][str(core)][key] = {
            f"nc_v3.{2 * core + place}": {"neuroncore_utilization": share}
            for place, share in enumerate(parts)
        }
    return whole


def physical_of(*documents, **settings):
    """The physical cores and the minute that these reports make."""
    fold = new_fold(chosen=PHYSICAL, **settings)
    for place, document in enumerate(documents):
        add(fold, document, START_S + 5 * place)
    record = closed(fold)
    return fold.physical, record


@pytest.mark.parametrize("key", ["v3d", "v4d"])
def test_the_mean_of_the_physical_cores_is_the_logical_one(key):
    """Of both runtimes the greater, over all reports, whatever the split is called."""
    both = report(
        runtime(split([(80, 20), (0, 0)], key)),
        runtime(split([(0, 0), (10, 30)], key), pid=2, tag="b"),
        **LNC_2,
    )
    found, record = physical_of(both, report(runtime(split([(40, 0), (0, 0)], key)), **LNC_2))
    assert {0: 60, 1: 10, 2: 5, 3: 15} == found
    assert (35, 10) == record.utilization_percent


def test_physical_cores_of_which_nothing_is_known_have_no_value():
    """A core that was busy without a split, an unknown one, and all where nothing is split."""
    plain = report(runtime(counters([50.0, 0.0])), **LNC_2)
    assert {2: 0, 3: 0} == physical_of(plain)[0]
    unknown = report(neuron_runtime_data=None, **LNC_2)
    assert {} == physical_of(unknown)[0]
    assert {} == physical_of(report(runtime(counters([50.0, 0.0]))))[0]


def test_idle_physical_cores_are_0():
    """Without a runtime, as the hardware tells how many there are; it is 0 for the logical too."""
    found, record = physical_of(nobody(**LNC_2), nobody(**LNC_2))
    assert (dict.fromkeys(range(4), 0), (0, 0)) == (found, record.utilization_percent)


def test_physical_cores_are_those_of_the_minute_alone():
    """Nothing of the minute before is in it."""
    fold = new_fold(chosen=PHYSICAL)
    for minute, share in enumerate((80, 20)):
        add(fold, report(runtime(split([(share, 0), (0, 0)])), **LNC_2), START_S + 60 * minute)
        closed(fold)
    assert {0: 20, 1: 0, 2: 0, 3: 0} == fold.physical


def test_physical_cores_are_measured_only_by_choice():
    """They cost a look at every core of every report."""
    documents = [report(runtime(split([(80, 20), (0, 0)])), **LNC_2)]
    fold = new_fold()
    add(fold, documents[0], START_S)
    closed(fold)
    assert {} == fold.physical
