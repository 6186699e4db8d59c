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

    from aggregator.storage.table import Telling


@dataclass(frozen=True, slots=True)
class Subject:
    """
    One thing that alarms are about.

    Attributes:
        metric: The metric of the rollups that they watch.

        title: The same in words.

        about: Which kept rollup tells of it. A minute with memory errors is
            over when its alarm rings, and the next one shows none.

        anchor: Its heading in the runbook.

        costs: Whether idle cores, and so what they cost, are part of it.
    """

    metric: str
    title: str
    about: Telling
    anchor: str
    costs: bool = False


IDLE_CORES: Final = Subject("IdleCorePercent", "idle cores", "minute", "idle-cores", costs=True)
IDLE_COST: Final = Subject(
    "IdleCostPerHour", "cost of idle cores", "minute", "idle-cost", costs=True
)
UTILIZATION: Final = Subject(
    "NeuronCoreUtilization", "low utilization", "minute", "low-utilization", costs=True
)
SILENCE: Final = Subject("SilentInstances", "silent instances", "minute", "silent-instances")
ECC: Final = Subject("EccUncorrectedRise", "uncorrectable memory errors", "ecc", "ecc-errors")
FAULTS: Final = Subject("HardwareFaults", "hardware faults", "faults", "hardware-faults")
ERRORS: Final = Subject("ExecutionErrors", "failed executions", "errors", "execution-errors")

SUBJECTS: Final = {
    one.metric: one for one in (IDLE_CORES, IDLE_COST, UTILIZATION, SILENCE, ECC, FAULTS, ERRORS)
}


def subject_of(metrics: Iterable[str]) -> Subject | None:
    """The first of *metrics* that we know something about."""
    return next((SUBJECTS[one] for one in metrics if one in SUBJECTS), None)
