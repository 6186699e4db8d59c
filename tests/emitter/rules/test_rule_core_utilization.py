"""
Rules: core in one report, core in a minute. Averaging over runtimes halved a busy core by two.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.factories.groups import core_counters, memory_used, runtime
from proof.factories.reports import Reading, inf1_busy, minute_of, sidecar, trn1_job


def both(*percents, hardware=None):
    """One report in which each runtime shows its percents."""
    document = inf1_busy()
    document["neuron_runtime_data"] = [
        runtime(
            100 + place,
            str(100 + place),
            neuroncore_counters=core_counters(each),
            memory_used=memory_used(cores=4),
        )
        for place, each in enumerate(percents)
    ]
    if hardware is not None:
        document["neuron_hardware_info"] = hardware
    return document


def test_every_runtime_lists_every_core_it_can_see():
    """
    Every runtime lists every core it can see, 0 for those it does not use: the maximum over
    runtimes is each core's own, in a training job of 32 runtimes.
    """
    percents = [round(50 + core * 1.5, 2) for core in range(32)]
    assert tuple(percents) == minute_of(trn1_job(percents)).utilization_percent


@given(st.lists(st.tuples(*[st.floats(0, 100)] * 4), min_size=1, max_size=5))
def test_take_the_maximum_over_runtimes_never_the_mean(percents):
    """Take the maximum over runtimes, never the mean."""
    found = minute_of(both(*percents)).utilization_percent
    assert [round(max(shares), 2) for shares in zip(*percents, strict=True)] == list(found)


@pytest.mark.parametrize(("told", "percent"), [(100.4, 100.0), (1e9, 100.0), (-0.3, 0.0)])
def test_clip_to_0_to_100(told, percent):
    """Clip to 0..100."""
    assert percent == minute_of(both([told, 50, 0, 0])).utilization_percent[0]


def test_a_core_that_exists_but_nobody_lists_is_0():
    """A core that exists but nobody lists is 0: a runtime sees only the cores of its container."""
    record = minute_of(both([80.0, 70.0]))
    assert (80.0, 70.0, 0.0, 0.0) == record.utilization_percent
    assert "bbuu" == record.core_state


@given(st.lists(st.tuples(st.floats(0.5, 10), st.floats(0, 100)), min_size=1, max_size=5))
def test_a_minute_is_the_weighted_mean(reports):
    """Core in a minute: the sum of W times u over the sum of W."""
    found = minute_of(
        *[inf1_busy(neuroncore_counters=core_counters([u, 0, 0, 0], w)) for w, u in reports]
    )
    expected = sum(w * u for w, u in reports) / sum(w for w, _ in reports)
    assert pytest.approx(expected, abs=0.006) == found.utilization_percent[0]


def test_over_the_reports_that_gave_that_core_a_sample():
    """Only the reports that gave that core a sample count: three of one runtime's died halfway."""
    reading = Reading()
    broken = sidecar(40, 60, 0, 0)
    broken["neuron_runtime_data"][1]["report"]["neuroncore_counters"]["error"] = "gone"
    record = reading.minute(*[sidecar(40, 60, 0, 0)] * 3, *[broken] * 3)
    assert (40.0, 60.0) == record.utilization_percent[:2]
