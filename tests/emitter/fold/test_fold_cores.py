"""
Utilization and FLOP/s of a core over a minute, and what nobody measured.
"""

from __future__ import annotations

import pytest
from neuron_reports import (
    START_S,
    add,
    closed,
    counters,
    executions,
    hardware,
    instance,
    memory,
    minute_of,
    new_fold,
    report,
    runtime,
    vcpu,
)


def nobody(period: float = 5.0, **members):
    """
    A report without a runtime; its only system group has this period.
    """
    system = {"vcpu_usage": vcpu(period)}
    return report(**{"system_data": system, "neuron_hardware_info": hardware(1, 2), **members})


def two_cores(*entries, **members):
    """
    A report of an instance with two cores.
    """
    return report(*entries, **{"neuron_hardware_info": hardware(1, 2), **members})


# --- core in one report ---


def test_two_busy_of_four_cores():
    """
    As captured on an inf1.xlarge: two cores work, two are listed as 0 by the same runtime.
    """
    record = minute_of(
        report(
            runtime(
                counters([27.022940804670643, 19.349312799371454, 0, 0], period=5.003816202),
                memory(models=[(0, 0), (0, 1)]),
            )
        )
    )
    assert (27.02, 19.35, 0.0, 0.0) == record.utilization_percent
    assert "bbuu" == record.core_state
    assert 5.0 == record.covered_seconds


def test_a_core_is_the_maximum_over_runtimes_never_their_mean():
    """
    Every runtime lists every core it can see, 0 for those it does not use.
    """
    entries = [
        runtime(counters([80.0 if core == mine else 0 for core in range(4)]), pid=mine + 1)
        for mine in range(4)
    ]
    assert (80.0, 80.0, 80.0, 80.0) == minute_of(report(*entries)).utilization_percent


def test_32_runtimes_that_each_list_32_cores():
    """
    As on a trn1n.32xlarge: the mean over runtimes would say 1/32 of the truth.
    """
    entries = [
        runtime(
            counters([96.0 if core == mine else 0 for core in range(32)]),
            memory({mine: 9_534_166_027}, cores=32),
            pid=784_315 + mine,
            tag="1",
        )
        for mine in range(32)
    ]
    record = minute_of(report(*entries, neuron_hardware_info=hardware(16, 2)))
    assert (96.0,) * 32 == record.utilization_percent
    assert "b" * 32 == record.core_state


@pytest.mark.parametrize(
    ("found", "expected"),
    [(-0.5, 0.0), (0, 0.0), (0.01, 0.01), (99.99, 99.99), (100, 100.0), (100.01, 100.0)],
)
def test_utilization_is_cut_to_0_to_100(found, expected):
    """
    What is outside is rounding of the monitor.
    """
    record = minute_of(two_cores(runtime(counters([found, 50]))))
    assert (expected, 50.0) == record.utilization_percent


def test_a_core_that_exists_but_nobody_lists_is_0():
    """
    A runtime that sees one device lists its cores only; the others are known and idle.
    """
    record = minute_of(report(runtime(counters({0: 50}), memory({0: 1}))))
    assert (50.0, 0.0, 0.0, 0.0) == record.utilization_percent
    assert "buuu" == record.core_state


def test_a_core_listed_without_a_percentage_is_unknown():
    """
    Absent is absent: null is not 0.
    """
    record = minute_of(two_cores(runtime(counters([None, 50]))))
    assert (None, 50.0) == record.utilization_percent
    assert "?b" == record.core_state


def test_another_runtime_speaks_for_a_core_listed_without_a_percentage():
    """
    Above 0 it is known to work; a 0 beside it says nothing about the silent one.
    """
    silent = runtime(counters([None, None]))
    other = runtime(counters([30, 0]), pid=2)
    assert (30.0, None) == minute_of(two_cores(silent, other)).utilization_percent


def test_core_keys_sort_as_integers():
    """
    As texts, 10 would stand before 2.
    """
    record = minute_of(
        report(
            runtime(counters({str(core): core for core in (10, 11, 2, 0, 1, 3, 9, 8, 7, 6, 5, 4)})),
            neuron_hardware_info=hardware(6, 2),
        )
    )
    assert tuple(float(core) for core in range(12)) == record.utilization_percent


