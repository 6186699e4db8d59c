"""
What a rollup says: one minute of one cluster, and of each instance type in it.
"""

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


def _label(name: str, source: str, folds: str, meaning: str, *, is_rare: bool = False) -> Member:
    return Member(name, "", "label", source, folds, meaning, _KIND, is_rare=is_rare)


def _percentile(percentile: int) -> Member:
    return Member(
        f"NeuronCoreUtilizationP{percentile}", "Percent", "gauge", "NeuronCoreUtilization",
        "percentile over the known cores of the cluster",
        f"Utilization that {percentile} of 100 known cores do not exceed.", _KIND,
    )  # fmt: skip


ROLLUP_METRICS: Final = (
    _gauge_by_type("Instances", "Count", _RECORDS, _COUNT, "Instances that reported this minute."),
    _gauge(
        "SilentInstances", "Count", _REGISTRY, _COUNT, "Known instances that stopped reporting.",
        read_with="Maximum",
    ),
    _gauge(
        "DuplicateEmitters", "Count", "Boot", "instances with two that overlap; one counts",
        "Instances on which two emitters report.", read_with="Maximum",
    ),
    _gauge_by_type(
        "NeuronCores", "Count", "CoreState", _SUM, "Logical NeuronCores of the reporting instances."
    ),
    _gauge_by_type(
        "BusyCores", "Count", "CoreState", _SUM, "Cores at or above the busy threshold."
    ),
    _gauge_by_type(
        "AttachedIdleCores", "Count", "CoreState", _SUM, "Cores held by a runtime but not busy."
    ),
    _gauge_by_type("UnattachedCores", "Count", "CoreState", _SUM, "Cores neither busy nor held."),
    _gauge("UnknownCores", "Count", "CoreState", _SUM, "Cores without utilization telemetry."),
    _gauge(
        "IdleCores", "Count", "CoreState, CoreIdleMinutes", _SUM,
        "Cores not busy for IdleAfterMinutes or longer.",
    ),
    _gauge(
        "IdleCorePercent", "Percent", "CoreState, CoreIdleMinutes", "IdleCores / known cores",
        "IdleCores as a share of the known cores.",
    ),
    _gauge(
        "IdleCostPerHour", "None", _PRICES, _SUM, "List price of the idle cores, USD per hour."
    ),
    _gauge("UnpricedCores", "Count", _PRICES, _SUM, "Cores of a type whose price is unknown."),
    _gauge_by_type(
        "NeuronCoreUtilization", "Percent", "NeuronCoreUtilization", "mean over the known cores",
        "Mean utilization of the known cores.",
    ),
    _gauge(
        "TeraFlops", "None", "TeraFlops", _SUM,
        "Achieved 10^12 floating point operations per second.",
    ),
    _gauge("DeviceMemoryUsed", "Bytes", "DeviceMemoryUsed", _SUM, "Device memory in use."),
    _gauge(
        "DeviceMemoryPercent", "Percent", "DeviceMemoryUsed, DeviceMemoryTotal",
        "sums over the instances that tell both",
        "Device memory in use, share of what exists.",
    ),
    _gauge(
        "LatencyP50Mean", "Seconds", "LatencyP50Mean",
        "mean over instances, weighted by Executions",
        "Execution-weighted mean of median latencies.",
    ),
    _gauge(
        "LatencyP99Max", "Seconds", "LatencyP99Max", "greatest",
        "Greatest 99th percentile latency.", read_with="Maximum",
    ),
    _gauge(
        "Stragglers", "Count", "CoreState, NeuronCoreUtilization",
        "instances; where at least 4 of a type are busy",
        "Instances whose busy cores reach less than half the median of their type.",
        read_with="Maximum",
    ),
    _gauge(
        "CoveragePercent", "Percent", "CoveredSeconds",
        "sum / 60 s for each instance that reported or is silent",
        "Share of the minute that telemetry covers.",
    ),
    _tally("IdleCoreMinutes", "Count", "IdleCores", _SUM, "Idle cores times one minute."),
    _tally(
        "IdleCost", "None", "IdleCostPerHour", _SUM,
        "List price of the idle cores in this minute, USD.",
    ),
    _tally(
        "Executions", "Count", "Executions", _SUM, "Executions that ended, with or without error."
    ),
    _tally("ExecutionErrors", "Count", "ExecutionErrors", _SUM, "Executions that failed."),
    _tally("EccCorrectedRise", "Count", "EccCorrectedRise", _SUM, "New corrected memory errors."),
    _tally(
        "EccUncorrectedRise", "Count", "EccUncorrectedRise", _SUM,
        "New uncorrectable memory errors.",
    ),
    _tally(
        "LateRecords", "Count", _RECORDS, "count",
        "Records counted after the minute was first published.",
    ),
)  # fmt: skip

