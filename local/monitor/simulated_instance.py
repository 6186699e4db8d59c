"""
One instance that plays one scenario: the truth at each report.

Deterministic: the numbers depend only on the instance type, the scenario, the seed and the number
of the report. The cores of one runtime rise and fall together, like those of one training job, with
small individual differences.

The report modules define how neuron-monitor would report it; `truth` defines the correct result.
"""

from __future__ import annotations

import hashlib
import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from local.monitor.hosts import host

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Share:
    """
    One runtime's part of an instance, cores counted from 0 on the instance.

    Attributes:
        held: Cores with its models and bytes on them.

        busy: The held cores that execute.
    """

    held: Sequence[int]
    busy: Sequence[int]


@dataclass(frozen=True, slots=True)
class Scenario:
    """
    One scenario.

    Attributes:
        shares: A function from the number of cores to the runtimes.

        low_percent: Lowest utilization of a busy core.

        high_percent: Highest utilization of a busy core.

        models_per_core: Models loaded on each held core.

        tag: Every runtime's tag, or None for the process ID, the value of an unset tag.

        executions_fail: True if some executions fail.

        vcpu_error: True if the CPU of runtimes cannot be read, as in a sidecar.
    """

    shares: Callable[[int], tuple[Share, ...]]
    low_percent: float = 55.0
    high_percent: float = 92.0
    models_per_core: int = 1
    tag: str | None = None
    executions_fail: bool = False
    vcpu_error: bool = False


def _half_idle(cores: int) -> tuple[Share, ...]:
    busy = cores // 2
    held = cores - (cores - busy) // 2
    return (Share(range(held), range(busy)),)


