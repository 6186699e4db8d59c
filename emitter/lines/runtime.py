"""
The line of one runtime in one minute: no metrics, all detail.

Thirty-two runtimes a minute would cost nine times the minute line, and as
metrics each would be a series of its own: these lines are for queries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lines.draft import Draft, identity_members
from emitter.lines.properties import amount, present
from neuron_wire import names
from neuron_wire.holders import core_ranges, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.fold.runtimes import RuntimeMinute
    from emitter.lines.settings import LineIdentity


def runtime_draft(
    runtime: RuntimeMinute, identity: LineIdentity, seq: int, minute_ms: int
) -> Draft:
    """The line of *runtime*; what was not read has no member."""
    members = {
        **identity_members(names.RUNTIME, identity, seq),
        **present(
            Reason=runtime.reason,
            Pid=runtime.pid,
            RuntimeTag=printable(runtime.tag),
            Owner=printable(runtime.owner),
            Cores=core_ranges(runtime.cores),
            CoresHeld=len(runtime.cores),
            CoresListed=runtime.cores_listed,
            LoadedModels=runtime.loaded_models,
            Executions=runtime.executions,
            ExecutionErrors=runtime.execution_errors,
            LatencyP50Mean=amount(runtime.latency_p50_mean_s),
            LatencyP99Max=amount(runtime.latency_p99_max_s),
            LatencyMin=amount(runtime.latency_min_s),
            LatencyMax=amount(runtime.latency_max_s),
            DeviceLatencyP50Mean=amount(runtime.device_latency_p50_mean_s),
            DeviceLatencyP99Max=amount(runtime.device_latency_p99_max_s),
            LatencyGapP50=amount(runtime.latency_gap_s),
            TeraFlops=amount(runtime.tera_flops),
            DeviceMemoryUsed=runtime.device_memory_used_bytes,
            RuntimeHostMemory=runtime.host_memory_used_bytes,
            RuntimeCpuUserPercent=runtime.vcpu_user_percent,
            RuntimeCpuSystemPercent=runtime.vcpu_system_percent,
        ),
        **present(**_by_use("DeviceMemory", runtime.device_memory_by_use)),
        **present(**_by_use("RuntimeHostMemory", runtime.host_memory_by_use)),
        **present(**runtime.details),
    }
    return Draft(members, minute_ms)


def _by_use(total: str, bytes_by_use: Mapping[str, int]) -> dict[str, int]:
    """`tensors` of device memory is the member DeviceMemoryTensors."""
    return {
        total + "".join(part.capitalize() for part in use.split("_")): count
        for use, count in bytes_by_use.items()
    }