def test_counters_without_the_list_of_cores_are_no_counters():
    """
    null is not collected: zeros nobody measured would call the cores idle.
    """
    absent = counters([0, 0])
    absent["neuroncores_in_use"] = None
    missing = counters([0, 0])
    del missing["neuroncores_in_use"]
    for group in (absent, missing):
        record = minute_of(two_cores(runtime(group)))
        assert "??" == record.core_state
        assert 0 == record.covered_seconds


def test_a_runtime_that_sees_no_core_lists_none():
    """
    An empty list of cores was collected: the instance's cores are known and not used by it.
    """
    record = minute_of(two_cores(runtime(counters({}), memory())))
    assert (0.0, 0.0) == record.utilization_percent


# --- first samples ---


@pytest.mark.parametrize(
    ("period", "expected"),
    [(0.000_472_58, None), (0.070_980_417, None), (0.499, None), (0.5, 90.0), (1.0, 90.0)],
)
def test_a_sample_under_half_a_second_gives_no_utilization(period, expected):
    """
    The first sample of the monitor and of every runtime is noise: its percentages do not count.
    """
    record = minute_of(two_cores(runtime(counters([90, 90], period))))
    assert (expected, expected) == record.utilization_percent


def test_the_tallies_and_gauges_of_a_short_sample_count():
    """
    As captured on an idle inf1.xlarge: only what is a share of the period is noise.
    """
    record = minute_of(
        report(
            runtime(
                counters([0, 0, 0, 0], 0.070980417),
                memory(models=[(0, 3)], period=0.070905372),
                executions(3, period=0.070935409),
            )
        )
    )
    assert "????" == record.core_state
    assert 3 == record.executions
    assert 626_905_088 == record.runtime_host_memory_bytes
    assert 0 == record.covered_seconds
    assert 1 == record.reports


def test_counters_without_a_period_give_no_utilization():
    """
    A weight nobody measured is no weight.
    """
    assert "??" == minute_of(two_cores(runtime(counters([50, 50], None)))).core_state


# --- weight of a report, core in a minute, coverage ---


def test_a_core_in_a_minute_is_weighted_by_the_length_of_its_samples():
    """
    5 s at 90 and 10 s at 0 are 30, not 45.
    """
    record = minute_of(
        two_cores(runtime(counters([90, 0], 5))), two_cores(runtime(counters([0, 0], 10)))
    )
    assert (30.0, 0.0) == record.utilization_percent
    assert 15 == record.covered_seconds


def test_a_report_weighs_as_long_as_its_longest_accepted_counters():
    """
    Counters too short to be accepted have no say.
    """
    first = two_cores(runtime(counters([90, 0], 4)), runtime(counters([0, 0], 6), pid=2))
    record = minute_of(first, two_cores(runtime(counters([0, 0], 6))))
    assert (45.0, 0.0) == record.utilization_percent
    assert 12 == record.covered_seconds


@pytest.mark.parametrize(
    ("period", "expected"), [(9.99, 9.99), (10.0, 10.0), (10.01, 10.0), (3600.0, 10.0)]
)
def test_a_report_weighs_at_most_two_nominal_periods(period, expected):
    """
    After a suspended machine a single sample must not speak for a whole minute.
    """
    record = minute_of(two_cores(runtime(counters([50, 50], period))), period_s=5.0)
    assert expected == record.covered_seconds


def test_coverage_is_at_most_the_minute():
    """
    Samples that straddle the minute's start are not split.
    """
    record = minute_of(*[two_cores(runtime(counters([50, 50], 5.1)))] * 12)
    assert 60 == record.covered_seconds


def test_a_report_that_samples_no_core_covers_nothing():
    """
    Coverage is that of core utilization.
    """
    record = minute_of(two_cores(runtime(None, None, executions(3))))
    assert 0 == record.covered_seconds


# --- partial failure ---

FAILED = {
    "missing": None,
    "in error": counters([0, 0, 0, 0], error="cannot read counters"),
    "too short": counters([99, 99, 99, 99], 0.07),
}


@pytest.mark.parametrize("failed", FAILED.values(), ids=FAILED)
def test_a_failed_runtime_hides_the_cores_it_holds(failed):
    """
    What it did on them is not known; the other cores are.
    """
    healthy = runtime(counters([40, 0, 0, 0]), memory({0: 1}))
    record = minute_of(report(healthy, runtime(failed, memory({1: 1}, [(0, 2)]), pid=2)))
    assert (40.0, None, None, 0.0) == record.utilization_percent
    assert "b??u" == record.core_state
    assert 5 == record.covered_seconds


