"""
Rule: no runtime. An instance on which nothing runs lists no core: the idlest one of all vanished.
"""

from __future__ import annotations

import pytest

from proof.factories.groups import memory_info
from proof.factories.reports import START_S, Reading, inf1_busy, inf2_loaded, minute_of, trn1_nobody


def test_an_empty_list_is_no_runtime():
    """`neuron_runtime_data: []` is no runtime: all cores get a 0 sample."""
    record = minute_of(*[trn1_nobody()] * 12)
    assert ("uu", (0.0, 0.0)) == (record.core_state, record.utilization_percent)


def test_weighted_by_the_time_since_the_last_counted_sample():
    """Weighted by the time since the last counted sample."""
    reading = Reading()
    for at_s in (0, 5, 12, 16):
        reading.take(trn1_nobody(), START_S + at_s)
    assert 5.0 + 5.0 + 7.0 + 4.0 == reading.close().covered_seconds


def test_since_the_last_counted_sample_also_of_a_runtime():
    """A runtime that ended: the first empty list that counts goes back to its last report."""
    reading = Reading()
    reading.take(inf2_loaded(50.0), START_S)
    reading.take({**inf2_loaded(), "neuron_runtime_data": []}, START_S + 8)
    record = reading.close()
    assert (13.0, 19.23) == (record.covered_seconds, record.utilization_percent[0])


def test_for_the_first_the_largest_period_of_its_system_groups():
    """For the first: the largest period of its system groups."""
    system = {"memory_info": memory_info(4.2), "vcpu_usage": None}
    assert 4.2 == minute_of(trn1_nobody(system_data=system)).covered_seconds


@pytest.mark.parametrize("period", [0.0005, 0.4999])
def test_under_half_a_second_none(period):
    """Under 0.5 s, none: the first report after the start covers half a millisecond."""
    record = minute_of(trn1_nobody(period))
    assert ("??", 0) == (record.core_state, record.covered_seconds)


def test_after_a_first_that_gave_none_the_next_one_counts():
    """Also with the smallest configuration, which has no system group at all."""
    record = minute_of(*[trn1_nobody(system_data=None)] * 12)
    assert ("uu", 55.0) == (record.core_state, record.covered_seconds)


def test_at_most_two_nominal_periods():
    """At most 2 nominal periods: after a gap nobody knows what ran in it."""
    reading = Reading()
    reading.take(trn1_nobody(), START_S)
    reading.take(trn1_nobody(), START_S + 40)
    assert 5.0 + 10.0 == reading.close().covered_seconds


@pytest.mark.parametrize("is_there", [True, False], ids=["null", "absent"])
def test_null_or_absent_is_not_collected(is_there):
    """`null` or absent is "not collected": unknown."""
    document = trn1_nobody()
    if is_there:
        document["neuron_runtime_data"] = None
    else:
        del document["neuron_runtime_data"]
    record = minute_of(*[document] * 12)
    assert ("??", 0, 12) == (record.core_state, record.covered_seconds, record.reports)


@pytest.mark.parametrize(("after_s", "percent"), [(1, 50.0), (7.5, 50.0), (7.6, 19.84)])
def test_an_empty_list_soon_after_counters_is_one_on_which_runtimes_were_not_due(after_s, percent):
    """
    An empty list within 1.5 periods after a line that had runtime counters was a line on which
    runtimes were not due: ignore it.
    """
    reading = Reading()
    reading.take(inf2_loaded(50.0), START_S)
    reading.take({**inf2_loaded(), "neuron_runtime_data": []}, START_S + after_s)
    assert percent == reading.close().utilization_percent[0]


def test_a_hardware_error_is_unknown():
    """`neuron_hardware_info.error` set: unknown. Without a driver nothing can run, or be seen."""
    hardware = {**trn1_nobody()["neuron_hardware_info"], "error": "driver not found"}
    broken, reading = trn1_nobody(neuron_hardware_info=hardware), Reading()
    record = reading.minute(*[broken] * 12)
    assert (0, True) == (record.covered_seconds, set(record.core_state) <= {"?"})
    assert "uu" == reading.minute(*[trn1_nobody()] * 12, number=1).core_state
    assert "??" == reading.minute(*[broken] * 12, number=2).core_state


def test_a_runtime_that_lists_nothing_is_not_no_runtime():
    """An entry without groups is a runtime about which nothing is known."""
    document = inf1_busy()
    document["neuron_runtime_data"][0]["report"] = {}
    assert "????" == minute_of(*[document] * 12).core_state
