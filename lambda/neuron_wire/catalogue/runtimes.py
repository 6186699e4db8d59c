"""What only a runtime line says: whose the runtime is, and why it has a line."""

from __future__ import annotations

from typing import Final

from neuron_wire.catalogue.member import Member
from neuron_wire.names import RUNTIME

_DATA: Final = "neuron_runtime_data[]"
_OWNER: Final = (
    "neuron_k8s_info.neuroncores_k8s_info.N, else neurondevices_k8s_info.N: namespace, pod_name, "
    "container_name; else neuron_runtime_data[].pid: /proc/PID/cgroup and what it leads to"
)
_LAST: Final = "last report that named it"

RUNTIMES: Final = (
    Member("Reason", "", "label", "fold", "first that applies",
           "Why the line is there: start, change of cores or owner, error, hourly, or all.",
           (RUNTIME,)),
    Member(
        "Pid", "", "label", f"{_DATA}.pid", _LAST,
        "Process id as neuron-monitor sees it; with RuntimeTag it identifies the runtime, as long "
        "as no minute without it lies between.", (RUNTIME,),
    ),
    Member("RuntimeTag", "", "label", f"{_DATA}.neuron_runtime_tag", _LAST,
           "NEURON_PROCESS_TAG of the process, else its own idea of its process id, which is 1 in "
           "every container.", (RUNTIME,)),
    Member("Owner", "", "label", _OWNER,
           "last report that had it; the pod of most of its cores, else the owner of its process",
           "The owner: namespace/pod/container, ecs:SERVICE/FAMILY/CONTAINER, container:NAME, "
           "slurm:JOB USER, unit:NAME or process:COMMAND USER.", (RUNTIME,)),
    Member("Cores", "", "label", f"{_DATA}.report.memory_used, neuroncore_counters",
           "last report with memory", "The cores that it holds, such as 0-7,12.", (RUNTIME,)),
    Member("CoresHeld", "Count", "gauge", f"{_DATA}.report.memory_used, neuroncore_counters",
           "last report with memory", "How many cores it holds.", (RUNTIME,)),
    Member("CoresListed", "Count", "gauge",
           f"{_DATA}.report.neuroncore_counters.neuroncores_in_use", "last report with the group",
           "How many cores it can see, held or not.", (RUNTIME,)),
)  # fmt: skip
