"""
Bytes the runtimes hold, as of the last report that had the memory group.

The sum of the instance is that of the one report; a runtime's own is that of
its last usable group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.fold.amounts import amount
from emitter.fold.held_cores import usable_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from emitter.reports.groups import Memory, Runtime

DEVICE_USES: Final = (
    "constants", "model_code", "model_shared_scratchpad", "runtime_memory", "tensors",
)  # fmt: skip
HOST_USES: Final = ("application_memory", "constants", "dma_buffers", "tensors")
OTHER_USE: Final = "other"  # one that a newer tool names


@dataclass(frozen=True, slots=True)
class RuntimeBytes:
    """
    What one runtime holds: bytes, and models.

    Attributes:
        device_bytes: On its devices, or None.

        host_bytes: On the host, or None.

        device_by_use: Device bytes over all cores, by use.

        host_by_use: Host bytes by use.

        loaded_models: Loaded models, or None.
    """

    device_bytes: int | None = None
    host_bytes: int | None = None
    device_by_use: Mapping[str, int] | None = None
    host_by_use: Mapping[str, int] | None = None
    loaded_models: int | None = None

    @classmethod
    def of(cls, memory: Memory | None) -> RuntimeBytes:
        """Read one memory group."""
        if memory is None:
            return cls()
        used = memory.neuron_runtime_used_bytes
        breakdown = None if used is None else used.usage_breakdown
        device = None if used is None else amount(used.neuron_device)
        by_core = None if breakdown is None else breakdown.neuroncore_memory_usage
        tables = [table for table in (by_core or {}).values() if table]
        device_by_use = _by_use(tables, DEVICE_USES)
        if device == 0 and memory.loaded_models:
            # As for the instance: the zeros of inf1 are no measurement.
            device, device_by_use = None, {}
        host_tables = [] if breakdown is None or not breakdown.host else [breakdown.host]
        return cls(
            device_bytes=device,
            host_bytes=None if used is None else amount(used.host),
            device_by_use=device_by_use,
            host_by_use=_by_use(host_tables, HOST_USES),
            loaded_models=None if memory.loaded_models is None else len(memory.loaded_models),
        )


def used_bytes(runtimes: Sequence[Runtime] | None) -> tuple[int | None, int | None]:
    """
    Device and host memory that *runtimes* use, or None where it was not read.

    Without a runtime nobody holds a byte; None instead of runtimes says that
    nothing was collected.
    """
    if runtimes is None:
        return None, None
    if not runtimes:
        return 0, 0
    groups = [memory for one in runtimes if (memory := usable_memory(one)) is not None]
    used = [one.neuron_runtime_used_bytes for one in groups]
    device = _sum(amount(one.neuron_device) for one in used if one is not None)
    host = _sum(amount(one.host) for one in used if one is not None)
    if device == 0 and any(one.loaded_models for one in groups):
        # inf1 says 0 while models are loaded: it does not measure this.
        device = None
    return device, host


def _sum(sizes: Iterable[int | None]) -> int | None:
    read = [size for size in sizes if size is not None]
    return sum(read) if read else None


def _by_use(tables: Iterable[Mapping[str, float | None]], known: Sequence[str]) -> dict[str, int]:
    """Sums of *tables*; uses that no table told are absent."""
    sums: dict[str, int] = {}
    for table in tables:
        for name, told in table.items():
            size = amount(told)
            if size is not None:
                use = name if name in known else OTHER_USE
                sums[use] = sums.get(use, 0) + size
    return {use: sums[use] for use in (*known, OTHER_USE) if use in sums}
