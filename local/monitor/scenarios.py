"""
What is going on on an instance: who holds which cores, and how hard they work.

`multi-runtime`, `many-runtimes`, `errors` and `ecc` repeat what was captured on hardware.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Share:
    """
    One runtime's part of an instance, cores counted from 0 on the instance.

    Attributes:
        held: Cores with its models and bytes on them.

        busy: Those of them that execute.
    """

    held: Sequence[int]
    busy: Sequence[int]


@dataclass(frozen=True, slots=True)
class Scenario:
    """
    One scenario.

    Attributes:
        shares: The runtimes, given the number of cores.

        low_percent: Lowest utilization of a busy core.

        high_percent: Highest utilization of a busy core.

        models_per_core: Models loaded on each held core.

        tag: Every runtime's tag, or None for the process id, which is what an unset one becomes.

        executions_fail: Whether some executions fail.

        ecc_rises: Whether the ECC counters rise.

        vcpu_error: Whether the runtimes' CPU cannot be read, as in a sidecar.
    """

    shares: Callable[[int], tuple[Share, ...]]
    low_percent: float = 55.0
    high_percent: float = 92.0
    models_per_core: int = 1
    tag: str | None = None
    executions_fail: bool = False
    ecc_rises: bool = False
    vcpu_error: bool = False


def _one_busy(cores: int) -> tuple[Share, ...]:
    return _busy(cores, 1)


def _one_idle(cores: int) -> tuple[Share, ...]:
    return (Share(range(cores), ()),)


def _half_idle(cores: int) -> tuple[Share, ...]:
    busy = cores // 2
    held = cores - (cores - busy) // 2
    return (Share(range(held), range(busy)),)


def _parts(cores: int, most: int) -> list[range]:
    parts = min(most, cores)
    return [range(part * cores // parts, (part + 1) * cores // parts) for part in range(parts)]


def _four_last_idle(cores: int) -> tuple[Share, ...]:
    *working, last = _parts(cores, 4)
    return (*(Share(part, part) for part in working), Share(last, ()))


def _busy(cores: int, runtimes: int) -> tuple[Share, ...]:
    return tuple(Share(part, part) for part in _parts(cores, runtimes))


SCENARIOS: Final[dict[str, Scenario]] = {
    "busy": Scenario(_one_busy),
    # As live services run.
    "low": Scenario(_one_busy, low_percent=2.0, high_percent=3.5),
    "idle": Scenario(_one_idle),
    "half-idle": Scenario(_half_idle),
    "empty": Scenario(lambda _cores: ()),
    # Runtimes that all have the tag 1 and list every core; their CPU is in error.
    "multi-runtime": Scenario(_four_last_idle, tag="1", vcpu_error=True),
    # The longest reports there are.
    "many-runtimes": Scenario(lambda cores: _busy(cores, cores), models_per_core=20),
    "errors": Scenario(_one_busy, executions_fail=True),
    "ecc": Scenario(_one_busy, ecc_rises=True),  # never on inf1
}
