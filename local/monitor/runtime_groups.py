"""
One entry of `neuron_runtime_data`: a runtime and its groups.

Every runtime lists every core of the instance, with 0 for those it does not use, which is why a
mean over runtimes is wrong. Its memory does not change while a scenario plays: the table lists the
cores of every device on which it has a core, all zeros on inf1; a subgraph's core index counts
within its device, as captured on trn1n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from local.monitor.simulated_instance import SimulatedInstance, SimulatedRuntime

WRITTEN_RUNTIME_GROUPS: Final = (
    "execution_stats",
    "memory_used",
    "neuron_runtime_vcpu_usage",
    "neuroncore_counters",
)
EXECUTION_ENDINGS: Final = (
    "completed",
    "completed_with_err",
    "completed_with_num_err",
    "timed_out",
    "incorrect_input",
    "failed_to_queue",
)
_NOT_COMPLETED: Final = {"timed_out": 1.4, "incorrect_input": 2, "failed_to_queue": 1.2}
"""The most failed executions in a report by ending, if executions fail."""

_SPLIT_PERCENT: Final = 12.0  # the largest difference between the physical cores of a logical one
_MEMORY_USES: Final = (
    "constants",
    "model_code",
    "model_shared_scratchpad",
    "runtime_memory",
    "tensors",
)
_MODEL_CODE_BYTES: Final = 164_049_536
_MODEL_CONSTANTS_BYTES: Final = 229_376
_MODEL_HOST_BYTES: Final = 20_480
_MODEL_DMA_BYTES: Final = 524_288


def group(period_s: float, error: str = "", **members: object) -> dict[str, object]:
    """Return a group of a report: its period, its values, and its error."""
    return {"period": period_s, **members, "error": error}


class RuntimeEntry:
    """One runtime as its reports describe it."""

    def __init__(self, instance: SimulatedInstance, runtime: SimulatedRuntime) -> None:
        self.runtime = runtime
        self._instance = instance
        self._memory = RuntimeMemory(instance, runtime)
        # sorted like the keys of the real monitor
        self._core_keys = sorted(range(instance.cores), key=str)

    def runtime_entry(
        self, percents: Mapping[int, float], periods_s: Mapping[str, float], rng: random.Random
    ) -> tuple[dict[str, object], dict[str, int]]:
        """
        Write the groups, each with its own period.

        Returns:
            The entry, and what became of the executions.
        """
        executions, memory, vcpu, counters = (periods_s[name] for name in WRITTEN_RUNTIME_GROUPS)
        ended = self._ended(percents, executions, rng)
        entry: dict[str, object] = {
            "pid": self.runtime.pid,
            "neuron_runtime_tag": self.runtime.tag,
            "error": "",
            "report": {
                "execution_stats": self._executions(ended, executions, rng),
                "memory_used": self._memory.memory_group(memory, rng),
                "neuron_runtime_vcpu_usage": self._vcpu(percents, vcpu, rng),
                "neuroncore_counters": group(
                    counters,
                    neuroncores_in_use={
                        str(core): self._core(core, percents.get(core, 0.0), rng)
                        for core in self._core_keys
                    },
                ),
            },
        }
        return entry, ended

    def _core(self, core: int, percent: float, rng: random.Random) -> dict[str, object]:
        family = self._instance.host.family
        found: dict[str, object] = {
            "neuroncore_utilization": percent or 0,
            "effective_flops": int(percent / 100 * 0.4 * family.peak_tera_flops * 1e12),
        }
        if family.physical_per_logical > 1:
            apart = min(_SPLIT_PERCENT * rng.random(), percent, 100 - percent) if percent else 0
            found[family.core_version] = {
                f"nc_v3.{2 * core}": {"neuroncore_utilization": percent - apart or 0},
                f"nc_v3.{2 * core + 1}": {"neuroncore_utilization": percent + apart or 0},
            }
        return found

    def _ended(
        self, percents: Mapping[int, float], period_s: float, rng: random.Random
    ) -> dict[str, int]:
        ran = self.runtime.load.executions(percents, period_s)
        if percents:
            ran += 1  # at least one execution ends, even in the milliseconds of a first report
        ended = dict.fromkeys(EXECUTION_ENDINGS, 0)
        ended["completed"] = ran
        if self._instance.scenario.executions_fail and ran:
            for name in ("completed_with_err", "completed_with_num_err"):
                ended[name] = min(int(3 * rng.random()), ended["completed"])
                ended["completed"] -= ended[name]
            for name, less_than in _NOT_COMPLETED.items():
                ended[name] = int(less_than * rng.random())
        return ended

    def _executions(
        self, ended: Mapping[str, int], period_s: float, rng: random.Random
    ) -> dict[str, object]:
        # Causes overlap with endings: adding the two counts twice.
        causes = {
            "numerical": ended["completed_with_num_err"],
            "transient": ended["timed_out"],
            "model": 0,
            "runtime": ended["completed_with_err"],
            "hardware": 0,
        }
        return group(
            period_s,
            error_summary=causes,
            execution_summary=ended,
            latency_stats=self.runtime.load.latency_stats(ended["completed"], rng),
        )

    def _vcpu(
        self, percents: Mapping[int, float], period_s: float, rng: random.Random
    ) -> dict[str, object]:
        if self._instance.scenario.vcpu_error:
            # As captured in a sidecar with its own process namespace, in every report.
            error = f"open /proc/{self.runtime.pid}/stat: no such file or directory"
            return group(period_s, error, vcpu_usage={"user": 0, "system": 0})
        working = 1.0 if percents else 0.02
        user = round(working * (20 + 10 * rng.random()), 2)
        system = round(working * (2 + 4 * rng.random()), 2)
        return group(period_s, vcpu_usage={"user": user, "system": system})


class RuntimeMemory:
    """The memory of one runtime, which every report repeats."""

    def __init__(self, instance: SimulatedInstance, runtime: SimulatedRuntime) -> None:
        rng = instance.rng(f"memory {runtime.pid}")
        per_device = instance.host.hardware.cores_per_device
        devices = sorted({core // per_device for core in runtime.held})
        listed = [device * per_device + core for device in devices for core in range(per_device)]
        per_core_bytes = instance.host.device_memory_bytes // per_device
        is_inf1 = instance.host.family.device_type is None
        models = instance.scenario.models_per_core
        table = {
            str(core): _core_bytes(per_core_bytes, models, rng)
            if core in runtime.held and not is_inf1
            else dict.fromkeys(_MEMORY_USES, 0)
            for core in listed
        }
        self._table = dict(sorted(table.items()))  # as text, like the keys of the real monitor
        self._application_bytes = 400_000_000 + int(800_000_000 * rng.random())
        self._dma_bytes = _MODEL_DMA_BYTES * models * len(runtime.held)
        self._models = [
            _model(core % per_device, core // per_device, 10_001 + number, instance)
            for core in runtime.held
            for number in range(models)
        ]

    def memory_group(self, period_s: float, rng: random.Random) -> dict[str, object]:
        """Return the report's `memory_used`."""
        application_bytes = self._application_bytes + 4096 * int(2_000 * rng.random())
        used = {
            "host": application_bytes + self._dma_bytes,
            "neuron_device": sum(sum(uses.values()) for uses in self._table.values()),
            "usage_breakdown": {
                "host": _host_bytes(application_bytes, self._dma_bytes),
                "neuroncore_memory_usage": self._table,
            },
        }
        return group(period_s, neuron_runtime_used_bytes=used, loaded_models=self._models)


