"""What the line of a single report says: with --high-resolution-metrics, with --raw-reports."""

from __future__ import annotations

from typing import Final

from neuron_wire.catalogue.member import CLUSTER_TIER, Member
from neuron_wire.names import RAW, REPORT

_COUNTERS: Final = "neuron_runtime_data[].report.neuroncore_counters"
_CORE: Final = f"{_COUNTERS}.neuroncores_in_use.N"
_SUMMARY: Final = "neuron_runtime_data[].report.execution_stats.execution_summary"
_GREATEST: Final = "greatest of the runtimes"
_SUM: Final = "sum over runtimes"

REPORTS: Final = (
    Member("PeriodSeconds", "Seconds", "gauge", f"{_COUNTERS}.period", _GREATEST,
           "Seconds that the report's utilization covers, unrounded; at most two nominal periods.",
           (REPORT,)),
    Member("Executions", "Count", "tally", _SUMMARY, _SUM,
           "Executions that ended in the period of the report.", (REPORT,)),
    Member("ExecutionErrors", "Count", "tally", _SUMMARY, _SUM,
           "Executions that failed in the period of the report, a metric of one second.", (REPORT,),
           CLUSTER_TIER),
    Member("TeraFlops", "None", "gauge", f"{_CORE}.effective_flops, else flops",
           "sum over cores and runtimes",
           "Achieved 10^12 floating point operations per second in the period.", (REPORT,)),
    Member("Cores", "", "label", f"{_COUNTERS}.neuroncores_in_use", "of this line",
           "The cores whose utilization follows, such as 0-31.", (REPORT,)),
    Member("NeuronCoreUtilization", "Percent", "gauge", f"{_CORE}.neuroncore_utilization",
           _GREATEST, "Utilization of those cores in the period, a metric of one second.",
           (REPORT,), CLUSTER_TIER),
    Member("NeuronCoreUtilizationMore", "Percent", "gauge", f"{_CORE}.neuroncore_utilization",
           _GREATEST, "Utilization of those cores after the first 100.", (REPORT,), is_rare=True),
)  # fmt: skip

RAW_REPORTS: Final = (
    Member("Report", "", "label", "all of the report", "the last of the minute",
           "The report as neuron-monitor wrote it; only the blanks between its values are gone.",
           (RAW,)),
)  # fmt: skip
