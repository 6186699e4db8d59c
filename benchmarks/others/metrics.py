"""
One report as metrics: 25 of the instance and one of each core.

The choice of somebody who wants to see what neuron-monitor reports: 27 on an
inf2.xlarge, the number that users of neuron-monitor-cloudwatch.py tell. With
several runtimes counts and bytes are added and the longest latency counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ECC: Final = ("mem_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_uncorrected")
_PERCENTILES: Final = ("p50", "p99", "p100")


class Metric(NamedTuple):
    """One value of one report, in a unit of CloudWatch's."""

    name: str
    value: float
    unit: str


def metrics_of(report: Mapping[str, Any]) -> list[Metric]:
    """Every metric of one report, decoded but not checked."""
    runtimes = [one["report"] for one in report["neuron_runtime_data"]]
    return [
        *_cores(runtimes),
        *_executions(runtimes),
        *_memory(runtimes),
        *_host(report["system_data"]),
    ]


def instance_of(report: Mapping[str, Any]) -> str:
    """The instance that wrote the report."""
    return str(report["instance_info"]["instance_id"])


def _cores(runtimes: list[Mapping[str, Any]]) -> Iterator[Metric]:
    busiest: dict[str, float] = {}
    for one in runtimes:
        for core, use in one["neuroncore_counters"]["neuroncores_in_use"].items():
            busiest[core] = max(busiest.get(core, 0.0), use["neuroncore_utilization"])
    for core, percent in busiest.items():
        yield Metric(f"NeuronCoreUtilizationNC{core}", percent, "Percent")


def _executions(runtimes: list[Mapping[str, Any]]) -> Iterator[Metric]:
    stats = [one["execution_stats"] for one in runtimes]
    for group, prefix in (("error_summary", "Errors_"), ("execution_summary", "Executions_")):
        for name in stats[0][group] if stats else ():
            yield Metric(prefix + name, sum(one[group][name] for one in stats), "Count")
    for percentile in _PERCENTILES if stats else ():
        latencies = [one["latency_stats"]["total_latency"] for one in stats]
        longest = max((one[percentile] for one in latencies if one), default=0.0)
        yield Metric(f"ExecutionLatency_{percentile}", longest, "Seconds")


def _memory(runtimes: list[Mapping[str, Any]]) -> Iterator[Metric]:
    for place in ("host", "neuron_device"):
        used = [one["memory_used"]["neuron_runtime_used_bytes"][place] for one in runtimes]
        yield Metric(f"RuntimeMemory_{place}", sum(used), "Bytes")
    for kind in ("user", "system"):
        used = [one["neuron_runtime_vcpu_usage"]["vcpu_usage"][kind] for one in runtimes]
        yield Metric(f"RuntimeVcpu_{kind}", sum(used), "Percent")


def _host(system: Mapping[str, Any]) -> Iterator[Metric]:
    for name in ("memory_total_bytes", "memory_used_bytes"):
        yield Metric(name, system["memory_info"][name], "Bytes")
    for kind in ("user", "system"):
        yield Metric(f"vcpu_usage_{kind}", system["vcpu_usage"]["average_usage"][kind], "Percent")
    devices = system["neuron_hw_counters"]["neuron_devices"]
    for name in _ECC:
        yield Metric(name, sum(one[name] for one in devices), "Count")
