"""How many cores did what, and what each of them did."""

from __future__ import annotations

from typing import Final

from neuron_wire.catalogue.member import CLUSTER_TIER, CORE_TIER, LEGACY_TIER, Member
from neuron_wire.names import CORE, MINUTE, MORE, REPORT

_COUNTERS: Final = "neuron_runtime_data[].report.neuroncore_counters"
_CORE: Final = f"{_COUNTERS}.neuroncores_in_use.N.neuroncore_utilization"
_MEMORY: Final = "neuron_runtime_data[].report.memory_used"
_OWNER: Final = (
    "neuron_k8s_info.neuroncores_k8s_info.N, else neurondevices_k8s_info.N: namespace, pod_name, "
    "container_name; else neuron_runtime_data[].pid: /proc/PID/cgroup and what it leads to"
)
_TEAM: Final = (
    "namespace of its pod; tags of its ECS service; account of its Slurm job: what each leaves on "
    "the instance"
)
_GIVEN: Final = (
    "pod-resources of the kubelet, neuron_k8s_info, checkpoints of the kubelet; devices of "
    "containers; scontrol show job -d"
)
_STATE: Final = "CoreState"
_MEAN: Final = (
    "greatest of the runtimes in each report; mean over the reports, weighted by their period"
)

CORE_COUNTS: Final = (
    Member("CoveredSeconds", "Seconds", "gauge", f"{_COUNTERS}.period", "sum, at most 60",
           "Seconds of the minute that utilization samples cover, two decimals; under 45 no idle "
           "minute counts."),
    Member("Reports", "Count", "tally", "emitter", "sum",
           "neuron-monitor reports read in the minute."),
    Member("NeuronCores", "Count", "gauge",
           "neuron_hardware_info.neuron_device_count * neuroncore_per_device_count, else the "
           "instance type", "last known", "Logical NeuronCores of the instance.",
           tier=CLUSTER_TIER),
    Member("BusyCores", "Count", "gauge", _STATE, "letters b",
           "Cores whose utilization, rounded to two decimals, is at or above the busy threshold.",
           tier=CLUSTER_TIER),
    Member("AttachedIdleCores", "Count", "gauge", _STATE, "letters a",
           "Cores held by a runtime but not busy.", tier=CLUSTER_TIER),
    Member("UnattachedCores", "Count", "gauge", _STATE, "letters u", "Cores neither busy nor held.",
           tier=CLUSTER_TIER),
    Member("ReservedCores", "Count", "gauge", "Owners, OwnersMore", "count",
           "Those of UnattachedCores that the scheduler has given to a pod, task or job; absent "
           "where Given is not read.", is_rare=True),
    Member("Given", "", "label", _GIVEN, "last word of the minute",
           "Whether it is known what the scheduler of the instance has given to whom: read, none "
           "where no scheduler is seen, or unread.", is_rare=True),
    Member("GivenUnverifiedCores", "Count", "gauge", _GIVEN, "count",
           "Cores given to pods that have no process and do not wait to start: not reserved.",
           (MINUTE, MORE), is_rare=True),
    Member("UnknownCores", "Count", "gauge", _STATE, "letters ?",
           "Cores without utilization telemetry.", tier=CLUSTER_TIER),
)  # fmt: skip

EACH_CORE: Final = (
    Member("CoreState", "", "label", f"{_CORE}, {_MEMORY}",
           "utilization of the minute, two decimals; held by the last report with memory",
           "One letter per core in core order: b busy, a attached idle, u unattached, ? unknown."),
    Member("NeuronCoreUtilization", "Percent", "gauge", _CORE, _MEAN,
           "Utilization, one value per known core, two decimals.", (MINUTE, MORE), CLUSTER_TIER),
    Member("NeuronCoreUtilizationMore", "Percent", "gauge", _CORE, _MEAN,
           "Utilization of the known cores after the first 100, for the stack.", is_rare=True),
    Member("CoreIdleMinutes", "Count", "gauge", "emitter",
           "one more for a whole minute without work, 0 once it was busy",
           "Whole minutes in a row that each core has not been busy, in core order.",
           (MINUTE, MORE), read_with="Maximum"),
    Member(
        "NeuronCoreUtilizationNC0", "Percent", "gauge", _CORE, _MEAN,
        "Utilization of core 0 as neuron-monitor-cloudwatch.py names it; NC1 and so on likewise.",
        (MINUTE, REPORT), LEGACY_TIER, is_rare=True,
    ),
    Member("NeuronCore", "", "label", _COUNTERS, "once per line",
           "Index of the one core that the line is about; a dimension of its metric.", (CORE,)),
    Member("CoreState", "", "label", f"{_CORE}, {_MEMORY}", "as in the minute line",
           "The letter of that core.", (CORE,)),
    Member("CoreIdleMinutes", "Count", "gauge", "emitter", "as in the minute line",
           "Whole minutes in a row that this core has not been busy.", (CORE,),
           read_with="Maximum"),
    Member("NeuronCoreUtilization", "Percent", "gauge", _CORE, _MEAN,
           "Utilization of that core, by ClusterName, InstanceId and NeuronCore.", (CORE,),
           CORE_TIER),
)  # fmt: skip

