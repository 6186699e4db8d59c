"""
What a minute must come to, by what the simulator says it produced.

Nothing here is shared with the emitter, the aggregator or the simulator itself:
the rules are written down a second time, as plainly as possible, so that a
comparison with a rollup means something.

Whether a report that was written near a full minute was received before or
after it, nobody knows: every number is an interval over all possible readings.
Utilization is not rounded, while a minute line rounds it to two decimals: a
comparison needs a tolerance of 0.01.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from local.monitor.expected import Expected, Interval, merged, over
from local.monitor.truth_lines import ReportTruth, parse_truth, read_truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "Expected",
    "Interval",
    "ReportTruth",
    "expected_minutes",
    "expected_rollups",
    "parse_truth",
    "read_truth",
]

MINUTE_MS: Final = 60_000
SHORTEST_PERIOD_S: Final = 0.5  # below it percentages are noise; tallies are not
BELIEVED_PERIODS: Final = 2
ENDED: Final = ("completed", "completed_with_err", "completed_with_num_err")
FAILED: Final = (*ENDED[1:], "timed_out", "incorrect_input", "failed_to_queue")
CORRECTED: Final = ("mem_ecc_corrected", "sram_ecc_corrected")
UNCORRECTED: Final = ("mem_ecc_uncorrected", "sram_ecc_uncorrected")


def expected_minutes(
    reports: Iterable[ReportTruth], *, margin_ms: int = 0, busy_from_percent: float = 1.0
) -> dict[tuple[str, int], Expected]:
    """
    What each instance's minutes must come to.

    Args:
        reports: In any order.

        margin_ms: A report written less than this from a full minute may be in either minute.
            0 for a replay, whose times are exact.

        busy_from_percent: Utilization from which a core is busy.

    Returns:
        By instance and start of the minute, ms since 1970.
    """
    by_instance: dict[str, list[ReportTruth]] = {}
    for report in sorted(reports, key=lambda one: one.at_ms):
        by_instance.setdefault(report.instance, []).append(report)
    return {
        (instance, minute_ms): _expected(readings, rows[0].cores, busy_from_percent)
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


@dataclass(frozen=True, slots=True)
class _Reading:
    """
    One way in which reports may have fallen into a minute.

    Attributes:
        rows: The reports.

        believes_short_lists: Whether an empty list after a start counts: it does for a reader
            that was there before.
    """

    rows: Sequence[ReportTruth]
    believes_short_lists: bool


def _readings(rows: Sequence[ReportTruth], margin_ms: int) -> dict[int, list[_Reading]]:
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
    readings: dict[int, list[_Reading]] = {}
    for minute_ms in sorted(minutes):
        before = at_boundary.get(minute_ms, [])
        after = at_boundary.get(minute_ms + MINUTE_MS, [])
        middle = inside.get(minute_ms, [])
        readings[minute_ms] = [
            _Reading([*before[first:], *middle, *after[:last]], believes)
            for first in range(len(before) + 1)
            for last in range(len(after) + 1)
            for believes in _beliefs([*before, *middle, *after], rows[0])
        ]
    return readings


def _beliefs(rows: Sequence[ReportTruth], very_first: ReportTruth) -> tuple[bool, ...]:
    restarted = any(
        row.runtimes == 0 and not _is_long(row.period_s) and row is not very_first for row in rows
    )
    return (False, True) if restarted else (False,)


def _expected(readings: Sequence[_Reading], cores: int, busy_from_percent: float) -> Expected:
    outcomes = [_outcome(reading, cores, busy_from_percent) for reading in readings]
    # Whether the reader knows that executions are collected is not written down.
    nobody = [one for one, reading in zip(outcomes, readings, strict=True) if _is_empty(reading)]
    outcomes += [{**one, "executions": 0, "execution_errors": 0} for one in nobody]
    numbers = {name: over([one[name] for one in outcomes]) for name in outcomes[0]}
    return Expected(instances=1, neuron_cores=cores, **numbers)


def _is_empty(reading: _Reading) -> bool:
    """Whether no runtime was there to execute anything."""
    return {row.runtimes for row in reading.rows} in ({0}, {0, None})


def _outcome(reading: _Reading, cores: int, busy_from_percent: float) -> dict[str, float | None]:
    """What one reading of a minute comes to, by the names of `Expected`."""
    letters = []
    means = []
    held = _held(reading.rows, cores)
    for core in range(cores):
        mean = _mean(reading, core)
        if mean is None:
            letters.append("unknown")
            continue
        means.append(mean)
        if mean >= busy_from_percent:
            letters.append("busy")
        else:
            letters.append("attached" if held[core] or mean > 0 else "unattached")
    tallies = [row.executions for row in reading.rows if row.executions is not None]
    rises = [row.ecc_rises for row in reading.rows if row.ecc_rises is not None]
    return {
        "busy_cores": letters.count("busy"),
        "attached_idle_cores": letters.count("attached"),
        "unattached_cores": letters.count("unattached"),
        "unknown_cores": letters.count("unknown"),
        "utilization_percent": sum(means) / len(means) if means else None,
        "executions": _sum(tallies, ENDED),
        "execution_errors": _sum(tallies, FAILED),
        "ecc_corrected_rise": _sum(rises, CORRECTED),
        "ecc_uncorrected_rise": _sum(rises, UNCORRECTED),
        "reports": len(reading.rows),
    }


def _mean(reading: _Reading, core: int) -> float | None:
    """One core's mean over the reports that tell about it, each as long as it covers."""
    weighted = weight = 0.0
    for row in reading.rows:
        percent = None if row.percents is None else row.percents[core]
        if percent is None:
            continue
        if row.runtimes == 0:
            # An empty list covers the time since the last report, whatever that
            # is; all its values are 0, so how long does not matter.
            covers_s = 1.0 if _is_long(row.period_s) or reading.believes_short_lists else 0.0
        elif row.period_s is not None and _is_long(row.period_s):
            longest_s = BELIEVED_PERIODS * (row.nominal_s or row.period_s)
            covers_s = min(row.period_s, longest_s)
        else:
            covers_s = 0.0
        weight += covers_s
        weighted += covers_s * percent
    return weighted / weight if weight > 0 else None


def _held(rows: Sequence[ReportTruth], cores: int) -> Sequence[bool]:
    """
    Who was held, by the last report that tells.

    Where no report tells, a runtime counts as holding all that it lists, and it lists all.
    """
    for row in reversed(rows):
        if row.held is not None:
            return row.held
    return [any(row.percents is not None for row in rows)] * cores


def _sum(rows: Sequence[Mapping[str, int]], names: Sequence[str]) -> int | None:
    return sum(row[name] for row in rows for name in names) if rows else None


def _is_long(period_s: float | None) -> bool:
    return period_s is not None and period_s >= SHORTEST_PERIOD_S
