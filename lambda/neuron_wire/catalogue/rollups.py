"""
The numbers of a rollup, one minute of one cluster: its metrics, and what may be made one.

Metrics are most of a small fleet's bill, so few numbers are metrics by default; the
others stand in the same line, as properties.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from neuron_wire.catalogue.member import ALWAYS, Member, metrics
from neuron_wire.names import ROLLUP as KIND

if TYPE_CHECKING:
    from collections.abc import Mapping

_SUM: Final = "sum over instances"
_COUNT: Final = "instances"
_RECORDS: Final = "minute lines"
_REGISTRY: Final = "registry of the stack"
_PRICES: Final = "list prices"
_IDLE: Final = "CoreState, CoreIdleMinutes"


def _gauge(
    name: str, unit: str, source: str, folds: str, meaning: str, *, read_with: str = ""
) -> Member:
    return Member(name, unit, "gauge", source, folds, meaning, (KIND,), read_with=read_with)


def _tally(
    name: str, source: str, meaning: str, *, unit: str = "Count", folds: str = _SUM
) -> Member:
    return Member(name, unit, "tally", source, folds, meaning, (KIND,))


_DEFAULT: Final = (
    _gauge("Instances", "Count", _RECORDS, _COUNT, "Instances that reported this minute."),
    _gauge("SilentInstances", "Count", _REGISTRY, _COUNT, "Known instances that stopped reporting.",
           read_with="Maximum"),
    _gauge("NeuronCores", "Count", "CoreState", _SUM,
           "Logical NeuronCores of the reporting instances."),
    _gauge("BusyCores", "Count", "CoreState", _SUM, "Cores at or above the busy threshold."),
    _gauge("AttachedIdleCores", "Count", "CoreState", _SUM,
           "Cores held by a runtime but not busy."),
    _gauge("UnattachedCores", "Count", "CoreState", _SUM, "Cores neither busy nor held."),
    _gauge("ReservedCores", "Count", "Owners, OwnersMore", _SUM,
           "Those of UnattachedCores that are given to a pod, task or job; absent where no line "
           "tells it."),
    _gauge("UnknownCores", "Count", "CoreState", _SUM, "Cores without utilization telemetry."),
    _gauge("IdleCores", "Count", _IDLE, _SUM, "Cores not busy for IdleAfterMinutes or longer."),
    _gauge("IdleCorePercent", "Percent", _IDLE, "IdleCores / known cores",
           "IdleCores as a share of the known cores."),
    _gauge("IdleCostPerHour", "None", _PRICES, _SUM,
           "Price of the idle cores, USD per hour; those without a price are in UnpricedCores."),
    _gauge("AvoidableCostPerHour", "None", _PRICES, "sum over wholly idle, not sunk instances",
           "The part of IdleCostPerHour that ends, at most, when wholly idle instances stop."),
    _gauge("NeuronCoreUtilization", "Percent", "NeuronCoreUtilization",
           "mean over the known cores", "Mean utilization of the known cores."),
    _gauge("LatencyP99Max", "Seconds", "LatencyP99Max", "greatest",
           "Greatest 99th percentile latency.", read_with="Maximum"),
    _gauge("CoveragePercent", "Percent", "CoveredSeconds",
           "sum / 60 s for each instance that reported or is silent",
           "Share of the minute that telemetry covers."),
    _tally("Executions", "Executions", "Executions that ended, with or without an error; absent "
           "where no line told any."),
    _tally("ExecutionErrors", "ExecutionErrors", "Executions that failed."),
    _tally("HardwareErrors", "EccUncorrectedRise, HardwareFaults",
           "Uncorrectable memory errors and hardware faults: the kernel tells of the former, too.",
           folds="sum over instances of the larger of both"),
)  # fmt: skip
ROLLUP_METRICS: Final = tuple(replace(one, tier=ALWAYS) for one in _DEFAULT)
"""The metrics of a rollup by default."""

ROLLUP_CHOICES: Final = (
    _gauge("DuplicateEmitters", "Count", "Boot", "instances with two that overlap; one counts",
           "Instances on which two emitters report.", read_with="Maximum"),
    *(
        _gauge(f"NeuronCoreUtilizationP{one}", "Percent", "NeuronCoreUtilization",
               "percentile over the known cores of the cluster",
               f"Utilization that {one} of 100 known cores do not exceed.")
        for one in (10, 50, 90, 99)
    ),
    _gauge("IdleInstanceCount", "Count", "CoreIdleMinutes", _COUNT, "Instances with idle cores."),
    _gauge("WhollyIdleInstances", "Count", "CoreIdleMinutes", _COUNT,
           "Instances with every core idle whose owners are wholly idle, which are not sunk."),
    _gauge("AvoidableHeldCostPerHour", "None", _PRICES, "sum over its held cores",
           "The part of AvoidableCostPerHour whose cores somebody holds or has reserved."),
    _gauge("SharedCostPerHour", "None", _PRICES,
           "sum over instances that are neither wholly idle nor sunk",
           "The part of IdleCostPerHour on instances that do work, whose owners work elsewhere, "
           "or of which not all is known."),
    _gauge("SunkCostPerHour", "None", _PRICES, "sum over instances that are sunk",
           "The part of IdleCostPerHour that is paid whether the instances run or not."),
    _gauge("UnpricedCores", "Count", _PRICES, _SUM,
           "Cores of a type without a price in its region: in no amount."),
    _gauge("TeraFlops", "None", "TeraFlops", _SUM,
           "Achieved 10^12 floating point operations per second."),
    _gauge("FlopsPercentOfBf16Peak", "Percent", "TeraFlops, InstanceType",
           "sums over the instances that tell FLOPs and have a known chip",
           "TeraFlops as a share of the dense BF16 peak of the known cores' chips. Not MFU: what "
           "neuron-monitor counts is not documented; above 100 the work is of a narrower type."),
    _gauge("DeviceMemoryUsed", "Bytes", "DeviceMemoryUsed", _SUM, "Device memory in use."),
    _gauge("DeviceMemoryPercent", "Percent", "DeviceMemoryUsed, DeviceMemoryTotal",
           "sums over the instances that tell both",
           "Device memory in use, share of what exists."),
    _gauge("LatencyP50Mean", "Seconds", "LatencyP50Mean",
           "mean over instances, weighted by Executions",
           "Execution-weighted mean of median latencies."),
    _gauge("Stragglers", "Count", "CoreState, NeuronCoreUtilization",
           "instances; where at least 4 of a type are busy",
           "Instances whose busy cores reach less than half the median of their type.",
           read_with="Maximum"),
    _tally("IdleCoreMinutes", "IdleCores", "Idle cores times one minute."),
    _tally("IdleCost", "IdleCostPerHour", "Price of the idle cores in this minute, USD.",
           unit="None"),
    _tally("EccCorrectedRise", "EccCorrectedRise",
           "Rise of the counters of corrected memory errors, see the minute lines."),
    _tally("EccUncorrectedRise", "EccUncorrectedRise",
           "Rise of the counters of uncorrectable memory errors, see the minute lines."),
    _tally("HardwareFaults", "HardwareFaults", "Neuron hardware faults in kernel logs."),
    _tally("LateRecords", _RECORDS, "Records counted after the minute was first published.",
           folds="count"),
)  # fmt: skip
"""The other numbers of a rollup: properties, unless the parameter Metrics names them."""

ROLLUP: Final = metrics(ROLLUP_METRICS, KIND)
"""The metrics of a rollup line by default, namespace Neuron/Cluster, dimension ClusterName."""

ROLLUP_NUMBERS: Final = {one.name: one for one in (*ROLLUP_METRICS, *ROLLUP_CHOICES)}
"""All that the parameter Metrics may make a metric."""

ALARMED: Final = (
    "IdleCorePercent", "IdleCostPerHour", "NeuronCoreUtilization", "SilentInstances",
    "HardwareErrors", "ExecutionErrors",
)  # fmt: skip
"""What alarms read, and so always a metric."""


def rollup_metrics(text: str) -> tuple[Mapping[str, Member], tuple[str, ...]]:
    """
    What the parameter Metrics, names between commas, makes metrics of a rollup.

    Returns:
        The metrics, with those that alarms read, or the default ones where no name is
        given; and the names that are none of a number.
    """
    wanted = dict.fromkeys(name for name in (one.strip() for one in text.split(",")) if name)
    chosen = {*wanted, *ALARMED} if wanted else ROLLUP
    found = {name: member for name, member in ROLLUP_NUMBERS.items() if name in chosen}
    return found, tuple(name for name in wanted if name not in ROLLUP_NUMBERS)
