"""
What neuron-monitor-prometheus.py does, written anew from public copies of it.

Its names, labels and types, and its faults, so that they can be counted: labels
frozen from the first report, runtimes told apart by their tag alone, what each
report says of memory errors added up, gauges that nobody takes away, a member
that is missing ends it. Reports come on standard input, one a line.
It knows nothing of the emitter: tests compare the two.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Info, start_http_server

if TYPE_CHECKING:
    from collections.abc import Mapping

Document = dict[str, Any]
Labels = dict[str, Any]

_CORE_USES: Final = (
    "constants", "model_code", "model_shared_scratchpad", "runtime_memory", "tensors",
)  # fmt: skip


class Exporter:
    """
    Reports in, series in a registry.

    Attributes:
        registry: What is scraped.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._labels: Labels | None = None
        self._gauges: dict[str, Gauge] = {}
        self._counters: dict[str, Counter] = {}

    def process(self, report: Document) -> None:
        """
        Take one report.

        Raises:
            KeyError: If it lacks a member that this expects: the script ends there.
        """
        if self._labels is None:
            self._labels = self._instance(report["instance_info"])
            self._info("instance", self._labels)
            hardware = report["neuron_hardware_info"]
            counts = ("neuron_device_count", "neuroncore_per_device_count")
            told = (*counts, "neuron_device_memory_size")
            known = {name: str(hardware[name]) for name in told if name in hardware}
            self._info("neuron_hardware", {**self._labels, **known})
        for runtime in report["neuron_runtime_data"] or ():
            if runtime["error"]:
                self._say(runtime["error"])
                continue
            labels = {**self._labels, "runtime_tag": runtime["neuron_runtime_tag"]}
            self._groups(runtime["report"], labels)
        self._groups(report["system_data"], self._labels)

    def _groups(self, groups: Document, labels: Labels) -> None:
        for name, group in groups.items():
            if group["error"]:
                self._say(group["error"])
            elif (process := getattr(self, f"_{name}", None)) is not None:
                process(group, labels)

    def _neuroncore_counters(self, group: Document, labels: Labels) -> None:
        for core, use in group["neuroncores_in_use"].items():
            ratio = use["neuroncore_utilization"] / 100.0
            self._set("neuroncore_utilization_ratio", {**labels, "neuroncore": core}, ratio)

    def _memory_used(self, group: Document, labels: Labels) -> None:
        used = group["neuron_runtime_used_bytes"]
        for location in ("host", "neuron_device"):
            where = {**labels, "memory_location": location}
            self._set("neuron_runtime_memory_used_bytes", where, used[location])
        table = used.get("usage_breakdown", {}).get("neuroncore_memory_usage", {})
        for core, by_use in table.items():
            where = {**labels, "memory_location": None, "neuroncore": core}
            for use in _CORE_USES:
                self._set(f"neuroncore_memory_usage_{use}", where, by_use[use])

    def _execution_stats(self, group: Document, labels: Labels) -> None:
        for name, count in group["error_summary"].items():
            self._add("execution_errors_total", {**labels, "error_type": name}, count)
        for name, count in group["execution_summary"].items():
            self._add("execution_status_total", {**labels, "status_type": name}, count)
        for name, seconds in (group["latency_stats"]["total_latency"] or {}).items():
            self._set("execution_latency_seconds", {**labels, "percentile": name}, seconds)

    def _neuron_runtime_vcpu_usage(self, group: Document, labels: Labels) -> None:
        for name in ("user", "system"):
            ratio = group["vcpu_usage"][name] / 100.0
            self._set("neuron_runtime_vcpu_usage_ratio", {**labels, "usage_type": name}, ratio)

    def _neuron_hw_counters(self, group: Document, labels: Labels) -> None:
        for device in group["neuron_devices"] or ():
            index = device["neuron_device_index"]
            for name, count in device.items():
                if name != "neuron_device_index":
                    where = {**labels, "event_type": name, "neuron_device_index": index}
                    self._add("hardware_ecc_events_total", where, count)

    def _vcpu_usage(self, group: Document, labels: Labels) -> None:
        self._set("system_vcpu_count", labels, len(group["usage_data"]))
        shares: Mapping[str, float] = {
            name: percent / 100.0 for name, percent in group["average_usage"].items()
        }
        system = shares["system"] + shares["io_wait"] + shares["irq"] + shares["soft_irq"]
        for name, ratio in (("user", shares["user"] + shares["nice"]), ("system", system)):
            self._set("system_vcpu_usage_ratio", {**labels, "usage_type": name}, ratio)

    def _memory_info(self, group: Document, labels: Labels) -> None:
        for kind in ("memory", "swap"):
            for amount in ("total", "used"):
                name = f"{kind}_{amount}_bytes"
                self._set(f"system_{name}", labels, group[name])

    def _instance(self, info: Document) -> Labels:
        labels = {
            "instance_name": info["instance_name"],
            "instance_id": info["instance_id"],
            "instance_type": info["instance_type"],
            "availability_zone": info["instance_availability_zone"],
            "region": info["instance_region"],
            "subnet_id": info["subnet_id"],
        }
        if "ultraserver_id" in info:
            labels["ultraserver_id"] = info["ultraserver_id"]
        return labels

    def _info(self, name: str, labels: Labels) -> None:
        Info(name, name.replace("_", " "), registry=self.registry).info(labels)

    def _set(self, name: str, labels: Labels, value: float) -> None:
        gauge = self._gauges.get(name)
        if gauge is None:
            gauge = Gauge(name, name.replace("_", " "), [*labels], registry=self.registry)
            self._gauges[name] = gauge
        gauge.labels(**labels).set(value)

    def _add(self, name: str, labels: Labels, value: float) -> None:
        counter = self._counters.get(name)
        if counter is None:
            counter = Counter(name, name.replace("_", " "), [*labels], registry=self.registry)
            self._counters[name] = counter
        counter.labels(**labels).inc(value)

    def _say(self, error: str) -> None:
        sys.stderr.write(f"{error}\n")


def main(arguments: list[str] | None = None) -> int:
    """Serve what standard input says; the exit code. At its end the last values stay served."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.others.exporter")
    parser.add_argument("--port", type=int, default=8000)
    exporter = Exporter()
    start_http_server(parser.parse_args(arguments).port, "127.0.0.1", exporter.registry)
    for line in sys.stdin:
        exporter.process(json.loads(line))
    while True:  # the script turns in an endless loop here
        time.sleep(1.0)


if __name__ == "__main__":
    sys.exit(main())
