"""
What an alarm can be about.

Told from the metric that the alarm watches, never from its name: CloudFormation
makes that up, and people rename alarms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aggregator.storage.values import LastRollup

_IDLE: Final = ("IdleCorePercent", "IdleCostPerHour", "NeuronCoreUtilization")


@dataclass(frozen=True, slots=True)
class AlarmSubject:
    """
    One thing that alarms are about.

    Attributes:
        metric: The metric of the rollups that they watch.

        title: The same in words.

        about: Which kept rollup tells of it. A minute with memory errors is
            over when its alarm fires, and the next one shows none.

        anchor: Its heading in the runbook.

        tells: All metrics whose alarms a message about it tells; empty when only its own.
    """

    metric: str
    title: str
    about: LastRollup
    anchor: str
    tells: tuple[str, ...] = ()

    @property
    def is_idle(self) -> bool:
        """Whether it is one of those about cores that do nothing, which are told together."""
        return self.tells == _IDLE

    @property
    def kind(self) -> str:
        """What subscriptions filter by; one for those that are told together."""
        return IDLE_CORES.anchor if self.is_idle else self.anchor


IDLE_CORES: Final = AlarmSubject("IdleCorePercent", "idle cores", "minute", "idle-cores", _IDLE)
IDLE_COST: Final = AlarmSubject(
    "IdleCostPerHour", "cost of idle cores", "minute", "idle-cost", _IDLE
)
UTILIZATION: Final = AlarmSubject(
    "NeuronCoreUtilization", "low utilization", "minute", "low-utilization", _IDLE
)
SILENCE: Final = AlarmSubject("SilentInstances", "silent instances", "minute", "silent-instances")
HARDWARE: Final = AlarmSubject(
    "HardwareErrors", "hardware errors", "hardware", "hardware-errors",
    ("HardwareErrors", "EccUncorrectedRise", "HardwareFaults"),
)  # fmt: skip
ERRORS: Final = AlarmSubject("ExecutionErrors", "failed executions", "errors", "execution-errors")

SUBJECTS: Final = {
    one.metric: one for one in (IDLE_CORES, IDLE_COST, UTILIZATION, SILENCE, HARDWARE, ERRORS)
}
_KNOWN: Final = {
    **SUBJECTS,
    # Alarms of an earlier release, on their way during an upgrade, and the rollups it kept.
    "EccUncorrectedRise": replace(HARDWARE, about="ecc"),
    "HardwareFaults": replace(HARDWARE, about="faults"),
}


def subject_of(metrics: Iterable[str]) -> AlarmSubject | None:
    """The first of *metrics* that we know something about."""
    return next((_KNOWN[one] for one in metrics if one in _KNOWN), None)
