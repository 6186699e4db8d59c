"""What a minute must come to: intervals, and how those of instances make a cluster's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

UTILIZATION: Final = "NeuronCoreUtilization"
UNKNOWN: Final = "UnknownCores"


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


Expected = Mapping[str, Interval]
"""What one minute of an instance or of a cluster must come to, by the metrics of a rollup."""

MISSING: Final = Interval(None, None)


def over(values: Sequence[float | None]) -> Interval:
    """All of *values*, None for missing."""
    told = [value for value in values if value is not None]
    return Interval(min(told), max(told), len(told) < len(values)) if told else MISSING


def merged(parts: Sequence[Expected]) -> Expected:
    """What a cluster's minute must come to, given those of its instances."""
    added = {name: _added([part[name] for part in parts]) for name in parts[0]}
    return {**added, UTILIZATION: _mean_over_cores(parts)}


def _mean_over_cores(parts: Sequence[Expected]) -> Interval:
    """
    The mean over all known cores.

    Exact while each instance knows the same number of cores in all readings;
    otherwise only bounded, by the least and the greatest of the instances.
    """
    known = [part for part in parts if part[UTILIZATION].lo is not None]
    if not known:
        return MISSING
    lows = [part[UTILIZATION].lo or 0.0 for part in known]
    highs = [part[UTILIZATION].hi or 0.0 for part in known]
    if any(part[UNKNOWN].lo != part[UNKNOWN].hi for part in known):
        return Interval(
            min(lows), max(highs), all(part[UTILIZATION].may_be_missing for part in known)
        )
    cores = [(part["NeuronCores"].lo or 0) - (part[UNKNOWN].lo or 0) for part in known]
    return Interval(
        sum(low * count for low, count in zip(lows, cores, strict=True)) / sum(cores),
        sum(high * count for high, count in zip(highs, cores, strict=True)) / sum(cores),
    )


def _added(parts: Sequence[Interval]) -> Interval:
    told = [part for part in parts if part.lo is not None]
    if not told:
        return MISSING
    return Interval(
        # A part that may be missing adds nothing then.
        sum(0.0 if part.may_be_missing else part.lo or 0.0 for part in told),
        sum(part.hi or 0.0 for part in told),
        may_be_missing=all(part.may_be_missing for part in told),
    )
