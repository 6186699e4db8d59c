"""
The expected minute, computed from what the simulator wrote down.

Nothing here is shared with the emitter or the aggregator, and with the simulator
only the form of a line: the rules are written down a second time, as plainly as
possible, so that a comparison with a rollup means something.

A report written near a full minute may have been received before or after it, so every number is
an interval over all possible readings.
Utilization is not rounded, while a minute line rounds it to two decimals: a
comparison needs a tolerance of 0.01.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

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
    known = [value for value in values if value is not None]
    return Interval(min(known), max(known), len(known) < len(values)) if known else MISSING


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
    known = [part for part in parts if part.lo is not None]
    if not known:
        return MISSING
    return Interval(
        # A part that may be missing adds nothing then.
        sum(0.0 if part.may_be_missing else part.lo or 0.0 for part in known),
        sum(part.hi or 0.0 for part in known),
        may_be_missing=all(part.may_be_missing for part in known),
    )


MINUTE_MS: Final = 60_000
BUSY_FROM_PERCENT: Final = 1.0
SHORTEST_PERIOD_S: Final = 0.5  # below it percentages are noise; tallies are not
BELIEVED_PERIODS: Final = 2
ENDED: Final = ("completed", "completed_with_err", "completed_with_num_err")
FAILED: Final = (*ENDED[1:], "timed_out", "incorrect_input", "failed_to_queue")
CORRECTED: Final = ("mem_ecc_corrected", "sram_ecc_corrected")
UNCORRECTED: Final = ("mem_ecc_uncorrected", "sram_ecc_uncorrected")


class ReportTruth(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """
    What was produced: a line of a truth file, appended by one call after the report itself.

    Attributes:
        instance: Its id.

        nominal_s: The period asked for.

        at_ms: When the report had been written, ms since 1970.

        period_s: What its core counters cover, or, without a runtime, its system groups.

        runtimes: Entries in its list of runtimes.

        percents: Utilization by core.

        held: Whether each core is held.

        executions: What became of them, by ending; empty without a runtime.

        ecc_rises: New errors by counter since the report before.
    """

    instance: str
    cores: int
    nominal_s: float
    at_ms: int
    period_s: float
    runtimes: int
    percents: list[float]
    held: list[bool]
    executions: dict[str, int]
    ecc_rises: dict[str, int]


_Reports = list[ReportTruth]
"""Those of one minute, in one way in which they may have fallen into it."""


def read_truth(paths: Iterable[Path]) -> list[ReportTruth]:
    """
    Every whole line of the files; a last line that is still being written is left out.

    Raises:
        msgspec.ValidationError: If one is no such line.
    """
    return [
        msgspec.json.decode(line, type=ReportTruth)
        for path in paths
        for line in path.read_bytes().split(b"\n")[:-1]
    ]


def expected_minutes(
    reports: Iterable[ReportTruth], *, margin_ms: int = 0
) -> dict[tuple[str, int], Expected]:
    """
    What each instance's minutes must come to.

    Args:
        reports: In any order.

        margin_ms: A report written less than this from a full minute may be in either minute.
            0 for a replay, whose times are exact.

    Returns:
        By instance and start of the minute, ms since 1970.
    """
    by_instance: dict[str, list[ReportTruth]] = {}
    for report in sorted(reports, key=lambda report: report.at_ms):
        by_instance.setdefault(report.instance, []).append(report)
    return {
        (instance, minute_ms): _expected(readings, rows[0].cores)
        for instance, rows in by_instance.items()
        for minute_ms, readings in _readings(rows, margin_ms).items()
    }


def expected_rollups(
    minutes: Mapping[tuple[str, int], Expected], cluster_of: Mapping[str, str]
) -> dict[tuple[str, int], Expected]:
    """What each cluster's minutes must come to, by cluster and start of the minute."""
    parts: dict[tuple[str, int], list[Expected]] = {}
    for (instance, minute_ms), expected in minutes.items():
        parts.setdefault((cluster_of[instance], minute_ms), []).append(expected)
    return {key: merged(found) for key, found in parts.items()}


def _readings(rows: Sequence[ReportTruth], margin_ms: int) -> dict[int, list[_Reports]]:
    """All readings of each minute of one instance. Reports never overtake each other."""
    inside: dict[int, list[ReportTruth]] = {}
    at_boundary: dict[int, list[ReportTruth]] = {}
    for row in rows:
        boundary_ms = (row.at_ms + MINUTE_MS // 2) // MINUTE_MS * MINUTE_MS
        if abs(row.at_ms - boundary_ms) < margin_ms:
            at_boundary.setdefault(boundary_ms, []).append(row)
        else:
            inside.setdefault(row.at_ms // MINUTE_MS * MINUTE_MS, []).append(row)
    minutes = {*inside, *at_boundary, *(boundary_ms - MINUTE_MS for boundary_ms in at_boundary)}
    readings: dict[int, list[_Reports]] = {}
    for minute_ms in sorted(minutes):
        before = at_boundary.get(minute_ms, [])
        after = at_boundary.get(minute_ms + MINUTE_MS, [])
        middle = inside.get(minute_ms, [])
        readings[minute_ms] = [
            [*before[first:], *middle, *after[:last]]
            for first in range(len(before) + 1)
            for last in range(len(after) + 1)
        ]
    return readings


def _expected(readings: Sequence[_Reports], cores: int) -> Expected:
    outcomes = [_outcome(rows, cores) for rows in readings]
    if any(rows and not any(row.runtimes for row in rows) for rows in readings):
        # Whether the reader knows that executions are collected is not written down.
        outcomes.append({**outcomes[0], "Executions": 0, "ExecutionErrors": 0})
    return {
        "Instances": Interval(1, 1),
        "NeuronCores": Interval(cores, cores),
        **{name: over([outcome[name] for outcome in outcomes]) for name in outcomes[0]},
    }


def _outcome(rows: _Reports, cores: int) -> dict[str, float | None]:
    """What one reading of a minute comes to, by the metrics of a rollup."""
    covers_s = [_covers_s(row) for row in rows]
    means = [
        sum(row.percents[core] * weight for row, weight in zip(rows, covers_s, strict=True))
        / sum(covers_s)
        for core in range(cores if any(covers_s) else 0)
    ]
    idle = [core for core, mean in enumerate(means) if mean < BUSY_FROM_PERCENT]
    attached = [core for core in idle if rows[-1].held[core] or means[core] > 0]
    executions = [row.executions for row in rows if row.runtimes]
    rises = [row.ecc_rises for row in rows]
    return {
        "BusyCores": len(means) - len(idle),
        "AttachedIdleCores": len(attached),
        "UnattachedCores": len(idle) - len(attached),
        "UnknownCores": cores - len(means),
        "NeuronCoreUtilization": sum(means) / len(means) if means else None,
        "Executions": _sum(executions, ENDED),
        "ExecutionErrors": _sum(executions, FAILED),
        "EccCorrectedRise": _sum(rises, CORRECTED),
        "EccUncorrectedRise": _sum(rises, UNCORRECTED),
        "Reports": len(rows),
    }


def _covers_s(row: ReportTruth) -> float:
    """How much a report's percentages weigh in the mean of its minute."""
    if row.period_s < SHORTEST_PERIOD_S:
        return 0.0
    # All values of an empty list are 0, so how long it covers does not matter.
    return min(row.period_s, BELIEVED_PERIODS * row.nominal_s) if row.runtimes else 1.0


def _sum(rows: Sequence[Mapping[str, int]], names: Sequence[str]) -> int | None:
    return sum(row[name] for row in rows for name in names) if rows else None
