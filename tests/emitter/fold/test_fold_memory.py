"""Bytes the runtimes hold, as of the minute's last report that had the group."""

from __future__ import annotations

import pytest
from neuron_reports import GIB, counters, hardware, instance, memory, minute_of, report, runtime

IDLE = counters([0, 0, 0, 0])


def bytes_of(*documents):
    """What the runtimes hold of the devices and of the host."""
    record = minute_of(*documents)
    return record.device_memory_used_bytes, record.runtime_host_memory_bytes


def test_memory_is_the_sum_over_the_runtimes():
    """Each runtime reports its own bytes."""
    second = runtime(IDLE, memory({1: 200, 2: 300}, host=20), pid=2)
    assert (600, 30) == bytes_of(report(runtime(IDLE, memory({0: 100}, host=10)), second))


def test_the_last_report_that_had_the_group_counts():
    """A gauge: neither summed nor averaged over the minute, and not lost where it was not due."""
    groups = memory({0: 100}), memory({0: 300}), None
    assert 300 == bytes_of(*(report(runtime(IDLE, group)) for group in groups))[0]


def test_a_group_in_error_is_missing():
    """The runtimes whose groups can be read are summed; with none it is absent."""
    failed = runtime(IDLE, memory({0: 999}, error="no memory"), pid=2)
    assert 100 == bytes_of(report(runtime(IDLE, memory({0: 100})), failed))[0]
    assert (None, None) == bytes_of(report(failed))


@pytest.mark.parametrize("size", [None, -1])
def test_absent_bytes_are_absent(size):
    """null or what cannot be gives no member, and no 0."""
    group = memory({0: 100}, host=size)
    group["neuron_runtime_used_bytes"]["neuron_device"] = size
    assert (None, None) == bytes_of(report(runtime(IDLE, group)))


@pytest.mark.parametrize(("models", "expected"), [([(0, 0), (0, 1)], None), ([], 0)])
def test_zero_device_memory_beside_loaded_models_is_absent(models, expected):
    """As captured on inf1: it does not measure device memory. Host memory it does."""
    group = memory(models=models, host=4_527_943_680)
    assert (expected, 4_527_943_680) == bytes_of(report(runtime(IDLE, group)))


@pytest.mark.parametrize(("runtimes", "expected"), [([], (0, 0)), (None, (None, None))])
def test_without_a_runtime_nobody_holds_a_byte(runtimes, expected):
    """Left absent, an empty instance would make its cluster look fuller; null is not collected."""
    assert expected == bytes_of(*[report(neuron_runtime_data=runtimes)] * 2)


@pytest.mark.parametrize(
    ("hardware_info", "instance_type", "expected"),
    [
        (hardware(16, 2, neuron_device_memory_size=32 * GIB), "trn1.32xlarge", 512 * GIB),
        (hardware(2, None, neuron_device_memory_size=GIB), "trn9.new", 2 * GIB),
        (hardware(), "inf1.xlarge", 8 * GIB),
        (hardware(), "inf9.large", None),
    ],
    ids=["told", "without cores", "older tool: of the type", "unknown type"],
)
def test_the_total_is_that_of_the_devices(hardware_info, instance_type, expected):
    """neuron_device_memory_size is per device; else that of the type, else absent."""
    record = minute_of(
        report(neuron_hardware_info=hardware_info, instance_info=instance(instance_type))
    )
    assert expected == record.device_memory_total_bytes
