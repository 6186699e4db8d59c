"""
One line before it is written, and the values that may stand in it.

The fold has checked what a minute holds; an event or a runtime brings what a
process or an operating system said. A line must be valid JSON and UTF-8 whatever
that was, so what cannot be written is left out or written with `?`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from neuron_wire import encode, names
from neuron_wire.cores import core_ranges
from neuron_wire.extraction import MAX_LINE_BYTES
from neuron_wire.holders import printable_name
from neuron_wire.line import escape_unprintable
from neuron_wire.line_members import MAX_COUNT
from neuron_wire.minute import round_significant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emitter.fold.runtime_lines import RuntimeMinute
    from emitter.lines.settings import (
        LineIdentity,
    )
    from emitter.logs import Event
    from neuron_wire import MinuteRecord

STANDARD_S: Final = 60
HIGH_S: Final = 1
MAX_TEXT_CHARS: Final = 4096  # the tail of a process's last words is the longest

Value = str | int | float


@dataclass(frozen=True, slots=True)
class Draft:
    """
    The members of one line, and which of them CloudWatch is to make metrics of.

    Attributes:
        members: Everything in the line but `_aws`, in order.

        timestamp_ms: Milliseconds since the Unix epoch.

        units: Unit by name of each metric; a line without one is no EMF document.

        dimension_sets: Names of members. Each metric makes a series for each set.

        resolution_s: Storage resolution of the metrics, 1 or 60 seconds.

        by_instance: Unit by name of each metric that a directive of its own counts
            by cluster and instance.
    """

    members: Mapping[str, object]
    timestamp_ms: int
    units: Mapping[str, str] = field(default_factory=dict)
    dimension_sets: Sequence[Sequence[str]] = ()
    resolution_s: int = STANDARD_S
    by_instance: Mapping[str, str] = field(default_factory=dict)


def identity_members(
    kind: str, identity: LineIdentity | MinuteRecord, seq: int
) -> dict[str, object]:
    """The members that every line begins with."""
    members: dict[str, object] = {
        "Schema": names.VERSION, "Kind": kind, "Boot": identity.boot, "Seq": seq,
        "ClusterName": identity.cluster, "InstanceId": identity.instance_id,
    }  # fmt: skip
    if identity.identity_guessed:
        members["IdentityGuessed"] = True
    return members


def present(**values: Value | None) -> dict[str, Value]:
    """Those of *values* that a line can hold, by the name of their member."""
    return {
        _whole(member): made
        for member, value in values.items()
        if value is not None and (made := writable(value)) is not None
    }


def amount(value: float | None) -> float | None:
    """*value* as exact as a line says an amount that is no count."""
    return None if value is None else round_significant(value)


def writable(value: Value) -> Value | None:
    """*value* as a line can hold it, or None when it cannot."""
    if isinstance(value, str):
        return _whole(value) or None
    # NaN and infinity compare false; isfinite would fail on an integer that no float can hold.
    return value if abs(value) <= MAX_COUNT else None


def _whole(text: str) -> str:
    # A lone surrogate is half a character, which UTF-8 cannot hold.
    return text[:MAX_TEXT_CHARS].encode("utf-8", "replace").decode()


def timestamp_ms(at_s: float) -> int:
    """Seconds since the Unix epoch as the milliseconds of a line."""
    return int(at_s * 1000)


def runtime_draft(runtime: RuntimeMinute, minute: MinuteRecord, seq: int) -> Draft:
    """The line of *runtime* in *minute*; what was not read has no member."""
    members = {
        **identity_members(names.RUNTIME, minute, seq),
        **present(
            Reason=runtime.reason,
            Pid=runtime.pid,
            RuntimeTag=printable_name(runtime.tag),
            Owner=printable_name(runtime.owner),
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
    return Draft(members, minute.minute_ms)


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
    line = f'{head[:-1]},"Report":{escape_unprintable(text)}}}'
    return line if len(line.encode()) <= MAX_LINE_BYTES else None
