"""
Reports in neuron-monitor's format, built by hand, and the minutes that they make.

Members and nesting are those of captured reports; every value is invented. The reports are JSON and
do not depend on how the emitter reads them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from neuron_emitter.fold import Fold, FoldSettings, LineIdentity
from neuron_emitter.reports.report import decode
from proof.factories.records import AN_INSTANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neuron_emitter.logs import Event
    from neuron_wire.minute_record import MinuteRecord

Document = dict[str, Any]

REPORTS_START_S = 1_800_000_000.0  # the start of a minute
REPORT_BOOT = "01234567890123456789"
GIB = 1 << 30
_OF_A_CORE = ("constants", "model_code", "model_shared_scratchpad", "runtime_memory")
_ERROR_CAUSES = ("generic", "numerical", "transient", "model", "runtime", "hardware")
_FAILURE_COUNTS = (
    *("completed_with_err", "completed_with_num_err", "timed_out", "incorrect_input"),
    "failed_to_queue",
)
_HARDWARE_COUNTERS = (
    "mem_ecc_corrected",
    "mem_ecc_uncorrected",
    "sram_ecc_uncorrected",
    "sram_ecc_corrected",
)


def hardware(devices: int | None = 1, cores_per_device: int | None = 4, **members: Any) -> Document:
    """Return `neuron_hardware_info`, by default that of an inf1.xlarge."""
    return {
        "neuron_device_count": devices,
        "neuroncore_per_device_count": cores_per_device,
        "error": "",
        **members,
    }


def instance(instance_type: str = "inf1.xlarge", **members: Any) -> Document:
    """Return a complete `instance_info`."""
    return {
        "instance_name": "",
        "instance_id": AN_INSTANCE,
        "instance_type": instance_type,
        "instance_availability_zone": "us-west-2d",
        "instance_availability_zone_id": "usw2-az4",
        "instance_region": "us-west-2",
        "ami_id": "ami-0123456789abcdef0",
        "subnet_id": "subnet-0123456789abcdef0",
        "error": "",
        **members,
    }


def counters(
    percent: Mapping[int | str, float | None] | Sequence[float | None],
    period: float | None = 5.0,
    error: str | None = "",
    **rates: Mapping[int, float | None],
) -> Document:
    """Return `neuroncore_counters`: percent by core, `flops=` and `effective_flops=` by core."""
    listed = dict(percent) if hasattr(percent, "keys") else dict(enumerate(percent))
    uses = {
        str(core): {
            "neuroncore_utilization": share,
            **{name: by_core[core] for name, by_core in rates.items() if core in by_core},
        }
        for core, share in listed.items()
    }
    return {"period": period, "neuroncores_in_use": uses, "error": error}


def memory(
    by_core: Mapping[int, int] | None = None,
    models: Iterable[tuple[int, int]] = (),
    *,
    cores: int = 4,
    host: int | None = 626_905_088,
    device: int | None = None,
    period: float = 5.0,
    error: str = "",
) -> Document:
    """Return `memory_used`: tensor bytes by core, and a model per (device, core on the device)."""
    held = dict(by_core or {})
    table = {
        str(core): {**dict.fromkeys(_OF_A_CORE, 0), "tensors": held.get(core, 0)}
        for core in sorted({*range(cores), *held})
    }
    return {
        "period": period,
        "neuron_runtime_used_bytes": {
            "host": host,
            "neuron_device": sum(held.values()) if device is None else device,
            "usage_breakdown": {
                "host": {
                    "application_memory": host,
                    "constants": 0,
                    "dma_buffers": 0,
                    "tensors": 0,
                },
                "neuroncore_memory_usage": table,
            },
        },
        "loaded_models": [model(device_index, core_index) for device_index, core_index in models],
        "error": error,
    }


def model(device_index: int, core_index: int) -> Document:
    """Return a loaded model with one subgraph. It is not running, as captured on busy cores."""
    return {
        "name": "model.neff",
        "uuid": "00000000000000000000000000000000",
        "model_id": 10001,
        "is_running": False,
        "subgraphs": {
            "sg_00": {
                "memory_used_bytes": {"host": 20_416_944, "neuron_device": 17_303_308},
                "neuroncore_index": core_index,
                "neuron_device_index": device_index,
            }
        },
    }


def executions(
    completed: int | None = 0,
    *,
    total: Mapping[str, float] | None = None,
    device: Mapping[str, float] | None = None,
    causes: Mapping[str, int] | None = None,
    period: float = 5.0,
    error: str = "",
    **counts: int | None,
) -> Document:
    """Return `execution_stats`: counts by `execution_summary` names, latencies in seconds."""
    return {
        "period": period,
        "error_summary": {**dict.fromkeys(_ERROR_CAUSES, 0), **(causes or {})},
        "execution_summary": {
            "completed": completed,
            **dict.fromkeys(_FAILURE_COUNTS, 0),
            **counts,
        },
        "latency_stats": {"total_latency": total, "device_latency": device},
        "error": error,
    }


def runtime(
    neuroncore_counters: Document | None = None,
    memory_used: Document | None = None,
    execution_stats: Document | None = None,
    neuron_runtime_vcpu_usage: Document | None = None,
    *,
    pid: int = 2499,
    tag: str = "2499",
    error: str = "",
) -> Document:
    """Return an entry of `neuron_runtime_data`; groups that are None were not due."""
    names = ("neuroncore_counters", "memory_used", "execution_stats", "neuron_runtime_vcpu_usage")
    groups = (neuroncore_counters, memory_used, execution_stats, neuron_runtime_vcpu_usage)
    present = {name: one for name, one in zip(names, groups, strict=True) if one is not None}
    return {"pid": pid, "neuron_runtime_tag": tag, "error": error, "report": present}


def runtime_vcpu(
    user: float | None = 24.8,
    system: float | None = 3.06,
    period: float | None = 5.0,
    error: str = "",
) -> Document:
    """Return `neuron_runtime_vcpu_usage`: percent of one vCPU."""
    return {"period": period, "vcpu_usage": {"user": user, "system": system}, "error": error}


def kubernetes(
    by_core: Mapping[int, str] | None = None,
    by_device: Mapping[int, str] | None = None,
    error: str = "",
) -> Document:
    """Return `neuron_k8s_info`: `namespace/pod` by core and by device."""

    def table(pods: Mapping[int, str] | None) -> Document:
        return {
            str(index): {
                "pod_name": pod.partition("/")[2],
                "namespace": pod.partition("/")[0],
                "container_name": ["main"],
            }
            for index, pod in (pods or {}).items()
        }

    return {
        "period": 15.03,
        "neuroncores_k8s_info": table(by_core),
        "neurondevices_k8s_info": table(by_device),
        "error": error,
    }


def host_memory(used: int | None = 7 * GIB) -> Document:
    """Return `memory_info`, period 5 s."""
    return {
        "period": 5.0,
        "memory_total_bytes": 8 * GIB,
        "memory_used_bytes": used,
        "swap_total_bytes": 0,
        "swap_used_bytes": 0,
        "error": "",
    }


def vcpu(period: float | None = 5.0, error: str = "", **shares: float | None) -> Document:
    """Return `vcpu_usage`; unnamed shares of `average_usage` are 0."""
    average = dict.fromkeys(("user", "nice", "system", "idle", "io_wait", "irq", "soft_irq"), 0)
    return {
        "period": period,
        "average_usage": {**average, **shares},
        "usage_data": {"0": {**average, **shares}},
        "context_switch_count": 704,
        "error": error,
    }


def hardware_counters(*devices: Mapping[str, int | None], error: str = "") -> Document:
    """Return `neuron_hw_counters` with a device per argument; unnamed counters are 0."""
    zeros = dict.fromkeys(_HARDWARE_COUNTERS, 0)
    return {
        "period": 5.0,
        "neuron_devices": [
            {"neuron_device_index": index, **zeros, **counts}
            for index, counts in enumerate(devices)
        ],
        "error": error,
    }


def report(*runtimes: Document, **members: Any) -> Document:
    """Return a report of an inf1.xlarge with these runtimes; *members* replace members."""
    whole = {
        "neuron_runtime_data": list(runtimes),
        "system_data": {"memory_info": host_memory()},
        "instance_info": instance(),
        "neuron_hardware_info": hardware(),
    }
    return {**whole, **members}


def written(document: Document) -> bytes:
    """Return the report as neuron-monitor writes it: compact, without a line end."""
    return json.dumps(document, separators=(",", ":")).encode()


def new_fold(
    state: bytes | None = None, on_event: Any = lambda _event: None, **settings: Any
) -> Fold:
    """Return a fold with a nominal period of 5 s by default."""
    return Fold(FoldSettings(**{"period_s": 5.0, **settings}), state, on_event=on_event)


def add(fold: Fold, document: Document, at_s: float) -> None:
    """Fold the report that was received at *at_s*."""
    fold.fold_report(decode(written(document)), at_s)


def closed(fold: Fold, seq: int = 1) -> MinuteRecord:
    """Close the open minute and return its record."""
    return fold.close_minute(identity_of(fold), seq)


def identity_of(fold: Fold) -> LineIdentity:
    """Return the identity from the facts of *fold*, with a guessed ID if the ID is unknown."""
    facts = fold.instance
    return LineIdentity(
        cluster="blue",
        instance_id=facts.instance_id or "host-guess",
        identity_guessed=facts.instance_id is None,
        boot=REPORT_BOOT,
        instance_type=facts.instance_type,
        ami_id=facts.ami_id,
    )


def events_of(*minutes: Sequence[Document]) -> list[Event]:
    """Return the events of *minutes*, each a list of reports 5 s apart."""
    events: list[Event] = []
    fold = new_fold(on_event=events.append)
    for number, documents in enumerate(minutes):
        fold.clock.open_minute(REPORTS_START_S + 60 * number)
        for place, document in enumerate(documents):
            add(fold, document, REPORTS_START_S + 60 * number + 5 * place)
        closed(fold)
    return events


def minute_of(*documents: Document, every_s: float = 5.0, **settings: Any) -> MinuteRecord:
    """Return the minute of these reports; the first is received at the minute's start."""
    fold = new_fold(**settings)
    for place, document in enumerate(documents):
        add(fold, document, REPORTS_START_S + place * every_s)
    return closed(fold)


