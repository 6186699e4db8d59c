"""The metrics of a rollup: one minute of one cluster, and of each instance type in it."""

from __future__ import annotations

from typing import Final

from neuron_wire.catalogue.member import ALWAYS, Member
from neuron_wire.names import ROLLUP, TYPE

_KIND: Final = (ROLLUP,)
_BOTH: Final = (ROLLUP, TYPE)
_SUM: Final = "sum over instances"
_COUNT: Final = "instances"
_RECORDS: Final = "minute lines"
_REGISTRY: Final = "registry of the stack"
_PRICES: Final = "list prices"


def _gauge(
    name: str, unit: str, source: str, folds: str, meaning: str, *, read_with: str = ""
) -> Member:
    return Member(name, unit, "gauge", source, folds, meaning, _KIND, ALWAYS, read_with=read_with)


def _gauge_by_type(name: str, unit: str, source: str, folds: str, meaning: str) -> Member:
    return Member(name, unit, "gauge", source, folds, meaning, _BOTH, ALWAYS)


def _tally(name: str, unit: str, source: str, folds: str, meaning: str) -> Member:
    return Member(name, unit, "tally", source, folds, meaning, _KIND, ALWAYS)


ROLLUP_METRICS: Final = (
    _gauge_by_type("Instances", "Count", _RECORDS, _COUNT, "Instances that reported this minute."),
    _gauge("SilentInstances", "Count", _REGISTRY, _COUNT, "Known instances that stopped reporting.",
           read_with="Maximum"),
    _gauge("DuplicateEmitters", "Count", "Boot", "instances with two that overlap; one counts",
           "Instances on which two emitters report.", read_with="Maximum"),
    _gauge_by_type("NeuronCores", "Count", "CoreState", _SUM,
                   "Logical NeuronCores of the reporting instances."),
    _gauge_by_type("BusyCores", "Count", "CoreState", _SUM,
                   "Cores at or above the busy threshold."),
    _gauge_by_type("AttachedIdleCores", "Count", "CoreState", _SUM,
                   "Cores held by a runtime but not busy."),
    _gauge_by_type("UnattachedCores", "Count", "CoreState", _SUM, "Cores neither busy nor held."),
    _gauge("UnknownCores", "Count", "CoreState", _SUM, "Cores without utilization telemetry."),
    _gauge("IdleCores", "Count", "CoreState, CoreIdleMinutes", _SUM,
           "Cores not busy for IdleAfterMinutes or longer."),
    _gauge("IdleCorePercent", "Percent", "CoreState, CoreIdleMinutes", "IdleCores / known cores",
           "IdleCores as a share of the known cores."),
    _gauge("IdleCostPerHour", "None", _PRICES, _SUM,
           "Price of the idle cores, USD per hour; those without a price are in UnpricedCores."),
    _gauge("AvoidableCostPerHour", "None", _PRICES, "sum over wholly idle, not sunk instances",
           "The part of IdleCostPerHour that ends, at most, when wholly idle instances stop."),
    _gauge("UnpricedCores", "Count", _PRICES, _SUM,
           "Cores of a type without a price in its region: in no amount."),
    _gauge_by_type("NeuronCoreUtilization", "Percent", "NeuronCoreUtilization",
                   "mean over the known cores", "Mean utilization of the known cores."),
    _gauge("TeraFlops", "None", "TeraFlops", _SUM,
           "Achieved 10^12 floating point operations per second."),
    _gauge("FlopsPercentOfBf16Peak", "Percent", "TeraFlops, InstanceType",
           "sums over the instances that tell FLOPs and have a known chip",
           "TeraFlops as a share of the dense BF16 peak of the known cores' chips. Not MFU: what "
           "neuron-monitor counts is not documented; above 100 the work is of a narrower type."),
    _gauge("DeviceMemoryUsed", "Bytes", "DeviceMemoryUsed", _SUM, "Device memory in use."),
    _gauge("DeviceMemoryPercent", "Percent", "DeviceMemoryUsed, DeviceMemoryTotal",
           "sums over the instances that tell both", "Device memory in use, share of what exists."),
    _gauge("LatencyP50Mean", "Seconds", "LatencyP50Mean",
           "mean over instances, weighted by Executions",
           "Execution-weighted mean of median latencies."),
    _gauge("LatencyP99Max", "Seconds", "LatencyP99Max", "greatest",
           "Greatest 99th percentile latency.", read_with="Maximum"),
    _gauge("Stragglers", "Count", "CoreState, NeuronCoreUtilization",
           "instances; where at least 4 of a type are busy",
           "Instances whose busy cores reach less than half the median of their type.",
           read_with="Maximum"),
    _gauge("CoveragePercent", "Percent", "CoveredSeconds",
           "sum / 60 s for each instance that reported or is silent",
           "Share of the minute that telemetry covers."),
    _tally("IdleCoreMinutes", "Count", "IdleCores", _SUM, "Idle cores times one minute."),
    _tally("IdleCost", "None", "IdleCostPerHour", _SUM,
           "Price of the idle cores in this minute, USD."),
    _tally("Executions", "Count", "Executions", _SUM,
           "Executions that ended, with or without an error; absent where no line told any."),
    _tally("ExecutionErrors", "Count", "ExecutionErrors", _SUM, "Executions that failed."),
    _tally("EccCorrectedRise", "Count", "EccCorrectedRise", _SUM,
           "Rise of the counters of corrected memory errors, see the minute lines."),
    _tally("EccUncorrectedRise", "Count", "EccUncorrectedRise", _SUM,
           "Rise of the counters of uncorrectable memory errors, see the minute lines."),
    _tally("HardwareFaults", "Count", "HardwareFaults", _SUM,
           "Neuron hardware faults in kernel logs."),
    _tally("LateRecords", "Count", _RECORDS, "count",
           "Records counted after the minute was first published."),
)  # fmt: skip
