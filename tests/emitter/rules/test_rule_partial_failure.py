"""Rule: partial failure. One of two runtimes in error made its busy cores look idle."""

from __future__ import annotations

import pytest

from proof.factories.groups import core_counters, memory_used, runtime
from proof.factories.reports import Reading, inf1_busy, minute_of, sidecar, trn1_job, trn1_runtime

FAILURES = {
    "missing": lambda groups: groups.pop("neuroncore_counters"),
    "in error": lambda groups: groups["neuroncore_counters"].update(error="cannot read"),
    "too short": lambda groups: groups["neuroncore_counters"].update(period=0.06),
}


def failing(document, place, how):
    """*document* with the counters of one runtime failing."""
    FAILURES[how](document["neuron_runtime_data"][place]["report"])
    return document


@pytest.mark.parametrize("how", FAILURES)
def test_the_cores_it_holds_get_no_sample(how):
    """
    A runtime whose counters are missing, in error or too short: the cores it holds get no sample.
    """
    record = minute_of(failing(sidecar(40, 60, 0, 20), 1, how))
    assert "b?ab" == record.core_state
    assert (40.0, None, 0.0, 20.0) == record.utilization_percent


@pytest.mark.parametrize("how", FAILURES)
def test_all_cores_when_its_memory_group_is_missing_too(how):
    """All cores, when its memory group is missing too, but those that another shows above 0."""
    document = failing(sidecar(40, 60, 0, 20), 1, how)
    del document["neuron_runtime_data"][1]["report"]["memory_used"]
    assert (40.0, None, None, 20.0) == minute_of(document).utilization_percent


def test_a_core_that_another_runtime_shows_above_0_has_a_sample():
    """That no other runtime shows above 0: what is seen is seen, whoever else is on the core."""
    document = failing(sidecar(40, 60, 0, 20), 1, "in error")
    document["neuron_runtime_data"].append(
        runtime(
            9_900,
            "1",
            neuroncore_counters=core_counters([0, 33.0, 0, 0]),
            memory_used=memory_used(cores=4),
        )
    )
    assert (40.0, 33.0, 0.0, 20.0) == minute_of(document).utilization_percent


def test_in_that_report_only():
    """In that report: the others of the minute count."""
    record = minute_of(
        sidecar(40, 60, 0, 20),
        failing(sidecar(40, 0, 0, 20), 1, "in error"),
        sidecar(40, 60, 0, 20),
    )
    assert (40.0, 60.0, 0.0, 20.0) == record.utilization_percent


def test_of_32_runtimes_one_that_fails_costs_its_own_core():
    """The other 31 cores of a training job are known."""
    document = failing(trn1_job([50.0] * 32), 7, "too short")
    assert "b" * 7 + "?" + "b" * 24 == minute_of(document).core_state


def test_a_runtime_whose_process_is_gone_is_left_out_and_counted():
    """
    A runtime whose process is gone is left out, counted: its core is not held, and not unknown.
    """
    reading = Reading()
    document = trn1_job([50.0] * 4)
    gone = trn1_runtime(3, 0, cores=4)
    gone.update(error="open /proc/784003/stat: no such file or directory", report=None)
    document["neuron_runtime_data"][3] = gone
    record = reading.minute(document)
    assert "bbbu" == record.core_state
    assert 1 == reading.fold.runtimes_gone


def test_a_group_error_of_a_sidecar_is_no_death():
    """Four runtimes with "no such file or directory" in one group each report all the same."""
    reading = Reading()
    assert "bbab" == reading.minute(sidecar(40, 60, 0, 20)).core_state
    assert 0 == reading.fold.runtimes_gone


def test_a_failure_of_the_only_runtime_leaves_nothing_known():
    """No accepted counters in the report: no sample at all."""
    record = minute_of(failing(inf1_busy(), 0, "in error"))
    assert ("????", 0) == (record.core_state, record.covered_seconds)
