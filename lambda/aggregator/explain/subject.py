"""
What an alarm can be about.

Told from the metric that the alarm watches, never from its name: CloudFormation
makes that up, and people rename alarms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aggregator.storage.values import LastRollup


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

        costs: Whether idle cores, and so what they cost, are part of it.
    """

    metric: str
    title: str
    about: LastRollup
    anchor: str
    costs: bool = False


IDLE_CORES: Final = AlarmSubject(
    "IdleCorePercent", "idle cores", "minute", "idle-cores", costs=True
)
IDLE_COST: Final = AlarmSubject(
    "IdleCostPerHour", "cost of idle cores", "minute", "idle-cost", costs=True
)
UTILIZATION: Final = AlarmSubject(
    "NeuronCoreUtilization", "low utilization", "minute", "low-utilization", costs=True
)
SILENCE: Final = AlarmSubject("SilentInstances", "silent instances", "minute", "silent-instances")
ECC: Final = AlarmSubject(
    "EccUncorrectedRise", "uncorrectable memory errors", "hardware", "ecc-errors"
)
FAULTS: Final = AlarmSubject("HardwareFaults", "hardware faults", "hardware", "hardware-faults")
ERRORS: Final = AlarmSubject("ExecutionErrors", "failed executions", "errors", "execution-errors")

SUBJECTS: Final = {
    one.metric: one for one in (IDLE_CORES, IDLE_COST, UTILIZATION, SILENCE, ECC, FAULTS, ERRORS)
}


def subject_of(metrics: Iterable[str]) -> AlarmSubject | None:
    """The first of *metrics* that we know something about."""
    return next((SUBJECTS[one] for one in metrics if one in SUBJECTS), None)
