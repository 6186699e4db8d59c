"""
Every metric by name: unit, family, the statistic to read it with, its meaning.

A *gauge* is a value at a moment: a line that arrives twice does no harm, read
it with Average or Maximum. A *tally* is an amount in the minute that adds up
over time: read it with Sum. A reader that mixes them up gets a wrong number,
which is why the family stands here, beside the name, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Family = Literal["gauge", "tally"]


@dataclass(frozen=True, slots=True)
class Metric:
    """
    One name that CloudWatch may extract.

    Attributes:
        name: As it stands in the line.

        unit: One of CloudWatch's units.

        family: `gauge` or `tally`.

        meaning: One sentence.
    """

    name: str
    unit: str
    family: Family
    meaning: str

    @property
    def statistic(self) -> str:
        """
        The CloudWatch statistic that gives a true number.
        """
        return "Average" if self.family == "gauge" else "Sum"


def _table(*rows: Metric) -> dict[str, Metric]:
    return {row.name: row for row in rows}


MINUTE: Final = _table(
    Metric("NeuronCores", "Count", "gauge", "Logical NeuronCores of the instance."),
    Metric("BusyCores", "Count", "gauge", "Cores at or above the busy threshold."),
    Metric("AttachedIdleCores", "Count", "gauge", "Cores held by a runtime but not busy."),
    Metric("UnattachedCores", "Count", "gauge", "Cores neither busy nor held."),
    Metric("UnknownCores", "Count", "gauge", "Cores without utilization telemetry."),
    Metric("ExecutionErrors", "Count", "tally", "Executions that failed."),
    Metric("EccUncorrectedRise", "Count", "tally", "New uncorrectable memory errors."),
    Metric("NeuronCoreUtilization", "Percent", "gauge", "Utilization, one value per known core."),
)
"""The metrics of a minute line at `--metrics cluster`, dimension ClusterName."""

ROLLUP: Final = _table(
    Metric("Instances", "Count", "gauge", "Instances that reported this minute."),
    Metric("SilentInstances", "Count", "gauge", "Known instances that stopped reporting."),
    Metric("DuplicateEmitters", "Count", "gauge", "Instances on which two emitters report."),
    Metric("NeuronCores", "Count", "gauge", "Logical NeuronCores of the reporting instances."),
    Metric("BusyCores", "Count", "gauge", "Cores at or above the busy threshold."),
    Metric("AttachedIdleCores", "Count", "gauge", "Cores held by a runtime but not busy."),
    Metric("UnattachedCores", "Count", "gauge", "Cores neither busy nor held."),
    Metric("UnknownCores", "Count", "gauge", "Cores without utilization telemetry."),
    Metric("IdleCores", "Count", "gauge", "Cores not busy for IdleAfterMinutes or longer."),
    Metric("IdleCorePercent", "Percent", "gauge", "IdleCores as a share of the known cores."),
    Metric("IdleCostPerHour", "None", "gauge", "List price of the idle cores, USD per hour."),
    Metric("UnpricedCores", "Count", "gauge", "Cores of a type whose price is unknown."),
    Metric("NeuronCoreUtilization", "Percent", "gauge", "Mean utilization of the known cores."),
    Metric("TeraFlops", "None", "gauge", "Achieved 10^12 floating point operations per second."),
    Metric("DeviceMemoryUsed", "Bytes", "gauge", "Device memory in use."),
    Metric(
        "DeviceMemoryPercent", "Percent", "gauge", "Device memory in use, share of what exists."
    ),
    Metric("LatencyP50Mean", "Seconds", "gauge", "Execution-weighted mean of median latencies."),
    Metric("LatencyP99Max", "Seconds", "gauge", "Greatest 99th percentile latency."),
    Metric("CoveragePercent", "Percent", "gauge", "Share of the minute that telemetry covers."),
    Metric("IdleCoreMinutes", "Count", "tally", "Idle cores times one minute."),
    Metric("IdleCost", "None", "tally", "List price of the idle cores in this minute, USD."),
    Metric("Executions", "Count", "tally", "Executions that ended, with or without error."),
    Metric("ExecutionErrors", "Count", "tally", "Executions that failed."),
    Metric("EccCorrectedRise", "Count", "tally", "New corrected memory errors."),
    Metric("EccUncorrectedRise", "Count", "tally", "New uncorrectable memory errors."),
    Metric(
        "LateRecords", "Count", "tally", "Records counted after the minute was first published."
    ),
)
"""The metrics of a rollup line, namespace Neuron/Cluster, dimension ClusterName."""

STACK: Final = _table(
    Metric("RecordsStored", "Count", "tally", "Records put into the table."),
    Metric("RecordsRejected", "Count", "tally", "Lines dropped as unreadable."),
    Metric("RecordsTooLate", "Count", "tally", "Records dropped: older than LateMinutes."),
    Metric("MinutesClosed", "Count", "tally", "Minutes closed for the first time."),
    Metric("MinutesRestated", "Count", "tally", "Minutes reduced again for late records."),
    Metric("MinutesWaiting", "Count", "gauge", "Minutes left to the next run."),
    Metric("MinutesDropped", "Count", "tally", "Minutes never closed: the pause was too long."),
    Metric("RecordsRead", "Count", "tally", "Records read, counting every reading."),
    Metric("RecordsUnreadable", "Count", "tally", "Items dropped: not records of ours."),
    Metric("LinesPrinted", "Count", "tally", "Rollup lines."),
    Metric("LinesRefused", "Count", "tally", "Rollups dropped: not extractable."),
    Metric("SecondsBehind", "Seconds", "gauge", "Age of the end of the last closed minute."),
)
"""What the stack says about itself, one count per invocation: Neuron/Stack, dimension StackName."""