ROLLUP_PROPERTIES: Final = (
    Member(
        "InstanceType", "", "label", "InstanceType", "once per line",
        "The type that the line is about, a dimension of its metrics.", (TYPE,),
    ),
    Member(
        "RollupId", "", "label", "stack", "cluster, minute, Publication, and type where it has one",
        "Identity of the line; one repeated after a crash has the same.", _BOTH,
    ),
    Member(
        "Minute", "", "label", "stack", "start of the minute", "The minute as ISO 8601 in UTC.",
        _BOTH,
    ),
    Member(
        "Publication", "Count", "gauge", "stack", "from 1",
        "How often the minute has been published: gauges are restated, tallies are what was "
        "lacking.", _BOTH, read_with="Maximum",
    ),
    Member(
        "Records", "Count", "gauge", _RECORDS, "count", "Distinct records behind the numbers.",
        _KIND, read_with="Maximum",
    ),
    _label("PricesAsOf", _PRICES, "date of the table", "Date of the list prices.", is_rare=True),
    _label(
        "PricesOverridden", "PriceOverrides", "types",
        "Instance types whose price is not the list price.", is_rare=True,
    ),
    *(_percentile(one) for one in (10, 50, 90, 99)),
    Member(
        "TypesWithoutLine", "Count", "gauge", "InstanceType", "types beyond 20, or not EC2's",
        "Instance types that have no line of their own.", _KIND, is_rare=True, read_with="Maximum",
    ),
    Member(
        "IdleInstanceCount", "Count", "gauge", "CoreIdleMinutes", _COUNT,
        "Instances with idle cores.", _KIND, is_rare=True,
    ),
    _label(
        "TopIdleInstances", "minute lines", "most idle cores first, at most 20",
        "Instances with idle cores by name.", is_rare=True,
    ),
    _label(
        "TopIdleInstances.InstanceId", "InstanceId", "as is", "The instance.", is_rare=True
    ),
    _label(
        "TopIdleInstances.InstanceType", "InstanceType", "as is", "Its type.", is_rare=True
    ),
    Member(
        "TopIdleInstances.IdleCores", "Count", "gauge", "CoreState, CoreIdleMinutes", "count",
        "Its idle cores.", _KIND, is_rare=True,
    ),
    _label(
        "TopIdleInstances.Cores", "CoreState, CoreIdleMinutes", "as is",
        "Which cores these are, such as 0-7,12.", is_rare=True,
    ),
    Member(
        "TopIdleInstances.IdleMinutes", "Count", "gauge", "CoreIdleMinutes", "greatest",
        "For how long the longest idle of them has not been busy.", _KIND, is_rare=True,
        read_with="Maximum",
    ),
    Member(
        "TopIdleInstances.UsdPerHour", "None", "gauge", _PRICES, "sum over its idle cores",
        "List price of those cores, USD per hour.", _KIND, is_rare=True,
    ),
    _label(
        "TopIdleInstances.AttachedCores", "CoreState, CoreIdleMinutes", "letters a",
        "Those of Cores that a runtime holds.", is_rare=True,
    ),
    _label(
        "TopIdleInstances.Holders", "Holders", "those of AttachedCores",
        "Runtimes that hold them, the most idle first.", is_rare=True,
    ),
    _label(
        "TopIdleInstances.Holders.Cores", "Holders.Cores", "those of AttachedCores",
        "Which of AttachedCores it holds.", is_rare=True,
    ),
    _label(
        "TopIdleInstances.Holders.Name", "Holders.Name", "as is", "Whose it is: namespace/pod.",
        is_rare=True,
    ),
    _label(
        "TopIdleInstances.Holders.Pid", "Holders.Pid", "as is",
        "Process id as neuron-monitor sees it.", is_rare=True,
    ),
    _label(
        "TopIdleInstances.Holders.Tag", "Holders.Tag", "as is", "Its neuron_runtime_tag.",
        is_rare=True,
    ),
    Member(
        "TopIdleInstances.HoldersMore", "Count", "gauge", "HoldersMore", "as is",
        "Runtimes beyond Holders that hold attached-idle cores of the instance.", _KIND,
        is_rare=True, read_with="Maximum",
    ),
    _label(
        "SilentInstanceNames", _REGISTRY, "the latest first, at most 50",
        "Instances that stopped reporting by name.", is_rare=True,
    ),
    _label(
        "SilentInstanceNames.InstanceId", "InstanceId", "as is", "The instance.", is_rare=True
    ),
    _label(
        "SilentInstanceNames.InstanceType", "InstanceType", "as is", "Its type.", is_rare=True
    ),
    _label(
        "SilentInstanceNames.LastSeen", _REGISTRY, "last minute",
        "The last minute that it reported, ISO 8601 in UTC.", is_rare=True,
    ),
    _label(
        "StragglerInstances", "CoreState, NeuronCoreUtilization",
        "farthest behind first, at most 20", "Stragglers by name.", is_rare=True,
    ),
    _label(
        "StragglerInstances.InstanceId", "InstanceId", "as is", "The instance.", is_rare=True
    ),
    _label(
        "StragglerInstances.InstanceType", "InstanceType", "as is", "Its type.", is_rare=True
    ),
    Member(
        "StragglerInstances.BusyUtilization", "Percent", "gauge", "NeuronCoreUtilization",
        "mean over its busy cores", "Utilization of its busy cores.", _KIND, is_rare=True,
    ),
    Member(
        "StragglerInstances.TypeMedian", "Percent", "gauge", "NeuronCoreUtilization",
        "median over the busy instances of its type in the cluster",
        "What an instance of its type usually reaches.", _KIND, is_rare=True,
    ),
    _label(
        "DuplicateEmitterInstances", "Boot", "at most 50",
        "Instances on which two emitters report by name.", is_rare=True,
    ),
    _label(
        "EccInstances", "EccUncorrectedRise", "most first, at most 20",
        "Instances with new uncorrectable memory errors by name.", is_rare=True,
    ),
    _label("EccInstances.InstanceId", "InstanceId", "as is", "The instance.", is_rare=True),
    Member(
        "EccInstances.EccUncorrectedRise", "Count", "tally", "EccUncorrectedRise", "as is",
        "Its new uncorrectable memory errors.", _KIND, is_rare=True,
    ),
    _label(
        "ErrorInstances", "ExecutionErrors", "most first, at most 20",
        "Instances with failed executions by name.", is_rare=True,
    ),
    _label("ErrorInstances.InstanceId", "InstanceId", "as is", "The instance.", is_rare=True),
    Member(
        "ErrorInstances.ExecutionErrors", "Count", "tally", "ExecutionErrors", "as is",
        "Its failed executions.", _KIND, is_rare=True,
    ),
    _label(
        "TalliesOverstated", "stack", "by tally",
        "By how much the sum of what was published is above the total, which a late record "
        "lowered.", is_rare=True,
    ),
)  # fmt: skip
