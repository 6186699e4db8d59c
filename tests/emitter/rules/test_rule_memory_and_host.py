"""Rules: memory; vCPU and host memory. inf1 said 0 bytes beside the models that it had loaded."""

from __future__ import annotations

import pytest

from proof.factories.groups import GIB, instance_info, memory_info, vcpu_usage
from proof.factories.reports import (
    inf1_busy,
    inf2_loaded,
    minute_of,
    trn1_job,
    trn1_nobody,
    trn2_logical,
)


def test_memory_is_the_sum_over_the_runtimes():
    """Sum over the runtimes."""
    record = minute_of(trn1_job([50.0] * 32))
    assert (32 * 9_500_000_000, 32 * 612_000_000) == (
        record.device_memory_used_bytes, record.runtime_host_memory_bytes,
    )  # fmt: skip


def test_of_the_last_report_that_had_the_group():
    """Of the last report that had the group: not the largest, and not lost by one without it."""
    without = trn1_job([50.0] * 4)
    for runtime in without["neuron_runtime_data"]:
        del runtime["report"]["memory_used"]
    fewer = trn1_job([50.0] * 4)
    del fewer["neuron_runtime_data"][3]
    record = minute_of(trn1_job([50.0] * 4), fewer, without)
    assert 3 * 9_500_000_000 == record.device_memory_used_bytes


@pytest.mark.parametrize(
    ("document", "total"),
    [
        (trn1_job([50.0] * 32), 16 * 32 * GIB),
        (trn2_logical(), 16 * 96 * GIB),
        (inf2_loaded(), 32 * GIB),
    ],
)
def test_the_device_total_is_size_times_count(document, total):
    """Device total from `neuron_device_memory_size * count`."""
    assert total == minute_of(document).device_memory_total_bytes


def test_else_the_type_table_else_absent():
    """Else the type table (inf1 in 2022 had no size), else absent."""
    assert 8 * GIB == minute_of(inf1_busy()).device_memory_total_bytes
    unknown = trn1_nobody(instance_info=instance_info("trn9.big"))
    del unknown["neuron_hardware_info"]["neuron_device_memory_size"]
    assert minute_of(unknown).device_memory_total_bytes is None


def test_all_zero_device_memory_while_models_are_loaded_is_absent():
    """All-zero device memory while models are loaded (inf1): absent; without models it is 0."""
    document = inf1_busy()
    assert minute_of(document).device_memory_used_bytes is None
    document["neuron_runtime_data"][0]["report"]["memory_used"]["loaded_models"] = []
    assert 0 == minute_of(document).device_memory_used_bytes
    assert 612_000_000 == minute_of(document).runtime_host_memory_bytes


def test_vcpu_is_the_average_usage():
    """vCPU: `average_usage` only, not the shares of each vCPU (99 % of the first one)."""
    document = inf1_busy()
    document["system_data"]["vcpu_usage"] = vcpu_usage(user=20, nice=1, system=5, idle=70,
                                                       io_wait=2, irq=1, soft_irq=1)  # fmt: skip
    assert 28.0 == minute_of(document).number("HostCpuPercent")


def test_host_memory_is_memory_info():
    """Host memory: `memory_info` only, as last told; what runtimes use is another number."""
    first, last = inf1_busy(), inf1_busy()
    last["system_data"]["memory_info"] = memory_info(used=5 * GIB, total=8 * GIB)
    record = minute_of(first, last, {**inf1_busy(), "system_data": None})
    assert (5 * GIB, 8 * GIB) == (record.number("HostMemoryUsed"), record.number("HostMemoryTotal"))


def test_a_trimmed_report_has_neither():
    """inf2 in 2026: absent."""
    record = minute_of(inf2_loaded())
    assert (None, None, None) == (
        record.number("HostCpuPercent"),
        record.number("HostMemoryUsed"),
        record.number("HostMemoryTotal"),
    )