def two_cores(*runtimes: Document, **members: Any) -> Document:
    """Return a report of an instance with two cores."""
    return report(*runtimes, **{"neuron_hardware_info": hardware(1, 2), **members})


def no_runtimes(period: float = 5.0, **members: Any) -> Document:
    """Return a report of two cores without a runtime; its only system group has *period*."""
    system = {"vcpu_usage": vcpu(period)}
    return report(**{"system_data": system, "neuron_hardware_info": hardware(1, 2), **members})


def whole() -> Document:
    """Return a report with every group."""
    return report(
        runtime(
            counters([27.02, 19.35, 0, 0]),
            memory({0: 65_536}, [(0, 1)]),
            executions(300),
            runtime_vcpu(),
        ),
        runtime(counters([0, 0, 7.5, 0]), memory({2: 4096}), executions(1), pid=2500, tag="b"),
        system_data={
            "memory_info": host_memory(),
            "vcpu_usage": vcpu(user=28.37),
            "neuron_hw_counters": hardware_counters({"mem_ecc_corrected": 1}),
        },
        neuron_hardware_info=hardware(neuron_device_memory_size=8 << 30),
        neuron_k8s_info=kubernetes({0: "blue/pod-1"}, {0: "blue/pod-1"}),
    )


GOOD_REPORT = written(report(runtime(counters([50.0, 0.0, 0.0, 0.0])))) + b"\n"
"""A report as a line of neuron-monitor's output."""
IDLE_COUNTERS = counters([0, 0, 0, 0])
