"""
`memory_used` of one runtime: bytes on each core, and the models loaded there.

Who holds which core does not change while a scenario plays, so this is made
once and only its period and the host's part change. A runtime's table lists
the cores of every device it has a core on; a subgraph's core index counts
within its device, as captured on trn1n. On inf1 the table is all zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random

    from local.monitor.instance import SimulatedInstance, SimulatedRuntime

_USES: Final = ("constants", "model_code", "model_shared_scratchpad", "runtime_memory", "tensors")
_MODEL_CODE_BYTES: Final = 164_049_536
_MODEL_CONSTANTS_BYTES: Final = 229_376
_MODEL_HOST_BYTES: Final = 20_480
_MODEL_DMA_BYTES: Final = 524_288


class RuntimeMemory:
    """The memory of one runtime, as every report repeats it."""

    def __init__(self, instance: SimulatedInstance, runtime: SimulatedRuntime) -> None:
        rng = instance.rng(f"memory {runtime.pid}")
        per_device = instance.host.hardware.cores_per_device
        devices = sorted({core // per_device for core in runtime.held})
        listed = [device * per_device + core for device in devices for core in range(per_device)]
        per_core_bytes = instance.host.device_memory_bytes // per_device
        tells_bytes = instance.host.family.tells_device_bytes
        models = instance.scenario.models_per_core
        table = {
            str(core): _core_bytes(per_core_bytes, models, rng)
            if core in runtime.held and tells_bytes
            else dict.fromkeys(_USES, 0)
            for core in listed
        }
        self._table = dict(sorted(table.items()))  # as texts, as the real one sorts its keys
        self._device_bytes = sum(sum(uses.values()) for uses in table.values())
        self._application_bytes = 400_000_000 + int(800_000_000 * rng.random())
        self._dma_bytes = _MODEL_DMA_BYTES * models * len(runtime.held)
        self._models = [
            _model(core % per_device, core // per_device, 10_001 + number, instance)
            for core in runtime.held
            for number in range(models)
        ]

    @property
    def device_bytes(self) -> int:
        """Bytes on all its cores."""
        return self._device_bytes

    def group(self, period_s: float, rng: random.Random) -> dict[str, object]:
        """The report's `memory_used`."""
        application_bytes = self._application_bytes + 4096 * int(2_000 * rng.random())
        return {
            "period": period_s,
            "neuron_runtime_used_bytes": {
                "host": application_bytes + self._dma_bytes,
                "neuron_device": self._device_bytes,
                "usage_breakdown": {
                    "host": _host_bytes(application_bytes, self._dma_bytes),
                    "neuroncore_memory_usage": self._table,
                },
            },
            "loaded_models": self._models,
            "error": "",
        }


def _core_bytes(most: int, models: int, rng: random.Random) -> dict[str, int]:
    scratchpad = most // 16
    code = min(models * _MODEL_CODE_BYTES, most // 8)
    constants = int(most * (0.05 + 0.05 * rng.random()))
    return {
        "constants": constants,
        "model_code": code,
        "model_shared_scratchpad": scratchpad,
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
                    "constants": _MODEL_CONSTANTS_BYTES, "model_code": _MODEL_CODE_BYTES,
                    "runtime_memory": 0, "tensors": 0,
                },
            },
        },
        "neuroncore_index": index_in_device,
        "neuron_device_index": device,
    }  # fmt: skip
    return {
        "name": "model.neff",
        "uuid": f"{instance.rng(f'model {model_id}').getrandbits(128):032x}",
        "model_id": model_id,
        "is_running": False,  # so captured beside a core at 27 %: it tells nothing
        "subgraphs": {"sg_00": subgraph},
    }
