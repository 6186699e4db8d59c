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
from emitter.fold.cores import ReportSample


def sample_of(*documents, **chosen):
    """What the last of these reports said, 5 s apart."""
    fold = new_fold(**{"every_report": True, **chosen})
    for place, document in enumerate(documents):
        add(fold, document, START_S + 5 * place)
    return fold.sample


def test_a_sample_has_the_numbers_of_its_report_alone():
    """Nothing of the reports before is in it."""
    before = runtime(counters([90] * 4, flops={0: 9e12}), memory(), executions(9, timed_out=1))
    entries = (
        runtime(counters([50, 0, 0, 0], flops={0: 1e12}), memory(), executions(3), pid=1),
        runtime(counters([25, 5, 0, 0], flops={1: 2e12}), memory(), executions(4), pid=2),
    )
    expected = ReportSample(START_S + 5, 5.0, (50, 5, 0, 0), 7, 0, 3.0)
    assert expected == sample_of(report(before), report(*entries))


def test_who_asks_for_samples_no_longer_has_none():
    """By default there is none: it costs time. Nor the last one, when settings are read again."""
    document = report(runtime(counters([50, 0, 0, 0])))
    fold = new_fold()
    add(fold, document, START_S)
    assert fold.sample is None
    fold = new_fold(every_report=True)
    add(fold, document, START_S)
    assert fold.sample is not None
    fold.configure(FoldSettings(period_s=5.0))
    assert fold.sample is None


def test_what_a_report_does_not_tell_is_unknown_in_its_sample():
    """A runtime in error hides what its cores do."""
    failed = runtime(counters([0, 0, 0, 0], error="x"), memory({2: 1}), pid=2)
    found = sample_of(report(runtime(counters([50, 0, 0, 0]), memory({0: 1})), failed))
    assert ((50, 0, None, 0), None) == (found.utilization_percent, found.tera_flops)


def test_a_report_without_cores_and_executions_is_no_sample():
    """Only system groups were due; and one that has executions alone has only these."""
    nothing = report(neuron_runtime_data=None)
    assert sample_of(nothing) is None
    cores = report(runtime(counters([50, 0, 0, 0])))
    assert sample_of(cores, nothing) is None, "the one before is no news"
    found = sample_of(report(runtime(execution_stats=executions(3))))
    assert ReportSample(START_S, executions=3, execution_errors=0) == found
    assert sample_of(report(system_data=None)) is None, "nobody knows for how long there was none"


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
        ("inf9.large", {}, None),
    ],
)
def test_a_sample_is_as_wide_as_what_is_known_to_exist(instance_type, listed, expected):
    """The cores of the type, and those listed; without any core there is no sample."""
    unknown = {"neuron_hardware_info": None, "instance_info": instance(instance_type)}
    found = sample_of(report(runtime(counters(listed)), **unknown))
    assert expected == (found and found.utilization_percent)


def test_with_a_tag_filter_only_held_cores_are_known():
    """What the filter hides may use the others."""
    document = report(runtime(counters([50, 0, 0, 0]), memory({1: 1})))
    found = sample_of(document, only_matched=True)
    assert (50, 0, None, None) == found.utilization_percent


def test_samples_do_not_change_the_minute():
    """The minute is the same with and without them, also what was malformed."""
    document = report(runtime(counters({0: 50, "x": 1}), memory({0: 1}, [(7, 9)])))
    minutes = []
    for every_report in (False, True):
        fold = new_fold(every_report=every_report, only_matched=True)
        for place in range(12):
            add(fold, document, START_S + 5 * place)
        minutes.append((closed(fold), fold.malformed))
    assert minutes[0] == minutes[1]
