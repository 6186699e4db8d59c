"""
Lines without a metric, for queries: of a runtime, of an event, of a report as it came.

Thirty-two runtimes a minute would cost nine times the minute line, and as
metrics each would be a series of its own. A report is one object, in its own words
and numbers, so that nothing neuron-monitor says is out of reach.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from emitter.lines.draft import Draft, amount, identity_members, present, timestamp_ms
from neuron_wire import encode, names
from neuron_wire.extraction import MAX_LINE_BYTES
from neuron_wire.holders import core_ranges, printable
from neuron_wire.line import printing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.events import Event
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


def event_draft(event: Event, identity: LineIdentity, seq: int) -> Draft:
    """
    The line of *event*, at the moment it happened.

    A detail with the name of a member that every event has is left out.
    """
    members = {
        **identity_members(names.EVENT, identity, seq),
        **present(Event=event.name, Message=event.message),
    }
    details = {
        name: value for name, value in present(**event.details).items() if name not in members
    }
    return Draft(members | details, timestamp_ms(event.at_s))


def raw_line(
    report: bytes, at_ms: int, identity: LineIdentity, seq: int, tags: Mapping[str, str]
) -> str | None:
    """The line of *report*, which was received at *at_ms*; None if no log event is so long."""
    members = identity_members(names.RAW, identity, seq)
    own = {name: value for name, value in tags.items() if name not in members}
    head = encode({"Timestamp": at_ms, **members, **own})
    # Not decoded and encoded again: numbers stay as they were written.
    text = msgspec.json.format(report, indent=-1).decode("utf-8", "replace")
    line = f'{head[:-1]},"Report":{printing(text)}}}'
    return line if len(line.encode()) <= MAX_LINE_BYTES else None
