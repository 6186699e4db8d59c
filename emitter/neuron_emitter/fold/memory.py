"""Memory of runtimes: bytes in use, and the cores that hold a byte or a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuron_emitter.fold.amounts import amount, sum_known
from neuron_emitter.fold.inventory import CORE_INDEX, is_core_key
from neuron_wire.names import MAX_CORES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_emitter.reports.groups import Memory, Runtime, Whole


def usable_memory(runtime: Runtime) -> Memory | None:
    """Return the runtime's memory group; None if it is missing or in error."""
    memory = None if runtime.report is None else runtime.report.memory_used
    return None if memory is None or memory.error else memory


def held_by_memory(memory: Memory, cores_per_device: Whole) -> tuple[set[int] | None, int]:
    """
    Find the cores that hold bytes or a loaded subgraph.

    Returns:
        The cores, None if a key of the table cannot be read; and how many places were left out
        because no core can be there.
    """
    cores = set()
    malformed = 0
    _, breakdown = memory.used()
    for key, by_use in (breakdown.neuroncore_memory_usage or {}).items():
        if not is_core_key(key):
            return None, malformed + 1
        if key not in CORE_INDEX:
            malformed += 1
        elif by_use and any(size and size > 0 for size in by_use.values()):
            cores.add(CORE_INDEX[key])
    for model in memory.loaded_models or ():
        subgraphs = None if model is None else model.subgraphs
        for subgraph in (subgraphs or {}).values():
            if subgraph is None:
                continue
            device = subgraph.neuron_device_index
            index = subgraph.neuroncore_index
            if device is None or index is None:
                continue
            core = _core_of(device, index, cores_per_device)
            if core is None:
                malformed += 1
            else:
                cores.add(core)
    return cores, malformed


def _core_of(device: int, index: int, cores_per_device: Whole) -> Whole:
    """
    Return the core of a subgraph, whose index counts within its device.

    Checked with the memory table of a report with 32 runtimes: this rule is right for all 32 of
    them, and a global index only for 2.
    """
    # If the number of cores of a device is unknown, the first core of the second device is unknown.
    if device < 0 or not 0 <= index < (cores_per_device or MAX_CORES):
        return None
    core = device * (cores_per_device or MAX_CORES) + index
    return core if core < MAX_CORES else None


def used_bytes(runtimes: Sequence[Runtime] | None) -> tuple[Whole, Whole]:
    """
    Return the device and host memory that *runtimes* use, None for memory that was not read.

    Without a runtime both are 0. If *runtimes* is None, nothing was collected and both are None.
    """
    if runtimes is None:
        return None, None
    if not runtimes:
        return 0, 0
    groups = [memory for runtime in runtimes if (memory := usable_memory(runtime)) is not None]
    used = [memory.used()[0] for memory in groups]
    device = sum_known(None, (amount(held.neuron_device) for held in used))
    host = sum_known(None, (amount(held.host) for held in used))
    if device == 0 and any(memory.loaded_models for memory in groups):
        # inf1 reports 0 while models are loaded: it does not measure this.
        device = None
    return device, host