HOLDERS: Final = (
    Member("Holders", "", "label", "neuron_runtime_data[]", "last report with memory",
           "Up to eight runtimes that hold attached-idle cores, the most idle first.",
           is_rare=True),
    Member("Holders.Cores", "", "label", f"{_MEMORY}, {_COUNTERS}", "last report with memory",
           "The attached-idle cores that it holds, such as 0-7,12.", is_rare=True),
    Member("Holders.Name", "", "label", _OWNER,
           "last report that had it; the pod of most of its cores, else the owner of its process",
           "Its owner, as Owner of a runtime line.", is_rare=True),
    Member("Holders.Pid", "", "label", "neuron_runtime_data[].pid", "last report with memory",
           "Process id as neuron-monitor sees it.", is_rare=True),
    Member("Holders.Tag", "", "label", "neuron_runtime_data[].neuron_runtime_tag",
           "last report with memory", "NEURON_PROCESS_TAG of the process, else its own idea of its "
           "process id.", is_rare=True),
    Member("Holders.Team", "", "label", _TEAM, "last look at its process", "The owner's team.",
           is_rare=True),
    Member("Holders.LastExecution", "", "label",
           "neuron_runtime_data[].report.execution_stats.execution_summary.completed",
           "last minute in which any completed",
           "Start of the last minute, ISO 8601 in UTC, in which it completed an execution; absent "
           "when none was seen since the emitter watches it.", is_rare=True),
    Member("Holders.Gone", "", "label",
           "folder of its pod, control group of its Slurm job", "missing for 10 minutes",
           "True when its pod or job is no longer on the instance and its process still lives.",
           is_rare=True),
    Member("Holders.GivenTo", "", "label", _GIVEN, "last word of the minute",
           "To whom the scheduler has given the cores that it holds, where that is somebody else "
           "and sure.", is_rare=True),
    Member("HoldersMore", "Count", "gauge", "emitter", "count",
           "Runtimes that hold attached-idle cores beyond those in Holders.", is_rare=True),
)  # fmt: skip

_EXECUTIONS: Final = "neuron_runtime_data[].report.execution_stats.execution_summary"

OWNERS: Final = (
    Member("Owners", "", "label", "neuron_runtime_data[]", "all runtimes of one name together",
           "Who held cores in the minute, busy or not, or has some reserved, most cores first: at "
           "most 32 and 1,800 bytes.", is_rare=True),
    Member("Owners.Cores", "", "label", f"{_CORE}, {_MEMORY}",
           "used in the minute, or held by the last report with memory",
           "The cores that it held, such as 0-7,12.", is_rare=True),
    Member("Owners.Name", "", "label", _OWNER, "as Holders.Name",
           "Their owner; [unnamed] for all processes whose owner is not known.",
           is_rare=True),
    Member("Owners.Team", "", "label", _TEAM, "one that all its runtimes share",
           "The owner's team.", is_rare=True),
    Member("Owners.Reserved", "", "label", _GIVEN, "last word of the minute",
           "Unattached cores that the scheduler has given to it, such as 4-7.", is_rare=True),
    Member("Owners.Executions", "Count", "tally", _EXECUTIONS, "sum over its runtimes",
           "Its executions of the minute, ended or failed; absent where they were not read.",
           is_rare=True),
    Member("Owners.QuietMinutes", "Count", "gauge", _EXECUTIONS,
           "one more for a whole minute that was read and had none, 0 after any other",
           "Whole minutes in a row in which it was there and no execution of it ended or failed.",
           is_rare=True, read_with="Maximum"),
    Member("OwnersMore", "", "label", "neuron_runtime_data[]", "as Owners.Cores",
           "The held and reserved cores that no listed owner has, such as 0-7,12.", is_rare=True),
)  # fmt: skip
