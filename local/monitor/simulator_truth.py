"""
The expected minute, computed from the simulator's records.

It shares no code with the emitter or the aggregator, and only the form of a line with the
simulator: the rules are written a second time, as plainly as possible, so that a comparison with a
rollup is meaningful. Utilization is not rounded, while a minute line rounds it to two decimals: a
comparison needs a tolerance of 0.01.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

UTILIZATION_MEMBER: Final = "NeuronCoreUtilization"

Expected = Mapping[str, float | None]
"""
The expected values of one minute of an instance or a cluster, by the metrics of a rollup.

None is missing.
"""


WITHOUT_RUNTIME: Final = ("Executions", "ExecutionErrors")
BUSY_FROM_PERCENT: Final = 1.0
SHORTEST_PERIOD_S: Final = 0.5  # below it percentages are noise; tallies are not
BELIEVED_PERIODS: Final = 2
ENDED_COUNTS: Final = ("completed", "completed_with_err", "completed_with_num_err")
FAILED_COUNTS: Final = (*ENDED_COUNTS[1:], "timed_out", "incorrect_input", "failed_to_queue")


class ReportTruth(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """
    The true values of a report: a line of a truth file, written in one call after the report.

    Attributes:
        instance: The instance ID.

        nominal_s: The requested period.

        at_ms: When the report had been written, ms since 1970.

        period_s: The seconds that its core counters cover, or, without a runtime, its system
            groups.

        runtimes: The number of entries in its list of runtimes.

        percents: Utilization by core.

        held: True for each core that is held.

        executions: Their number by ending; empty without a runtime.
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


def read_truth(paths: Iterable[Path]) -> list[ReportTruth]:
    """
    Return every complete line of the files; a last line that is being written is omitted.

    Raises:
        msgspec.ValidationError: If a line has another form.
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
    Return the expected minutes of each instance.

    Args:
        reports: The reports, in any order.

        margin_ms: A report written less than this from a full minute may have been received on
            either side: both minutes are left out for every instance. 0 for a replay, whose times
            are exact.

    Returns:
        By instance and start of the minute, ms since 1970.
    """
    minutes: dict[tuple[str, int], list[ReportTruth]] = {}
    uncertain: set[int] = set()
    for report in sorted(reports, key=lambda report: report.at_ms):
        minute_ms = report.at_ms // MINUTE_MS * MINUTE_MS
        minutes.setdefault((report.instance, minute_ms), []).append(report)
        full_ms = (report.at_ms + MINUTE_MS // 2) // MINUTE_MS * MINUTE_MS
        if abs(report.at_ms - full_ms) < margin_ms:
            uncertain |= {full_ms - MINUTE_MS, full_ms}
    return {key: _expected(rows) for key, rows in minutes.items() if key[1] not in uncertain}


def expected_rollups(
    minutes: Mapping[tuple[str, int], Expected], cluster_of: Mapping[str, str]
) -> dict[tuple[str, int], Expected]:
    """Return the expected minutes of each cluster, by cluster and start of the minute."""
    parts: dict[tuple[str, int], list[Expected]] = {}
    for (instance, minute_ms), expected in minutes.items():
        parts.setdefault((cluster_of[instance], minute_ms), []).append(expected)
    return {key: merged(found) for key, found in parts.items()}


def merged(parts: Sequence[Expected]) -> Expected:
    """Return a cluster's expected minute from those of its instances."""
    sums = {name: _sum_known([part[name] for part in parts]) for name in parts[0]}
    cores = [(part["NeuronCores"] or 0) - (part["UnknownCores"] or 0) for part in parts]
    total = sum(
        (part[UTILIZATION_MEMBER] or 0) * count for part, count in zip(parts, cores, strict=True)
    )
    return {**sums, UTILIZATION_MEMBER: total / sum(cores) if any(cores) else None}


def _sum_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _expected(rows: Sequence[ReportTruth]) -> Expected:
    """Return the expected values of one instance and minute, by the metrics of a rollup."""
    cores = rows[0].cores
    covers_s = [_covers_s(row) for row in rows]
    means = [
        sum(row.percents[core] * weight for row, weight in zip(rows, covers_s, strict=True))
        / sum(covers_s)
        for core in range(cores if any(covers_s) else 0)
    ]
    idle = [core for core, mean in enumerate(means) if mean < BUSY_FROM_PERCENT]
    attached = [core for core in idle if rows[-1].held[core] or means[core] > 0]
    executions = [row.executions for row in rows if row.runtimes]
    return {
        "Instances": 1,
        "NeuronCores": cores,
        "BusyCores": len(means) - len(idle),
        "AttachedIdleCores": len(attached),
        "UnattachedCores": len(idle) - len(attached),
        "UnknownCores": cores - len(means),
        UTILIZATION_MEMBER: sum(means) / len(means) if means else None,
        "Executions": _sum(executions, ENDED_COUNTS),
        "ExecutionErrors": _sum(executions, FAILED_COUNTS),
        "EccCorrectedRise": 0,
        "EccUncorrectedRise": 0,
        "Reports": len(rows),
    }


def is_right(name: str, expected: float | None, found: float | None, tolerance: float) -> bool:
    """Return True if *found* (None: missing) is right for metric *name*, within *tolerance*."""
    if expected is None or found is None:
        # Without a runtime the truth does not show whether the reader knows of 0 executions.
        return expected is None and (found is None or (name in WITHOUT_RUNTIME and found == 0))
    return abs(found - expected) <= (tolerance if name == UTILIZATION_MEMBER else 0.0)


def _covers_s(row: ReportTruth) -> float:
    """Return the weight of a report's percentages in the mean of its minute."""
    if row.period_s < SHORTEST_PERIOD_S:
        return 0.0
    # All values of an empty list are 0, so its covered time does not matter.
    return min(row.period_s, BELIEVED_PERIODS * row.nominal_s) if row.runtimes else 1.0


def _sum(rows: Sequence[Mapping[str, int]], names: Sequence[str]) -> int | None:
    return sum(row[name] for row in rows for name in names) if rows else None