@pytest.mark.parametrize("failed", FAILED.values(), ids=FAILED)
def test_a_failed_runtime_does_not_hide_what_another_shows(failed):
    """
    A core above 0 is known to work, whoever else holds it.
    """
    healthy = runtime(counters([40, 0, 0, 0]), memory({0: 1}))
    record = minute_of(report(healthy, runtime(failed, memory({0: 1}), pid=2)))
    assert (40.0, 0.0, 0.0, 0.0) == record.utilization_percent


@pytest.mark.parametrize(
    "group", [None, memory(error="cannot read memory")], ids=["missing", "in error"]
)
@pytest.mark.parametrize("failed", FAILED.values(), ids=FAILED)
def test_a_failed_runtime_without_memory_hides_every_core(failed, group):
    """
    Nothing says which cores are its own; what another shows above 0 stays known.
    """
    healthy = runtime(counters([40, 0, 0, 0]), memory({0: 1}))
    record = minute_of(report(healthy, runtime(failed, group, pid=2)))
    assert (40.0, None, None, None) == record.utilization_percent


def test_a_failure_hides_cores_in_its_report_only():
    """
    In a minute the cores are known from the reports that gave them a sample.
    """
    healthy = report(runtime(counters([40, 20, 0, 0]), memory({0: 1, 1: 1})))
    failed = report(runtime(None, memory({0: 1, 1: 1})), runtime(counters([0] * 4), pid=2))
    record = minute_of(healthy, failed, failed)
    assert (40.0, 20.0, 0.0, 0.0) == record.utilization_percent
    assert 15 == record.covered_seconds


def test_a_group_error_of_a_living_runtime_leaves_the_others():
    """
    As captured in a sidecar: four runtimes tagged "1", a vCPU error in every report,
    and good counters beside it.
    """
    entries = []
    for mine in range(4):
        entry = runtime(counters([12.5 if core == mine else 0 for core in range(4)]), memory())
        entry["pid"], entry["neuron_runtime_tag"] = 784_315 + mine, "1"
        entry["report"]["neuron_runtime_vcpu_usage"] = {
            "period": 5.0,
            "vcpu_usage": {"user": 0, "system": 0},
            "error": "open /proc/784315/stat: no such file or directory",
        }
        entries.append(entry)
    assert (12.5,) * 4 == minute_of(report(*entries)).utilization_percent


def test_a_runtime_whose_process_is_gone_is_left_out():
    """
    It neither hides cores nor keeps the list from being empty of runtimes.
    """
    gone = runtime(pid=2, error="no such process")
    gone["report"] = None
    healthy = runtime(counters([40, 0]), memory({0: 1}))
    assert (40.0, 0.0) == minute_of(two_cores(healthy, gone)).utilization_percent
    first, second = two_cores(gone), two_cores(gone)
    assert (0.0, 0.0) == minute_of(first, second).utilization_percent


def test_a_runtime_in_error_that_exists_hides_every_core():
    """
    Its report is null and nothing says that it ended: what it does is unknown.
    """
    entry = runtime(error="failed to read metrics")
    entry["report"] = None
    assert "??" == minute_of(two_cores(entry)).core_state


# --- no runtime ---


def test_without_a_runtime_every_core_is_0():
    """
    No runtime, no core entries: the zeros are made from the hardware information.
    """
    record = minute_of(*[nobody()] * 12)
    assert (0.0, 0.0) == record.utilization_percent
    assert "uu" == record.core_state
    assert 60 == record.covered_seconds


def test_the_first_report_without_a_runtime_may_be_too_short_to_count():
    """
    As captured on a trn1.2xlarge: its only system group covers half a millisecond.
    The next report weighs as long as it took to come.
    """
    first = nobody(0.00047258)
    assert "??" == minute_of(first).core_state
    record = minute_of(first, nobody())
    assert "uu" == record.core_state
    assert 5 == record.covered_seconds


