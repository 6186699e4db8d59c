"""Bytes the runtimes hold, as of the minute's last report that had the group."""

from __future__ import annotations

from neuron_reports import GIB, counters, hardware, instance, memory, minute_of, report, runtime

IDLE = counters([0, 0, 0, 0])


def test_memory_is_the_sum_over_the_runtimes():
    """Each runtime reports its own bytes."""
    record = minute_of(
        report(
            runtime(IDLE, memory({0: 100}, host=10)),
            runtime(IDLE, memory({1: 200, 2: 300}, host=20), pid=2),
        )
    )
    assert 600 == record.device_memory_used_bytes
    assert 30 == record.runtime_host_memory_bytes


def test_the_last_report_that_had_the_group_counts():
    """A gauge: neither summed nor averaged over the minute, and not lost where it was not due."""
    record = minute_of(
        report(runtime(IDLE, memory({0: 100}))),
        report(runtime(IDLE, memory({0: 300}))),
        report(runtime(IDLE)),
    )
    assert 300 == record.device_memory_used_bytes


def test_a_group_in_error_is_missing():
    """The runtimes whose groups can be read are summed; with none it is absent."""
    failed = runtime(IDLE, memory({0: 999}, error="no memory"), pid=2)
    record = minute_of(report(runtime(IDLE, memory({0: 100})), failed))
    assert 100 == record.device_memory_used_bytes
    record = minute_of(report(failed))
    assert record.device_memory_used_bytes is None
    assert record.runtime_host_memory_bytes is None


def test_absent_bytes_are_absent():
    """null or missing members give no member, and no 0."""
    group = memory({0: 100}, host=None)
    group["neuron_runtime_used_bytes"]["neuron_device"] = None
    record = minute_of(report(runtime(IDLE, group)))
    assert record.device_memory_used_bytes is None
    assert record.runtime_host_memory_bytes is None


def test_a_size_below_0_is_absent():
    """Never -1."""
    record = minute_of(report(runtime(IDLE, memory(host=-1, device=-1))))
    assert record.device_memory_used_bytes is None
    assert record.runtime_host_memory_bytes is None


def test_zero_device_memory_beside_loaded_models_is_absent():
    """As captured on inf1: it does not measure device memory. Host memory it does."""
    record = minute_of(report(runtime(IDLE, memory(models=[(0, 0), (0, 1)], host=4_527_943_680))))
    assert record.device_memory_used_bytes is None
    assert 4_527_943_680 == record.runtime_host_memory_bytes


def test_zero_device_memory_without_models_is_0():
    """A runtime that has loaded nothing holds nothing."""
    assert 0 == minute_of(report(runtime(IDLE, memory()))).device_memory_used_bytes


def test_without_a_runtime_nobody_holds_a_byte():
    """Left absent, an empty instance would make its cluster look fuller than it is."""
    record = minute_of(report(), report())
    assert 0 == record.device_memory_used_bytes
    assert 0 == record.runtime_host_memory_bytes


def test_runtimes_that_were_not_collected_leave_memory_unknown():
    """null is not no runtime."""
    assert minute_of(report(neuron_runtime_data=None)).device_memory_used_bytes is None


def test_the_total_is_that_of_the_devices():
    """neuron_device_memory_size is per device."""
    record = minute_of(
        report(
            neuron_hardware_info=hardware(16, 2, neuron_device_memory_size=32 * GIB),
            instance_info=instance("trn1.32xlarge"),
        )
    )
    assert 512 * GIB == record.device_memory_total_bytes


def test_the_total_needs_no_core_count():
    """size times devices, whatever else is missing."""
    record = minute_of(
        report(
            neuron_hardware_info=hardware(2, None, neuron_device_memory_size=GIB),
            instance_info=instance("trn9.new"),
        )
    )
    assert 2 * GIB == record.device_memory_total_bytes


def test_the_total_of_an_older_tool_is_that_of_the_type():
    """inf1 captures have no neuron_device_memory_size."""
    assert 8 * GIB == minute_of(report()).device_memory_total_bytes


def test_the_total_of_an_unknown_type_is_absent():
    """Neither reported nor in the table."""
    record = minute_of(report(instance_info=instance("inf9.large")))
    assert record.device_memory_total_bytes is None
