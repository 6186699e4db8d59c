"""
What each runtime did in a minute, as its line says it, and whether a line is due for it.

32 runtimes with a line a minute each would cost nine times the minute line. So
a line comes when there is something to say (the runtime is new, its cores or
its owner changed, executions failed) and once an hour without.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from emitter.fold.held_cores import usable_memory
from emitter.fold.inventory import CORE_INDEX
from emitter.fold.samples import amount, as_percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from emitter.fold.runtime import RuntimeFold, RuntimeKey
    from emitter.reports.groups import Memory, Runtime

HOURLY_MINUTES: Final = 60
NO_LINES: Final = "none"
ERROR_MINUTES: Final = 10
"""A runtime that fails all the time has a line for it this often, not every minute."""

RuntimeFacts: TypeAlias = "tuple[RuntimeKey, tuple[int, ...], str | None, bool]"
"""Which runtime, the cores it holds, its owner, and whether something failed in it."""


@dataclass(frozen=True, slots=True)
class RuntimeMinute:
    """
    One runtime in one minute, before its line has an identity.

    Attributes:
        pid: Process id as neuron-monitor sees it; repeats over time.

        tag: `neuron_runtime_tag`; repeats over containers.

        owner: The owner of its process, else of its cores; None when neither is known.

        reason: Why a line is due: `start`, `change`, `error`, `hourly` or `all`.

        cores: Cores it holds, ascending.

        cores_listed: Cores it can see, held or not, or None when it listed none.

        executions: Executions that ended, or None when it was not read.

        execution_errors: Executions that failed, or None when it was not read.

        latency_min_s: Shortest execution, seconds.

        latency_max_s: Longest execution, seconds.

        tera_flops: Achieved 10^12 FLOP/s of all its cores together.

        device_memory_by_use: Device bytes over its cores: `constants`,
            `model_code`, `model_shared_scratchpad`, `runtime_memory`,
            `tensors`, and `other` for what a newer tool names.

        host_memory_by_use: Host bytes: `application_memory`, `constants`,
            `dma_buffers`, `tensors`, and `other`.

        loaded_models: Models that are loaded, running or not.

        vcpu_user_percent: Percent of a vCPU; above 100 with several threads.

        details: Execution and error counts by type, only those above 0.

    Every other field is None when it was not read, and folds like the field of
    the same name of a `MinuteRecord`.
    """

    pid: int | None
    tag: str | None
    owner: str | None = None
    reason: str = "all"
    cores: tuple[int, ...] = ()
    cores_listed: int | None = None
    executions: int | None = None
    execution_errors: int | None = None
    latency_p50_mean_s: float | None = None
    latency_p99_max_s: float | None = None
    latency_min_s: float | None = None
    latency_max_s: float | None = None
    device_latency_p50_mean_s: float | None = None
    device_latency_p99_max_s: float | None = None
    latency_gap_s: float | None = None
    tera_flops: float | None = None
    device_memory_used_bytes: int | None = None
    host_memory_used_bytes: int | None = None
    device_memory_by_use: Mapping[str, int] = field(default_factory=dict)
    host_memory_by_use: Mapping[str, int] = field(default_factory=dict)
    loaded_models: int | None = None
    vcpu_user_percent: float | None = None
    vcpu_system_percent: float | None = None
    details: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_fold(
        cls,
        fold: RuntimeFold,
        cores: tuple[int, ...],
        memory: Memory | None,
        owner: str | None,
        reason: str,
    ) -> RuntimeMinute:
        """Close what one runtime did; *cores* are those it holds, ascending."""
        pid, tag = fold.key or (None, None)
        executions = fold.executions
        used = None if memory is None else memory.neuron_runtime_used_bytes
        models = None if memory is None else memory.loaded_models
        breakdown = None if used is None else used.usage_breakdown
        by_core = None if breakdown is None else breakdown.neuroncore_memory_usage
        device_bytes = None if used is None else amount(used.neuron_device)
        device_by_use = _by_use([table for table in (by_core or {}).values() if table], DEVICE_USES)
        if device_bytes == 0 and models:
            # As for the instance: the zeros of inf1 are no measurement.
            device_bytes, device_by_use = None, {}
        host_by_use = breakdown.host if breakdown is not None else None
        user, system = fold.vcpu_percent()
        return cls(
            pid=pid,
            tag=tag,
            owner=owner,
            reason=reason,
            cores=cores,
            cores_listed=None
            if fold.listed is None
            else sum(key in CORE_INDEX for key in fold.listed),
            executions=executions.ended,
            execution_errors=executions.failed,
            latency_p50_mean_s=executions.total.p50_mean_s(),
            latency_p99_max_s=executions.total.p99_max_s,
            latency_min_s=executions.min_s,
            latency_max_s=executions.max_s,
            device_latency_p50_mean_s=executions.device.p50_mean_s(),
            device_latency_p99_max_s=executions.device.p99_max_s,
            latency_gap_s=executions.gap_s(),
            tera_flops=fold.tera_flops(),
            device_memory_used_bytes=device_bytes,
            host_memory_used_bytes=None if used is None else amount(used.host),
            device_memory_by_use=device_by_use,
            host_memory_by_use=_by_use([host_by_use or {}], HOST_USES),
            loaded_models=None if models is None else len(models),
            vcpu_user_percent=as_percent(user),
            vcpu_system_percent=as_percent(system),
            details=executions.details,
        )


@dataclass(slots=True)
class _LastLine:
    """What the newest line of one runtime said; times in epoch minutes."""

    seen: int
    at: int
    cores: tuple[int, ...]
    owner: str | None
    error_at: int | None = None


class RuntimeLines:
    """
    Which runtimes a line is due for, and what must be remembered for it of the minutes before.

    Attributes:
        mode: `changes`, `all` or `none`.
    """

    def __init__(self, mode: str = "changes") -> None:
        self.mode = mode
        self._said: dict[RuntimeKey, _LastLine] = {}

    def due_reasons(self, label: int, runtimes: Iterable[RuntimeFacts]) -> dict[RuntimeKey, str]:
        """
        The reason for a line in the epoch minute *label*, by runtime that one is due for.

        A runtime that the minute before did not have is a new one: pids and tags repeat.
        """
        if self.mode == NO_LINES:
            return {}
        before, self._said = self._said, {}
        reasons: dict[RuntimeKey, str] = {}
        for key, cores, owner, has_failed in runtimes:
            said = before.get(key)
            reason = _reason(said, cores, owner, label, has_failed=has_failed)
            if said is None or reason == "start":
                said = _LastLine(label, label, cores, owner)
            said.seen = label
            if reason is not None:
                said.at, said.cores, said.owner = label, cores, owner
                said.error_at = label if has_failed else said.error_at
            elif self.mode == "all":
                reason = "all"
            self._said[key] = said
            if reason is not None:
                reasons[key] = reason
        return reasons


def _reason(
    said: _LastLine | None,
    cores: tuple[int, ...],
    owner: str | None,
    label: int,
    *,
    has_failed: bool,
) -> str | None:
    if said is None or not 0 <= label - said.seen <= 1:
        return "start"
    if (cores, owner) != (said.cores, said.owner):
        return "change"
    if has_failed and (said.error_at is None or label - said.error_at >= ERROR_MINUTES):
        return "error"
    return "hourly" if label - said.at >= HOURLY_MINUTES else None


DEVICE_USES: Final = (
    "constants", "model_code", "model_shared_scratchpad", "runtime_memory", "tensors",
)  # fmt: skip
HOST_USES: Final = ("application_memory", "constants", "dma_buffers", "tensors")
OTHER_USE: Final = "other"  # one that a newer tool names


def used_bytes(runtimes: Sequence[Runtime] | None) -> tuple[int | None, int | None]:
    """
    Device and host memory that *runtimes* use, or None where it was not read.

    Without a runtime both are 0; None instead of runtimes means that nothing was collected.
    """
    if runtimes is None:
        return None, None
    if not runtimes:
        return 0, 0
    groups = [memory for runtime in runtimes if (memory := usable_memory(runtime)) is not None]
    used = [memory.neuron_runtime_used_bytes for memory in groups]
    device = _sum(amount(held.neuron_device) for held in used if held is not None)
    host = _sum(amount(held.host) for held in used if held is not None)
    if device == 0 and any(memory.loaded_models for memory in groups):
        # inf1 says 0 while models are loaded: it does not measure this.
        device = None
    return device, host


def _sum(sizes: Iterable[int | None]) -> int | None:
    read = [size for size in sizes if size is not None]
    return sum(read) if read else None


def _by_use(tables: Iterable[Mapping[str, float | None]], known: Sequence[str]) -> dict[str, int]:
    """Sums of *tables*; a use that is in no table is absent."""
    sums: dict[str, int] = {}
    for table in tables:
        for name, value in table.items():
            size = amount(value)
            if size is not None:
                use = name if name in known else OTHER_USE
                sums[use] = sums.get(use, 0) + size
    return {use: sums[use] for use in (*known, OTHER_USE) if use in sums}
