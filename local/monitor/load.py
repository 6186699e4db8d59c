"""
How busy a core is at report n, and what its executions take.

Deterministic: the numbers follow from the instance type, the scenario, the seed
and the number of the report alone, so that two runs can be compared byte by
byte. The cores of one runtime rise and fall together, as those of one training
job do, with a little of their own.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from local.monitor.scenarios import Scenario

_SLOW_SHARE: Final = 0.5  # of the swing: a wave of many minutes, common to the runtime
_QUICK_SHARE: Final = 0.2  # a wave of a minute or two, common to the runtime
_OWN_SHARE: Final = 0.15  # how a core differs from its neighbours, for ever
_NOISE_SHARE: Final = 0.15  # from report to report; the four add up to 1

_P50_SPREAD: Final = {
    "p0": 0.72, "p1": 0.78, "p100": 1.9, "p25": 0.93, "p50": 1.0, "p75": 1.09, "p99": 1.45,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Waves:
    """The common rise and fall of one runtime's cores, cycles in reports."""

    slow_cycle: float
    slow_phase: float
    quick_cycle: float
    quick_phase: float

    def at(self, number: int) -> float:
        """Where the waves stand at report *number*, as a share of the whole swing."""
        slow = math.sin(2 * math.pi * (number / self.slow_cycle + self.slow_phase))
        quick = math.sin(2 * math.pi * (number / self.quick_cycle + self.quick_phase))
        return _SLOW_SHARE * slow + _QUICK_SHARE * quick


class Load:
    """
    The work of one runtime.

    Attributes:
        device_p50_s: Median time an execution takes on the device, seconds.

        overhead_s: What queueing and the host add to it, seconds.
    """

    def __init__(self, scenario: Scenario, busy: tuple[int, ...], seed: str) -> None:
        rng = random.Random(seed)
        self._middle = (scenario.low_percent + scenario.high_percent) / 2
        self._swing = (scenario.high_percent - scenario.low_percent) / 2
        self._waves = Waves(
            slow_cycle=120 + 360 * rng.random(),
            slow_phase=rng.random(),
            quick_cycle=13 + 18 * rng.random(),
            quick_phase=rng.random(),
        )
        self._own = {core: 2 * rng.random() - 1 for core in busy}
        self.device_p50_s = 0.004 + 0.026 * rng.random()
        self.overhead_s = 0.0002 + 0.002 * rng.random()

    def percents(self, number: int, rng: random.Random) -> dict[int, float]:
        """Utilization of each busy core in report *number*."""
        common = self._waves.at(number)
        return {
            core: self._middle
            + self._swing * (common + _OWN_SHARE * own + _NOISE_SHARE * (2 * rng.random() - 1))
            for core, own in self._own.items()
        }

    def executions(self, percents: dict[int, float], period_s: float) -> int:
        """Executions that this much work over this long comes to."""
        return int(sum(percents.values()) / 100 * period_s / self.device_p50_s)

    def latency_stats(self, ran: int, rng: random.Random) -> dict[str, object]:
        """The report's `latency_stats`; null, not zero, when nothing ran."""
        if not ran:
            return {"total_latency": None, "device_latency": None}
        shift = 0.97 + 0.06 * rng.random()
        device = {name: self.device_p50_s * shift * at for name, at in _P50_SPREAD.items()}
        total = {name: value + self.overhead_s for name, value in device.items()}
        return {"total_latency": total, "device_latency": device}