def _four_last_idle(cores: int) -> tuple[Share, ...]:
    quarter = max(1, cores // 4)
    *working, last = (range(first, first + quarter) for first in range(0, cores, quarter))
    return (*(Share(part, part) for part in working), Share(last, ()))


def _busy(cores: int) -> tuple[Share, ...]:
    return (Share(range(cores), range(cores)),)


def _busy_each(cores: int) -> tuple[Share, ...]:
    return tuple(Share((core,), (core,)) for core in range(cores))


SCENARIOS: Final[dict[str, Scenario]] = {
    "busy": Scenario(_busy),
    # As running services do.
    "low": Scenario(_busy, low_percent=2.0, high_percent=3.5),
    "idle": Scenario(lambda cores: (Share(range(cores), ()),)),
    "half-idle": Scenario(_half_idle),
    "empty": Scenario(lambda _cores: ()),
    # Runtimes that all have the tag 1 and list every core; their CPU is in error.
    "multi-runtime": Scenario(_four_last_idle, tag="1", vcpu_error=True),
    # The longest possible reports.
    "many-runtimes": Scenario(_busy_each, models_per_core=20),
    "errors": Scenario(_busy, executions_fail=True),
}


SIMULATED_ECC_COUNTERS: Final = (
    "mem_ecc_corrected",
    "mem_ecc_uncorrected",
    "sram_ecc_uncorrected",
    "sram_ecc_corrected",
)
SIMULATED_REGION: Final = "us-west-2"

_SLOW_SHARE: Final = 0.5  # share of the swing: a wave of many minutes, common to the runtime
_QUICK_SHARE: Final = 0.2  # a wave of a minute or two, common to the runtime
_OWN_SHARE: Final = 0.15  # a constant difference between neighboring cores
_NOISE_SHARE: Final = 0.15  # noise from report to report; the four add up to 1

_P50_SPREAD: Final = {
    "p0": 0.72,
    "p1": 0.78,
    "p100": 1.9,
    "p25": 0.93,
    "p50": 1.0,
    "p75": 1.09,
    "p99": 1.45,
}


class Load:
    """
    The work of one runtime.

    Attributes:
        device_p50_s: Median time of an execution on the device, seconds.

        overhead_s: Additional time for queueing and the host, seconds.
    """

    def __init__(self, scenario: Scenario, busy: tuple[int, ...], seed: str) -> None:
        rng = random.Random(seed)
        self._middle = (scenario.low_percent + scenario.high_percent) / 2
        self._swing = (scenario.high_percent - scenario.low_percent) / 2
        # The common rise and fall of its cores: cycle in reports, phase, share of the swing.
        self._waves = (
            (120 + 360 * rng.random(), rng.random(), _SLOW_SHARE),
            (13 + 18 * rng.random(), rng.random(), _QUICK_SHARE),
        )
        self._own = {core: 2 * rng.random() - 1 for core in busy}
        self.device_p50_s = 0.004 + 0.026 * rng.random()
        self.overhead_s = 0.0002 + 0.002 * rng.random()

    def percents(self, number: int, rng: random.Random) -> dict[int, float]:
        """Return the utilization of each busy core in report *number*."""
        common = sum(
            share * math.sin(2 * math.pi * (number / cycle + phase))
            for cycle, phase, share in self._waves
        )
        return {
            core: self._middle
            + self._swing * (common + _OWN_SHARE * own + _NOISE_SHARE * (2 * rng.random() - 1))
            for core, own in self._own.items()
        }

    def executions(self, percents: Mapping[int, float], period_s: float) -> int:
        """Return the number of executions for this much work in this time."""
        return int(sum(percents.values()) / 100 * period_s / self.device_p50_s)

    def latency_stats(self, ran: int, rng: random.Random) -> dict[str, object]:
        """Return the report's `latency_stats`; null, not zero, if nothing ran."""
        if not ran:
            return {"total_latency": None, "device_latency": None}
        shift = 0.97 + 0.06 * rng.random()
        device = {name: self.device_p50_s * shift * at for name, at in _P50_SPREAD.items()}
        total = {name: value + self.overhead_s for name, value in device.items()}
        return {"total_latency": total, "device_latency": device}


@dataclass(frozen=True, slots=True)
class SimulatedRuntime:
    """
    One process with Neuron cores.

    Attributes:
        pid: Its process id.

        tag: `neuron_runtime_tag`.

        held: Cores with its models and bytes on them.

        busy: The held cores that execute.

        load: Its work.
    """

    pid: int
    tag: str
    held: tuple[int, ...]
    busy: tuple[int, ...]
    load: Load


class SimulatedInstance:
    """
    The instance.

    Attributes:
        host: The host model.

        scenario: The scenario that it plays.

        instance_id: Its ID; derived from the other arguments unless set.
    """

    def __init__(
        self, instance_type: str, scenario: str, seed: int, instance_id: str | None = None
    ) -> None:
        self.host = host(instance_type)
        self.scenario = SCENARIOS[scenario]
        self._seed = f"{instance_type}/{scenario}/{seed}"
        digest = hashlib.sha256(self._seed.encode()).hexdigest()
        self.instance_id = f"i-0{digest[:16]}" if instance_id is None else instance_id
        self._digest = digest
        first_pid = 2_000 + int(digest[:8], 16) % 30_000
        self.runtimes = tuple(
            SimulatedRuntime(
                pid=first_pid + 3 * index,
                tag=self.scenario.tag or str(first_pid + 3 * index),
                held=tuple(share.held),
                busy=tuple(share.busy),
                load=Load(self.scenario, tuple(share.busy), f"{self._seed}/load {index}"),
            )
            for index, share in enumerate(self.scenario.shares(self.cores))
        )

    @property
    def cores(self) -> int:
        """The number of logical cores."""
        return self.host.hardware.cores

    def rng(self, what: str) -> random.Random:
        """Return a generator that depends only on the instance and on *what*."""
        return random.Random(f"{self._seed}/{what}")

    def percents(
        self, runtime: SimulatedRuntime, number: int, rng: random.Random
    ) -> dict[int, float]:
        """Return the utilization of the cores that *runtime* used in report *number*, from 0."""
        if number == 0:
            # The first sample covers milliseconds: an execution either fills it or misses it.
            return {core: 100 * rng.random() for core in runtime.busy}
        return runtime.load.percents(number, rng)

    def identity_block(self) -> dict[str, object]:
        """Return the report's `instance_info`."""
        zone = int(self._digest[8], 16) % 4
        block: dict[str, object] = {
            "instance_name": "",
            "instance_id": self.instance_id,
            "instance_type": self.host.hardware.name,
            "instance_availability_zone": f"{SIMULATED_REGION}{'abcd'[zone]}",
            "instance_availability_zone_id": f"usw2-az{zone + 1}",
            "instance_region": SIMULATED_REGION,
            "ami_id": f"ami-0{self._digest[16:32]}",
            "subnet_id": f"subnet-0{self._digest[32:48]}",
        }
        if self.host.hardware.name.startswith("trn2u."):
            block["ultraserver_id"] = f"u-0{self._digest[48:63]}"
        block["error"] = ""
        return block
