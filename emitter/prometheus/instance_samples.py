"""The instance in the last report, under the names of neuron-monitor-prometheus.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.fold.amounts import amount
from emitter.fold.ecc import MAX_DEVICES
from emitter.fold.periods import is_long_enough
from emitter.prometheus.families import (
    ECC,
    HARDWARE_INFO,
    INSTANCE_INFO,
    INSTANCE_LABELS,
    SYSTEM_BYTES,
    VCPU,
    VCPU_COUNT,
    Sample,
)
from emitter.prometheus.last_values import standing
from neuron_wire.holders import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emitter.prometheus.last_values import View

_USAGE: Final = {"user": ("user", "nice"), "system": ("system", "io_wait", "irq", "soft_irq")}
_EVENTS: Final = (
    "mem_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_corrected", "sram_ecc_uncorrected",
)  # fmt: skip


def instance_labels(view: View) -> Mapping[str, str]:
    """The labels of every metric of the script, empty where nobody tells."""
    info, facts = view.info, view.facts
    told = {
        "instance_name": None if info is None else info.instance_name,
        "instance_id": view.instance_id,
        "instance_type": facts.instance_type,
        "availability_zone": facts.availability_zone,
        "region": facts.region,
        "subnet_id": None if info is None else info.subnet_id,
    }
    labels = {name: printable(told[name]) or "" for name in INSTANCE_LABELS}
    if info is not None and (ultraserver_id := printable(info.ultraserver_id)):
        labels["ultraserver_id"] = ultraserver_id
    return labels


def instance_samples(view: View, now_s: float) -> Iterable[Sample]:
    """What the report told of the instance that still stands at *now_s*."""
    yield from _vcpu(view, now_s)
    memory = standing(view.host_memory, now_s)
    if memory is not None and not memory.error:
        for member, family in SYSTEM_BYTES.items():
            size = amount(getattr(memory, member))
            if size is not None:
                yield Sample(family, (), size)
    yield from _ecc(view, now_s)
    if view.info is not None:
        yield Sample(INSTANCE_INFO, (), 1)
    hardware = view.hardware
    if hardware is not None and not hardware.error:
        told = (
            hardware.neuron_device_count,
            hardware.neuroncore_per_device_count,
            amount(hardware.neuron_device_memory_size),
        )
        yield Sample(HARDWARE_INFO, tuple("" if one is None else str(one) for one in told), 1)


def _vcpu(view: View, now_s: float) -> Iterable[Sample]:
    group = standing(view.vcpu, now_s)
    if group is None or group.error:
        return
    if view.vcpus is not None:
        yield Sample(VCPU_COUNT, (), view.vcpus)
    average = group.average_usage
    if average is None or not is_long_enough(group.period):
        return
    for usage_type, names in _USAGE.items():
        shares = [told for name in names if (told := getattr(average, name)) is not None]
        if shares and all(0 <= share <= 100 for share in shares):
            yield Sample(VCPU, (usage_type,), sum(share / 100.0 for share in shares))


def _ecc(view: View, now_s: float) -> Iterable[Sample]:
    counters = standing(view.ecc, now_s)
    if counters is None or counters.error:
        return
    told: set[tuple[int, str]] = set()
    for device in counters.neuron_devices or ():
        index = None if device is None else device.neuron_device_index
        if device is None or index is None or not 0 <= index < MAX_DEVICES:
            continue
        told |= {(index, name) for name in _EVENTS if amount(getattr(device, name)) is not None}
    for index, name in sorted(told):
        risen = view.ecc_risen.get(f"{index}:{name}")
        if risen is not None:
            yield Sample(ECC, (name, str(index)), risen)