def _core_bytes(most: int, models: int, rng: random.Random) -> dict[str, int]:
    return {
        "constants": int(most * (0.05 + 0.05 * rng.random())),
        "model_code": min(models * _MODEL_CODE_BYTES, most // 8),
        "model_shared_scratchpad": most // 16,
        "runtime_memory": 110_656,
        "tensors": int(most * (0.2 + 0.4 * rng.random())),
    }


def _host_bytes(application: int, dma: int) -> dict[str, int]:
    return {"application_memory": application, "constants": 0, "dma_buffers": dma, "tensors": 0}


def _model(
    index_in_device: int, device: int, model_id: int, instance: SimulatedInstance
) -> dict[str, object]:
    subgraph: dict[str, object] = {
        "memory_used_bytes": {
            "host": _MODEL_HOST_BYTES + _MODEL_DMA_BYTES,
            "neuron_device": _MODEL_CONSTANTS_BYTES + _MODEL_CODE_BYTES,
            "usage_breakdown": {
                "host": _host_bytes(_MODEL_HOST_BYTES, _MODEL_DMA_BYTES),
                "neuron_device": {
                    "constants": _MODEL_CONSTANTS_BYTES,
                    "model_code": _MODEL_CODE_BYTES,
                    "runtime_memory": 0,
                    "tensors": 0,
                },
            },
        },
        "neuroncore_index": index_in_device,
        "neuron_device_index": device,
    }
    return {
        "name": "model.neff",
        "uuid": f"{instance.rng(f'model {model_id}').getrandbits(128):032x}",
        "model_id": model_id,
        "is_running": False,  # neuron-monitor reports false even for a core at 27 %
        "subgraphs": {"sg_00": subgraph},
    }
