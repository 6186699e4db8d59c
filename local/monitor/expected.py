"""What a minute must come to: intervals, and how those of instances make a cluster's."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Interval:
    """
    All values that a number may rightly have.

    Attributes:
        lo: The least; None when it must be missing.

        hi: The greatest; None when it must be missing.

        may_be_missing: Whether it may also be missing.
    """

    lo: float | None
    hi: float | None
    may_be_missing: bool = False

    def admits(self, value: float | None, tolerance: float = 0.0) -> bool:
        """Whether *value* (None: missing) is right, give or take *tolerance*."""
        if value is None or self.lo is None or self.hi is None:
            return value is None and (self.lo is None or self.may_be_missing)
        return self.lo - tolerance <= value <= self.hi + tolerance


@dataclass(frozen=True, slots=True)
class Expected:
    """
    What one minute of an instance or of a cluster must come to.

    Attributes:
        instances: Instances in it.

        neuron_cores: Cores that exist.

        busy_cores: Cores at or above the busy limit.

        attached_idle_cores: Cores below it that are held.

        unattached_cores: Cores below it that nobody holds.

        unknown_cores: Cores without a sample.

        utilization_percent: Mean over the known cores of their period-weighted means.

        executions: Executions that ended.

        execution_errors: Executions that failed.

        ecc_corrected_rise: New corrected errors.

        ecc_uncorrected_rise: New uncorrectable errors.

        reports: Reports in it.
    """

    instances: int
    neuron_cores: int
    busy_cores: Interval
    attached_idle_cores: Interval
    unattached_cores: Interval
    unknown_cores: Interval
    utilization_percent: Interval
    executions: Interval
    execution_errors: Interval
    ecc_corrected_rise: Interval
    ecc_uncorrected_rise: Interval
    reports: Interval


_NOT_ADDED: Final = frozenset({"instances", "neuron_cores", "utilization_percent"})


def over(values: Sequence[float | None]) -> Interval:
    """All of *values*, None for missing."""
    told = [value for value in values if value is not None]
    if not told:
        return Interval(None, None)
    return Interval(min(told), max(told), may_be_missing=len(told) < len(values))


def merged(parts: Sequence[Expected]) -> Expected:
    """What a cluster's minute must come to, given those of its instances."""
    names = {one.name for one in fields(Expected)} - _NOT_ADDED
    added = {name: _added([getattr(part, name) for part in parts]) for name in names}
    return Expected(
        instances=sum(part.instances for part in parts),
        neuron_cores=sum(part.neuron_cores for part in parts),
        utilization_percent=_mean_over_cores(parts),
        **added,
    )


def _mean_over_cores(parts: Sequence[Expected]) -> Interval:
    """
    The mean over all known cores.

    Exact while each instance knows the same number of cores in all readings;
    otherwise only bounded, by the least and the greatest of the instances.
    """
    bounds = [
        (lo, hi, part)
        for part in parts
        for lo, hi in [(part.utilization_percent.lo, part.utilization_percent.hi)]
        if lo is not None and hi is not None
    ]
    if not bounds:
        return Interval(None, None)
    if all(part.unknown_cores.lo == part.unknown_cores.hi for _, _, part in bounds):
        known = [part.neuron_cores - (part.unknown_cores.lo or 0) for _, _, part in bounds]
        return Interval(
            sum(lo * count for (lo, _, _), count in zip(bounds, known, strict=True)) / sum(known),
            sum(hi * count for (_, hi, _), count in zip(bounds, known, strict=True)) / sum(known),
        )
    return Interval(
        min(lo for lo, _, _ in bounds),
        max(hi for _, hi, _ in bounds),
        may_be_missing=all(part.utilization_percent.may_be_missing for _, _, part in bounds),
    )


def _added(parts: Sequence[Interval]) -> Interval:
    told = [part for part in parts if part.lo is not None]
    if not told:
        return Interval(None, None)
    return Interval(
        # A part that may be missing adds nothing then.
        sum(0.0 if part.may_be_missing else part.lo or 0.0 for part in told),
        sum(part.hi or 0.0 for part in told),
        may_be_missing=all(part.may_be_missing for part in told),
    )
