"""
What is going on on an instance: who holds which cores, how hard they work, how it ends.

`multi-runtime`, `many-runtimes`, `errors` and `ecc` repeat what was captured on
hardware; `faulty` and the endings repeat what users reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Ending = Literal["never", "dies", "hangs"]


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
        meaning: For people, one line.

        shares: The runtimes, given the number of cores.

        low_percent: Lowest utilization of a busy core.

        high_percent: Highest utilization of a busy core.

        models_per_core: Models loaded on each held core.

        tag: Every runtime's tag, or None for the process id, which is what an unset one becomes.

        executions_fail: Whether some executions fail.

        ecc_rises: Whether the ECC counters rise.

        vcpu_error: Whether the runtimes' CPU cannot be read, as in a sidecar.

        counters_fail_every: Reports from one failure of the last runtime's counters to the
            next; 0 for never.

        ending: What becomes of the monitor itself.
    """

    meaning: str
    shares: Callable[[int], tuple[Share, ...]]
    low_percent: float = 55.0
    high_percent: float = 92.0
    models_per_core: int = 1
    tag: str | None = None
    executions_fail: bool = False
    ecc_rises: bool = False
    vcpu_error: bool = False
    counters_fail_every: int = 0
    ending: Ending = "never"


def _one_busy(cores: int) -> tuple[Share, ...]:
    return _busy(cores, 1)


def _one_idle(cores: int) -> tuple[Share, ...]:
    return (Share(range(cores), ()),)


def _half_idle(cores: int) -> tuple[Share, ...]:
    busy = cores // 2
    held = cores - (cores - busy) // 2
    return (Share(range(held), range(busy)),)


def _nobody(_cores: int) -> tuple[Share, ...]:
    return ()


def _parts(cores: int, most: int) -> list[range]:
    parts = min(most, cores)
    return [range(part * cores // parts, (part + 1) * cores // parts) for part in range(parts)]


def _four_last_idle(cores: int) -> tuple[Share, ...]:
    *working, last = _parts(cores, 4)
    return (*(Share(part, part) for part in working), Share(last, ()))


def _busy(cores: int, runtimes: int) -> tuple[Share, ...]:
    return tuple(Share(part, part) for part in _parts(cores, runtimes))


SCENARIOS: Final[dict[str, Scenario]] = {
    "busy": Scenario("one runtime, every core at 55 to 92 %", _one_busy),
    "low": Scenario(
        "one runtime, every core at 2 to 3.5 %, as live services run",
        _one_busy,
        low_percent=2.0,
        high_percent=3.5,
    ),
    "idle": Scenario("one runtime holds every core and executes nothing", _one_idle),
    "half-idle": Scenario(
        "half of the cores busy; of the rest half held (the greater half), half unattached",
        _half_idle,
    ),
    "empty": Scenario("no runtime at all", _nobody),
    "multi-runtime": Scenario(
        "four runtimes (one per core where there are fewer) that all have the tag 1 and list "
        "every core; the last one executes nothing; their CPU is in error",
        _four_last_idle,
        tag="1",
        vcpu_error=True,
    ),
    "many-runtimes": Scenario(
        "one runtime per core with 20 models each: the longest reports there are",
        lambda cores: _busy(cores, cores),
        models_per_core=20,
    ),
    "errors": Scenario(
        "busy, and some executions fail in every way", _one_busy, executions_fail=True
    ),
    "ecc": Scenario("busy, and the ECC counters rise (never on inf1)", _one_busy, ecc_rises=True),
    "faulty": Scenario(
        "two busy runtimes; the core counters of the second fail in every fifth report",
        lambda cores: _busy(cores, 2),
        counters_fail_every=5,
    ),
    "dies": Scenario("busy, and after some reports exit code 1", _one_busy, ending="dies"),
    "hangs": Scenario(
        "busy, and after some reports silence; takes no notice of SIGTERM",
        _one_busy,
        ending="hangs",
    ),
}
