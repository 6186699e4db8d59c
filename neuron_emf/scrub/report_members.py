"""
What may stay of a neuron-monitor report.

The members are those of `emitter.reports`, and the few besides that its reports
have and the emitter does not decode. Names of models, pods and instances, tags and
the texts of errors get other names: a path or a message may say whose it is.
"""

from __future__ import annotations

import re
from typing import Final

from neuron_emf.scrub.shapes import MESSAGE, NAME, NUMBER, Each, Keyed, Members, Shape, Split, Text

_USE: Final = re.compile(
    r"application_memory|constants|dma_buffers|model_code|model_shared_scratchpad|neuron_device"
    r"|runtime_memory|shared_scratchpad|tensors|collectives|notifications|profiler_buffers"
    r"|uncategorized|driver_memory|nonshared_scratchpad"
)
_ERROR: Final = re.compile(r"generic|numerical|transient|model|runtime|hardware")
_SUBGRAPH: Final = re.compile(r"sg_[0-9]{1,4}")
_SPLIT: Final = re.compile(r"v[0-9]{1,2}[a-z]?")
_PHYSICAL: Final = re.compile(r"nc_v[0-9]{1,2}\.[0-9]{1,4}")
_TAG: Final = re.compile(r"[0-9]{1,9}")  # of a process that has none: the process id it sees
_TYPE: Final = re.compile(r"(?:inf|trn)[0-9][a-z0-9]{0,4}\.[0-9]{0,3}[a-z]{1,8}(?:-[0-9a-z]{1,8})?")
_REGION: Final = re.compile(r"[a-z]{2}(?:-[a-z]{2,12}){1,3}-[0-9]")
_ZONE: Final = re.compile(rf"{_REGION.pattern}[a-z]")
_ZONE_ID: Final = re.compile(r"[a-z]{3,4}[0-9]-az[0-9]{1,2}")
_VERSION: Final = re.compile(r"v[0-9]{1,2}[a-z]?")
_DEVICE: Final = re.compile(r"(?:inferentia|trainium)[0-9]?")

INSTANCE_TYPE: Final = Text(_TYPE)
REGION: Final = Text(_REGION)
ZONE: Final = Text(_ZONE)
TAG: Final = Text(_TAG)
VERSION: Final = Text(_VERSION)


def _members(numbers: str, **others: Shape) -> Members:
    """An object with these *numbers* by name, and *others*."""
    return Members({**dict.fromkeys(numbers.split(), NUMBER), **others})


def _group(numbers: str = "", **others: Shape) -> Members:
    """What is collected at one period, and may have failed."""
    return _members(f"period {numbers}", error=MESSAGE, **others)


_PERCENTILES: Final = _members("p0 p1 p25 p50 p75 p99 p100")
_BY_USE: Final = Keyed(NUMBER, _USE)
_VCPU: Final = _members("user nice system idle io_wait irq soft_irq")
_POD: Final = _members("", pod_name=NAME, namespace=NAME, container_name=Each(NAME))
_CORE: Final = Split(
    dict.fromkeys(("neuroncore_utilization", "flops", "effective_flops"), NUMBER),
    Keyed(_members("neuroncore_utilization"), _PHYSICAL),
    _SPLIT,
)
_SUBGRAPH_BYTES: Final = _members(
    "host neuron_device",
    usage_breakdown=_members("", host=_BY_USE, neuron_device=_BY_USE),
)
_RUNTIME: Final = _members(
    "",
    execution_stats=_group(
        error_summary=Keyed(NUMBER, _ERROR),
        execution_summary=_members(
            "completed completed_with_err completed_with_num_err timed_out incorrect_input"
            " failed_to_queue"
        ),
        latency_stats=_members("", total_latency=_PERCENTILES, device_latency=_PERCENTILES),
    ),
    memory_used=_group(
        neuron_runtime_used_bytes=_members(
            "host neuron_device",
            usage_breakdown=_members(
                "",
                host=_BY_USE,
                neuron_device=_BY_USE,
                neuroncore_memory_usage=Keyed(_BY_USE),
            ),
        ),
        loaded_models=Each(
            _members(
                "model_id is_running",
                name=NAME,
                uuid=NAME,
                subgraphs=Keyed(
                    _members(
                        "neuroncore_index neuron_device_index", memory_used_bytes=_SUBGRAPH_BYTES
                    ),
                    _SUBGRAPH,
                ),
            )
        ),
    ),
    neuron_runtime_vcpu_usage=_group(vcpu_usage=_VCPU),
    neuroncore_counters=_group(neuroncores_in_use=Keyed(_CORE)),
)

REPORT: Final = _members(
    "",
    neuron_runtime_data=Each(
        _members("pid", neuron_runtime_tag=TAG, error=MESSAGE, report=_RUNTIME)
    ),
    system_data=_members(
        "",
        neuron_hw_counters=_group(
            neuron_devices=Each(
                _members(
                    "neuron_device_index mem_ecc_corrected mem_ecc_uncorrected"
                    " sram_ecc_corrected sram_ecc_uncorrected"
                )
            )
        ),
        vcpu_usage=_group("context_switch_count", average_usage=_VCPU, usage_data=Keyed(_VCPU)),
        memory_info=_group("memory_total_bytes memory_used_bytes swap_total_bytes swap_used_bytes"),
    ),
    instance_info=_members(
        "",
        error=MESSAGE,
        instance_name=NAME,
        instance_id=NAME,
        instance_type=INSTANCE_TYPE,
        instance_availability_zone=ZONE,
        instance_availability_zone_id=Text(_ZONE_ID),
        instance_region=REGION,
        ami_id=NAME,
        subnet_id=NAME,
        ultraserver_id=NAME,
    ),
    neuron_hardware_info=_members(
        "neuron_device_count neuron_device_memory_size neuroncore_per_device_count"
        " logical_neuroncore_config",
        neuron_device_type=Text(_DEVICE),
        neuron_device_version=VERSION,
        neuroncore_version=VERSION,
        error=MESSAGE,
    ),
    neuron_k8s_info=_group(neuroncores_k8s_info=Keyed(_POD), neurondevices_k8s_info=Keyed(_POD)),
)
