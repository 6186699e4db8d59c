"""Every report as a sample, for who asked for it."""

from __future__ import annotations

import pytest
from neuron_reports import (
    START_S,
    add,
    closed,
    counters,
    executions,
    instance,
    memory,
    new_fold,
    report,
    runtime,
)

from emitter.fold import FoldSettings


def sample_of(*documents, **chosen):
    """What the last of these reports said, 5 s apart."""
    fold = new_fold(**{"every_report": True, **chosen})
    for place, document in enumerate(documents):
        add(fold, document, START_S + 5 * place)
    return fold.sample


def test_a_sample_has_the_numbers_of_its_report_alone():
    """Nothing of the reports before is in it."""
    before = report(
        runtime(counters([90, 90, 90, 90], flops={0: 9e12}), memory(), executions(9, timed_out=1))
    )
    document = report(
        runtime(counters([50, 0, 0, 0], flops={0: 1e12}), memory(), executions(3), pid=1),
        runtime(counters([25, 5, 0, 0], flops={1: 2e12}), memory(), executions(4), pid=2),
    )
    found = sample_of(before, document)
    assert (START_S + 5, 5.0) == (found.at_s, found.period_s)
    assert (50, 5, 0, 0) == found.utilization_percent
    assert (7, 0) == (found.executions, found.execution_errors)
    assert 3.0 == found.tera_flops


def test_nobody_asked_for_samples():
    """By default there is none: it costs time."""
    document = report(runtime(counters([50, 0, 0, 0])))
    assert sample_of(document, every_report=False) is None
    fold = new_fold()
    add(fold, document, START_S)
    assert fold.sample is None


def test_who_asks_for_samples_no_longer_has_none():
    """Nor the last one, when the settings are read again."""
    fold = new_fold(every_report=True)
    add(fold, report(runtime(counters([50, 0, 0, 0]))), START_S)
    assert fold.sample is not None
    fold.configure(FoldSettings(period_s=5.0))
    assert fold.sample is None


def test_what_a_report_does_not_tell_is_unknown_in_its_sample():
    """A runtime in error hides what its cores do."""
    found = sample_of(
        report(
            runtime(counters([50, 0, 0, 0]), memory({0: 1}), pid=1),
            runtime(counters([0, 0, 0, 0], error="x"), memory({2: 1}), pid=2),
        )
    )
    assert (50, 0, None, 0) == found.utilization_percent
    assert found.tera_flops is None


def test_a_report_without_cores_and_executions_is_no_sample():
    """Only system groups were due; and one that has executions alone has only these."""
    assert sample_of(report(neuron_runtime_data=None)) is None
    cores = report(runtime(counters([50, 0, 0, 0])))
    assert sample_of(cores, report(neuron_runtime_data=None)) is None, "the one before is no news"
    found = sample_of(report(runtime(execution_stats=executions(3))))
    assert ((), 3) == (found.utilization_percent, found.executions)
    assert found.period_s is None


def test_no_runtime_is_a_sample_of_zeros():
    """For the time since the sample before."""
    found = sample_of(report(runtime(counters([50, 0, 0, 0]))), report(), report())
    assert (0, 0, 0, 0) == found.utilization_percent
    assert 10 == found.period_s


@pytest.mark.parametrize(
    ("instance_type", "listed", "expected"),
    [
        ("inf9.large", {0: 50, 2: 25}, (50, None, 25)),
        ("inf1.xlarge", {0: 50}, (50, None, None, None)),
    ],
)
def test_a_sample_is_as_wide_as_what_is_known_to_exist(instance_type, listed, expected):
    """The cores of the type, and those listed; neither is none."""
    found = sample_of(
        report(
            runtime(counters(listed)),
            neuron_hardware_info=None,
            instance_info=instance(instance_type),
        )
    )
    assert expected == found.utilization_percent


def test_a_runtime_that_lists_no_core_of_an_unknown_type_is_no_sample():
    """There is no core to say anything of."""
    document = report(
        runtime(counters({})), neuron_hardware_info=None, instance_info=instance("inf9.large")
    )
    assert sample_of(document) is None


def test_the_first_empty_list_of_runtimes_is_no_sample():
    """Nobody knows for how long there was none."""
    assert sample_of(report(system_data=None)) is None


def test_with_a_tag_filter_only_held_cores_are_known():
    """What the filter hides may use the others."""
    document = report(runtime(counters([50, 0, 0, 0]), memory({1: 1})))
    found = sample_of(document, only_matched=True)
    assert (50, 0, None, None) == found.utilization_percent


def test_samples_do_not_change_the_minute():
    """The minute is the same with and without them, also what was malformed."""
    group = memory({0: 1}, [(7, 9)])
    documents = [report(runtime(counters({0: 50, "x": 1}), group))] * 12
    minutes = []
    for every_report in (False, True):
        fold = new_fold(every_report=every_report, only_matched=True)
        for place, document in enumerate(documents):
            add(fold, document, START_S + 5 * place)
        minutes.append((closed(fold), fold.malformed))
    assert minutes[0] == minutes[1]