@pytest.mark.parametrize(
    ("period", "expected"), [(0.499, 0.0), (0.5, 0.5), (5.0, 5.0), (10.0, 10.0), (10.1, 10.0)]
)
def test_the_first_report_without_a_runtime_weighs_its_largest_system_period(period, expected):
    """
    Under half a second nothing, and at most two nominal periods.
    """
    assert expected == minute_of(nobody(period)).covered_seconds


@pytest.mark.parametrize(("gap_s", "expected"), [(4.0, 9.0), (10.0, 15.0), (10.5, 15.0)])
def test_a_report_without_a_runtime_weighs_the_time_since_the_last_sample(gap_s, expected):
    """
    At most two nominal periods: nobody watched longer than that.
    """
    assert expected == minute_of(nobody(), nobody(), every_s=gap_s).covered_seconds


def test_null_is_not_collected():
    """
    null or absent runtimes say nothing about the cores: unknown, never idle.
    """
    absent = nobody()
    del absent["neuron_runtime_data"]
    for document in (nobody(neuron_runtime_data=None), absent):
        record = minute_of(document, document)
        assert "??" == record.core_state
        assert 0 == record.covered_seconds


@pytest.mark.parametrize(
    ("gap_s", "expected"), [(0.1, "b?"), (5.0, "b?"), (7.5, "b?"), (7.51, "bu"), (60.0, "bu")]
)
def test_an_empty_list_soon_after_counters_says_not_due(gap_s, expected):
    """
    With different periods per group a line can come on which runtimes were not due:
    within 1.5 periods it is no news.
    """
    hidden = runtime(None, memory({1: 1}), pid=2)
    working = two_cores(runtime(counters([50, 0]), memory({0: 1})), hidden)
    fold = new_fold()
    add(fold, working, START_S)
    add(fold, nobody(), START_S + gap_s)
    assert expected == closed(fold).core_state


def test_an_empty_list_that_was_not_due_leaves_holders_and_memory():
    """
    It is ignored, not half believed.
    """
    working = two_cores(runtime(counters([0, 0]), memory({0: 4096})))
    record = minute_of(working, nobody(), every_s=1.0)
    assert "au" == record.core_state
    assert 4096 == record.device_memory_used_bytes


def test_an_empty_list_after_a_runtime_ended_counts_from_its_last_sample():
    """
    The list within 1.5 periods is ignored; the next one weighs the time since the counters.
    """
    record = minute_of(two_cores(runtime(counters([90, 90]))), nobody(), nobody())
    assert 15 == record.covered_seconds
    assert (30.0, 30.0) == record.utilization_percent


def test_a_hardware_error_makes_an_empty_list_unknown():
    """
    With the driver out of reach, no runtime is what anybody would see.
    """
    failed = nobody(neuron_hardware_info=hardware(1, 2, error="no devices found"))
    fold = new_fold()
    for place in range(12):
        add(fold, failed, START_S + 5 * place)
    record = closed(fold)
    assert {"?"} >= set(record.core_state)
    assert 0 == record.covered_seconds


def test_an_empty_list_after_a_backward_clock_step_is_still_not_due():
    """
    The clock may be set back between two lines of one second.
    """
    fold = new_fold()
    add(fold, two_cores(runtime(counters([0, 0]), memory({0: 4096}))), START_S + 30)
    add(fold, nobody(), START_S + 10)
    record = closed(fold)
    assert "au" == record.core_state
    assert 5 == record.covered_seconds


def test_cores_without_a_runtime_are_known_again_soon_after_a_backward_clock_step():
    """
    An hour that the clock goes back is no hour without telemetry.
    """
    fold = new_fold()
    add(fold, two_cores(runtime(counters([0, 0]))), START_S + 30)
    for place in range(3):
        add(fold, nobody(), START_S - 3600 + 5 * place)
    assert 15 == closed(fold).covered_seconds


# --- tag filter ---


def test_with_a_tag_filter_cores_not_held_by_a_matched_runtime_are_unknown():
    """
    They may be busy for a runtime that the filter hides.
    """
    entry = runtime(counters([40, 0, 0, 0]), memory({0: 1, 1: 1}))
    record = minute_of(report(entry), only_matched=True)
    assert "ba??" == record.core_state
    assert (40.0, 0.0, None, None) == record.utilization_percent


def test_with_a_tag_filter_an_empty_list_says_nothing():
    """
    No matched runtime is not no runtime.
    """
    assert "??" == minute_of(nobody(), nobody(), nobody(), only_matched=True).core_state


