"""
The line of a runtime, and whether it is due in a minute.

32 runtimes with a line a minute each would cost nine times the minute line. A line is therefore
written if the runtime is new, its cores or its owner changed or executions failed, and otherwise
once an hour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_emitter.fold.amounts import amount, as_percent
from neuron_emitter.fold.inventory import CORE_INDEX
from neuron_emitter.fold.runtimes import UNOWNED
from neuron_emitter.reports.groups import Memory
from neuron_wire.core_members import core_ranges
from neuron_wire.holders import printable_name
from neuron_wire.minute_record import round_significant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neuron_emitter.fold.attribution import Holdings
    from neuron_emitter.fold.runtimes import MinuteRuntimes, RuntimeFold, RuntimeKey
    from neuron_emitter.reports.groups import Number, Text, Whole

HOURLY_MINUTES: Final = 60
NO_LINES: Final = "none"
ERROR_MINUTES: Final = 10
"""Minutes between two lines of a runtime that fails all the time."""

RuntimeMembers = dict[str, str | int | float | None]
"""The members of the line of one runtime, except its identity; None if a value was not read."""


@dataclass(slots=True)
class _LastLine:
    """The newest line of one runtime; times in epoch minutes."""

    seen: int
    at: int
    cores: set[int]
    owner: Text
    error_at: Whole = None


class RuntimeLines:
    """
    Decides which runtimes have a line due, from the lines of earlier minutes.

    Attributes:
        mode: `changes`, `all` or `none`.
    """

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self._last_lines: dict[RuntimeKey, _LastLine] = {}

    def due_lines(
        self, epoch_minute: int, runtimes: MinuteRuntimes, holdings: Holdings
    ) -> tuple[RuntimeMembers, ...]:
        """
        Return the lines that are due in *epoch_minute*.

        A runtime that was absent in the minute before is a new one: pids and tags repeat.
        """
        if self.mode == NO_LINES:
            return ()
        before = self._last_lines
        self._last_lines = {}
        memory = runtimes.held.memory()
        lines = []
        for fold in runtimes.folds:
            if (key := fold.key) is None:
                continue
            cores = holdings.cores.get(key, set())
            owner = holdings.owners.get(key, UNOWNED).name
            has_failed = bool(fold.executions.failed) or fold.has_failed
            last_line = before.get(key)
            reason = _reason(last_line, cores, owner, epoch_minute, has_failed=has_failed)
            if last_line is None or reason == "start":
                last_line = _LastLine(epoch_minute, epoch_minute, cores, owner)
            last_line.seen = epoch_minute
            if reason is not None:
                last_line.at = epoch_minute
                last_line.cores = cores
                last_line.owner = owner
                last_line.error_at = epoch_minute if has_failed else last_line.error_at
            elif self.mode == "all":
                reason = "all"
            self._last_lines[key] = last_line
            if reason is not None:
                lines.append(_members(fold, cores, memory.get(key, Memory()), owner, reason))
        return tuple(lines)


def _reason(
    last_line: _LastLine | None,
    cores: set[int],
    owner: Text,
    epoch_minute: int,
    *,
    has_failed: bool,
) -> Text:
    """Return why a line is due: `start`, `change`, `error` or `hourly`; None if it is not due."""
    if last_line is None or not 0 <= epoch_minute - last_line.seen <= 1:
        return "start"
    if (cores, owner) != (last_line.cores, last_line.owner):
        return "change"
    if has_failed and (
        last_line.error_at is None or epoch_minute - last_line.error_at >= ERROR_MINUTES
    ):
        return "error"
    return "hourly" if epoch_minute - last_line.at >= HOURLY_MINUTES else None


DEVICE_USES: Final = (
    "constants",
    "model_code",
    "model_shared_scratchpad",
    "runtime_memory",
    "tensors",
)
HOST_USES: Final = ("application_memory", "constants", "dma_buffers", "tensors")
OTHER_USE: Final = "other"  # a use that a newer tool reports


def _members(
    fold: RuntimeFold, cores: set[int], memory: Memory, owner: Text, reason: str
) -> RuntimeMembers:
    """Return the members of one runtime's line; *cores* are the cores it holds."""
    pid, tag = fold.key or (None, None)
    executions = fold.executions
    listed = fold.listed
    used, breakdown = memory.used()
    models = memory.loaded_models
    by_core = breakdown.neuroncore_memory_usage or {}
    device_bytes = amount(used.neuron_device)
    device_by_use = _by_use(
        "DeviceMemory", [table for table in by_core.values() if table], DEVICE_USES
    )
    if device_bytes == 0 and models:
        # As for the instance: zeros of inf1 are not measurements.
        device_bytes = None
        device_by_use = {}
    user, system = fold.vcpu_percent()
    amounts = {**executions.latencies(), "TeraFlops": fold.tera_flops()}
    return {
        "Reason": reason,
        "Pid": pid,
        "RuntimeTag": printable_name(tag),
        "Owner": printable_name(owner),
        "Cores": core_ranges(cores),
        "CoresHeld": len(cores),
        "CoresListed": None if listed is None else sum(key in CORE_INDEX for key in listed),
        "LoadedModels": None if models is None else len(models),
        "Executions": executions.ended,
        "ExecutionErrors": executions.failed,
        **{
            name: None if value is None else round_significant(value)
            for name, value in amounts.items()
        },
        "DeviceMemoryUsed": device_bytes,
        "RuntimeHostMemory": amount(used.host),
        "RuntimeCpuUserPercent": as_percent(user),
        "RuntimeCpuSystemPercent": as_percent(system),
        **device_by_use,
        **_by_use("RuntimeHostMemory", [breakdown.host or {}], HOST_USES),
        **executions.details,
    }


def _by_use(
    total: str, tables: Iterable[Mapping[str, Number]], known: Sequence[str]
) -> dict[str, int]:
    """Return sums of *tables* by member: `tensors` of DeviceMemory is DeviceMemoryTensors."""
    sums: dict[str, int] = {}
    for table in tables:
        for name, value in table.items():
            size = amount(value)
            if size is not None:
                use = name if name in known else OTHER_USE
                sums[use] = sums.get(use, 0) + size
    return {
        total + "".join(part.capitalize() for part in use.split("_")): sums[use]
        for use in (*known, OTHER_USE)
        if use in sums
    }
