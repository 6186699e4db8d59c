"""
Which cores a runtime holds: the evidence is bytes on the core or a model on it.

Listing a core is not holding it: every runtime lists every core it can see.
Only a runtime without a usable memory group is taken to hold all it lists,
because nothing says otherwise. The minute's last report that had the runtime's
group decides, so nothing is worked out before the minute closes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.fold.inventory import CORE_INDEX
from neuron_wire.names import MAX_CORES

if TYPE_CHECKING:
    from emitter.reports.groups import Memory, Runtime, Subgraph

RuntimeKey = tuple[int | None, str | None]
"""Pid and tag: tags collide (an unset one is "1" in every container), and so do pids over time."""


def runtime_key(runtime: Runtime) -> RuntimeKey:
    """
    What tells one runtime from another.
    """
    return (runtime.pid, runtime.neuron_runtime_tag)


def usable_memory(runtime: Runtime) -> Memory | None:
    """
    The runtime's memory group, or None when it is missing or in error.
    """
    memory = None if runtime.report is None else runtime.report.memory_used
    return None if memory is None or memory.error else memory


def held_by_memory(memory: Memory, cores_per_device: int | None) -> tuple[set[int], int]:
    """
    Cores with bytes on them or a loaded subgraph.

    Returns:
        The cores, and how many places were left out because no core can be there.
    """
    cores: set[int] = set()
    malformed = 0
    used = memory.neuron_runtime_used_bytes
    breakdown = None if used is None else used.usage_breakdown
    table = None if breakdown is None else breakdown.neuroncore_memory_usage
    for key, by_use in (table or {}).items():
        if key not in CORE_INDEX:
            malformed += 1
        elif any(size and size > 0 for size in by_use.values()):
            cores.add(CORE_INDEX[key])
    for model in memory.loaded_models or ():
        for subgraph in (model.subgraphs or {}).values():
            if subgraph.neuron_device_index is None or subgraph.neuroncore_index is None:
                continue
            core = _core_of(subgraph, cores_per_device)
            if core is None:
                malformed += 1
            else:
                cores.add(core)
    return cores, malformed


def _core_of(subgraph: Subgraph, cores_per_device: int | None) -> int | None:
    """
    The core of a subgraph, whose index counts within its device.

    Checked on a report of 32 runtimes against its memory table: right for 32
    of 32, as a global index for 2.
    """
    device, index = subgraph.neuron_device_index or 0, subgraph.neuroncore_index or 0
    if cores_per_device is None:
        # Nothing tells where the cores of a second device start.
        core = index if device == 0 else -1
    elif index < cores_per_device:
        core = device * cores_per_device + index
    else:
        core = -1
    return core if min(device, index, core) >= 0 and core < MAX_CORES else None


class Holders:
    """
    The evidence of the open minute.

    Attributes:
        with_memory: Runtimes of the last report in which the memory group of
            any was usable; empty after a report that had no runtime, None
            before either.

        malformed_places: Places dropped because no core can be there.
    """

    def __init__(self) -> None:
        self.malformed_places = 0
        self.clear()

    def clear(self) -> None:
        """
        Begin a new minute.
        """
        self.with_memory: list[Runtime] | None = None
        self._earlier: list[Runtime] = []  # whose own group failed in that report
        self._later: list[Runtime] = []  # of the last report after that one

    def add(self, runtimes: list[Runtime]) -> None:
        """
        Take the runtimes of one report.
        """
        failed = [one for one in runtimes if usable_memory(one) is None]
        if len(failed) == len(runtimes):
            self._later = runtimes
            return
        # The group was due: runtimes that are not in this report are gone.
        self._earlier = self._last_readings(failed) if failed else []
        self._later = []
        self.with_memory = runtimes

    def nobody(self) -> None:
        """
        The report said that there is no runtime.
        """
        self.clear()
        self.with_memory = []

    def _last_readings(self, failed: list[Runtime]) -> list[Runtime]:
        keys = {runtime_key(one) for one in failed}
        before = (*(self.with_memory or ()), *self._earlier)
        return [
            one for one in before if runtime_key(one) in keys and usable_memory(one) is not None
        ]

    def cores(self, cores_per_device: int | None) -> set[int]:
        """
        Cores that are held, by index from 0.
        """
        held: set[int] = set()
        measured: set[RuntimeKey] = set()
        evidence = [*(self.with_memory or ()), *self._earlier]
        for runtime in evidence:
            if (memory := usable_memory(runtime)) is not None:
                measured.add(runtime_key(runtime))
                cores, malformed = held_by_memory(memory, cores_per_device)
                held |= cores
                self.malformed_places += malformed
        for runtime in (*evidence, *self._later):
            if runtime_key(runtime) not in measured:
                held |= _listed(runtime)
        return held


def _listed(runtime: Runtime) -> set[int]:
    counters = None if runtime.report is None else runtime.report.neuroncore_counters
    uses = None if counters is None else counters.neuroncores_in_use
    return {CORE_INDEX[key] for key in uses or () if key in CORE_INDEX}
