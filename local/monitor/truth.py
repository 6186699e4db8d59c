"""
What a minute must come to, by what the simulator says it produced.

Nothing here is shared with the emitter or the aggregator, and with the simulator
only the form of a line: the rules are written down a second time, as plainly as
possible, so that a comparison with a rollup means something.

Whether a report that was written near a full minute was received before or
after it, nobody knows: every number is an interval over all possible readings.
Utilization is not rounded, while a minute line rounds it to two decimals: a
comparison needs a tolerance of 0.01.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from local.monitor.intervals import Expected, Interval, merged, over

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

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

    @property
    def is_long(self) -> bool:
        """Whether its percentages mean something."""
        return self.period_s >= SHORTEST_PERIOD_S


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
    for report in sorted(reports, key=lambda one: one.at_ms):
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


class _Reading(NamedTuple):
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
    restarted = any(not row.runtimes and not row.is_long and row is not very_first for row in rows)
    return (False, True) if restarted else (False,)


def _expected(readings: Sequence[_Reading], cores: int) -> Expected:
    outcomes = [_outcome(reading, cores) for reading in readings]
    if any(reading.rows and not _has_runtimes(reading) for reading in readings):
        # Whether the reader knows that executions are collected is not written down.
        outcomes.append({**outcomes[0], "Executions": 0, "ExecutionErrors": 0})
    return {
        "Instances": Interval(1, 1),
        "NeuronCores": Interval(cores, cores),
        **{name: over([one[name] for one in outcomes]) for name in outcomes[0]},
    }


def _has_runtimes(reading: _Reading) -> bool:
    return any(row.runtimes for row in reading.rows)


def _outcome(reading: _Reading, cores: int) -> dict[str, float | None]:
    """What one reading of a minute comes to, by the metrics of a rollup."""
    rows = reading.rows
    covers_s = [_covers_s(row, believes_short_lists=reading.believes_short_lists) for row in rows]
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


def _covers_s(row: ReportTruth, *, believes_short_lists: bool) -> float:
    """How much a report's percentages weigh in the mean of its minute."""
    if not row.runtimes:
        # An empty list covers the time since the last report, whatever that
        # is; all its values are 0, so how long does not matter.
        return 1.0 if row.is_long or believes_short_lists else 0.0
    return min(row.period_s, BELIEVED_PERIODS * row.nominal_s) if row.is_long else 0.0


def _sum(rows: Sequence[Mapping[str, int]], names: Sequence[str]) -> int | None:
    return sum(row[name] for row in rows for name in names) if rows else None