# --- flops ---


def flops_of(*documents, **settings):
    """
    TeraFlops of the minute.
    """
    return minute_of(*documents, **settings).tera_flops


def test_effective_flops_win_over_flops():
    """
    Both stand in a mock of a trn1n; the observed name is effective_flops, and 0 counts.
    """
    group = counters([50, 50], flops={0: 9e12, 1: 9e12}, effective_flops={0: 2e12, 1: 0})
    assert 2.0 == flops_of(two_cores(runtime(group)))


def test_flops_stand_in_for_effective_flops():
    """
    The documentation still says flops, and so did older tools.
    """
    group = counters([50, 50], flops={0: 1e12, 1: 2e12})
    assert 3.0 == flops_of(two_cores(runtime(group)))
    null = counters([50, 50], flops={0: 1e12, 1: 2e12}, effective_flops={0: None, 1: None})
    assert 3.0 == flops_of(two_cores(runtime(null)))


def test_flops_are_the_sum_over_the_runtimes_of_a_core():
    """
    Work adds up where shares do not.
    """
    entries = [
        runtime(counters([50, 0], effective_flops={0: 1e12, 1: 0}), pid=pid) for pid in (1, 2)
    ]
    assert 2.0 == flops_of(two_cores(*entries))


def test_flops_are_absent_when_no_report_had_them():
    """
    inf1 has none: absent, never 0.
    """
    assert flops_of(two_cores(runtime(counters([50, 50])))) is None
    assert flops_of(nobody(), nobody()) is None


def test_flops_of_0_are_0():
    """
    A tool that says 0 FLOP/s is believed.
    """
    assert 0 == flops_of(two_cores(runtime(counters([0, 0], effective_flops={0: 0, 1: 0}))))


def test_flops_are_weighted_like_utilization():
    """
    5 s at 3 TFLOP/s and 10 s at 0 are 1 TFLOP/s.
    """
    working = two_cores(runtime(counters([90, 0], 5, effective_flops={0: 3e12, 1: 0})))
    resting = two_cores(runtime(counters([0, 0], 10, effective_flops={0: 0, 1: 0})))
    assert 1.0 == flops_of(working, resting)


def test_a_core_that_nobody_uses_any_more_does_no_flops():
    """
    Weighted like utilization also means: the zeros of a minute without a runtime count.
    """
    working = two_cores(runtime(counters([90, 0], effective_flops={0: 3e12, 1: 0})))
    record = minute_of(working, nobody(), nobody())
    assert (30.0, 0.0) == record.utilization_percent
    assert 1.0 == record.tera_flops


def test_flops_of_a_core_without_a_sample_do_not_count():
    """
    Too short a sample is noise in FLOP/s too.
    """
    short = two_cores(runtime(counters([90, 90], 0.07, effective_flops={0: 9e12, 1: 9e12})))
    assert flops_of(short) is None


# --- physical cores under logical ones ---


def test_a_split_into_physical_cores_is_no_further_core():
    """
    As documented for trn2 with two physical cores in a logical one: the split neither
    adds cores nor changes the logical value, whatever its key is called.
    """
    for key in ("v3d", "v4d"):
        group = counters([42.01, 42.02], 1.000113182, flops={0: 1234567891011, 1: 1234567891021})
        for core in ("0", "1"):
            group["neuroncores_in_use"][core][key] = {
                f"nc_v3.{2 * int(core)}": {"neuroncore_utilization": 21.01},
                f"nc_v3.{2 * int(core) + 1}": {"neuroncore_utilization": 63.01},
            }
        record = minute_of(
            report(
                runtime(group),
                system_data=None,
                instance_info=instance("trn2n.48xlarge"),
                neuron_hardware_info=hardware(16, 4, logical_neuroncore_config=2),
            )
        )
        assert (42.01, 42.02) == record.utilization_percent[:2]
        assert 64 == record.neuron_cores


def test_a_core_that_is_listed_exists_although_nothing_is_known_of_it():
    """
    An index beyond the count widens the instance, also when a failing runtime may use it.
    """
    failing = runtime(counters([0, 0, 0, 0], error="x"), pid=1)
    lister = runtime(counters({5: 0}), pid=2)
    record = minute_of(report(failing, lister))
    assert "??????" == record.core_state
