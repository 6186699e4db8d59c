"""
FLOP/s of the cores, and the physical cores behind them.
"""

from __future__ import annotations

from neuron_reports import (
    counters,
    hardware,
    instance,
    minute_of,
    nobody,
    report,
    runtime,
    two_cores,
)


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
