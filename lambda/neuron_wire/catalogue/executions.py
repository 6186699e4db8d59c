"""Executions, how they ended, and how long they took."""

from __future__ import annotations

from typing import Final

from neuron_wire.catalogue.member import CLUSTER_TIER, Member
from neuron_wire.names import MINUTE, MORE, RUNTIME

_STATS: Final = "neuron_runtime_data[].report.execution_stats"
_SUMMARY: Final = f"{_STATS}.execution_summary"
_ERRORS: Final = f"{_STATS}.error_summary"
_TOTAL: Final = f"{_STATS}.latency_stats.total_latency"
_DEVICE: Final = f"{_STATS}.latency_stats.device_latency"
_SUM: Final = "sum over reports and runtimes"
_MEAN: Final = "mean over reports and runtimes, weighted by completed"
_MAX: Final = "greatest of all reports and runtimes"
_MIN: Final = "smallest of all reports"
_BOTH: Final = (MINUTE, RUNTIME)


def _failures(name: str, path: str, meaning: str) -> Member:
    kinds = (*_BOTH, MORE)
    return Member(name, "Count", "tally", path, _SUM, meaning, kinds, is_rare=True)


EXECUTIONS: Final = (
    Member("Executions", "Count", "tally", f"{_SUMMARY}: completed + completed_with_err + "
           "completed_with_num_err", _SUM, "Executions that ended, with or without error: 0 only "
           "where they were read, else absent.", _BOTH),
    Member("ExecutionErrors", "Count", "tally", f"{_SUMMARY}: completed_with_err + "
           "completed_with_num_err + timed_out + incorrect_input + failed_to_queue", _SUM,
           "Executions that failed.", tier=CLUSTER_TIER),
    Member("ExecutionErrors", "Count", "tally", f"{_SUMMARY}: as in the minute line", _SUM,
           "Executions of this runtime that failed.", (RUNTIME,)),
    _failures("ExecutionsCompletedWithErr", f"{_SUMMARY}.completed_with_err",
              "Executions that ended with an error."),
    _failures("ExecutionsCompletedWithNumErr", f"{_SUMMARY}.completed_with_num_err",
              "Executions that ended with a numerical error."),
    _failures("ExecutionsTimedOut", f"{_SUMMARY}.timed_out",
              "Executions that took too long and were ended."),
    _failures("ExecutionsIncorrectInput", f"{_SUMMARY}.incorrect_input",
              "Executions refused because their input was wrong."),
    _failures("ExecutionsFailedToQueue", f"{_SUMMARY}.failed_to_queue",
              "Executions that could not be queued."),
    _failures(
        "ErrorsGeneric", f"{_ERRORS}.generic",
        "Errors of no other cause; tools from 2023 count thousands where nothing has failed.",
    ),
    _failures("ErrorsNumerical", f"{_ERRORS}.numerical", "Errors in the numbers of an execution."),
    _failures("ErrorsTransient", f"{_ERRORS}.transient", "Errors that may be gone on a retry."),
    _failures("ErrorsModel", f"{_ERRORS}.model", "Errors that a model caused."),
    _failures("ErrorsRuntime", f"{_ERRORS}.runtime", "Errors of the Neuron runtime."),
    _failures("ErrorsHardware", f"{_ERRORS}.hardware", "Errors of the hardware."),
    _failures("ErrorsOther", f"{_ERRORS}.*", "Errors with causes that only a newer tool knows."),
)  # fmt: skip

FAILURES: Final = {
    "ExecutionsTimedOut": "timed out",
    "ExecutionsIncorrectInput": "had incorrect input",
    "ExecutionsFailedToQueue": "could not be queued",
    "ExecutionsCompletedWithErr": "ended with an error",
    "ExecutionsCompletedWithNumErr": "ended with a numerical error",
}
"""How executions fail, in words; an execution of the first three is not in Executions."""

LATENCY: Final = (
    Member("LatencyP50Mean", "Seconds", "gauge", f"{_TOTAL}.p50", _MEAN,
           "Mean of the median latencies of an execution: percentiles do not merge.", _BOTH),
    Member("LatencyP99Max", "Seconds", "gauge", f"{_TOTAL}.p99", _MAX,
           "Greatest 99th percentile latency.", _BOTH, read_with="Maximum"),
    Member("DeviceLatencyP50Mean", "Seconds", "gauge", f"{_DEVICE}.p50", _MEAN,
           "As LatencyP50Mean, of the part that an execution spends on the device.", _BOTH),
    Member("DeviceLatencyP99Max", "Seconds", "gauge", f"{_DEVICE}.p99", _MAX,
           "As LatencyP99Max, of the part that an execution spends on the device.", _BOTH,
           read_with="Maximum"),
    Member("LatencyGapP50", "Seconds", "gauge", f"{_TOTAL}.p50, {_DEVICE}.p50",
           "LatencyP50Mean less DeviceLatencyP50Mean, at least 0",
           "Time that an execution waits or is prepared outside of the device.", _BOTH),
    Member("LatencyMin", "Seconds", "gauge", f"{_TOTAL}.p0", _MIN,
           "Shortest execution of this runtime.", (RUNTIME,), read_with="Minimum"),
    Member("LatencyMax", "Seconds", "gauge", f"{_TOTAL}.p100", "greatest of all reports",
           "Longest execution of this runtime.", (RUNTIME,), read_with="Maximum"),
)  # fmt: skip
