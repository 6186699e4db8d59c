"""
Minutes that nobody disturbed: the minute line against the reports that were produced.

What a minute must come to, by what the simulated monitor wrote down, is
`local.monitor.truth`'s to say, in intervals where nobody can know on which side
of a full minute a report was read. Over minutes in a row that uncertainty is
only at both ends: in between every report and every execution is in some line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from local.monitor.truth import Expected, Interval, expected_minutes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from local.monitor.truth import ReportTruth
    from neuron_wire import MinuteRecord

MINUTE_MS = 60_000
TOLERANCE_PERCENT = 0.05  # two decimals a core, and periods of some milliseconds more
ENDED = ("completed", "completed_with_err", "completed_with_num_err")
FAILED = (*ENDED[1:], "timed_out", "incorrect_input", "failed_to_queue")
Wrong = tuple[int, str, str, str]  # minute, what, expected, found


@dataclass(frozen=True)
class Undisturbed:
    """
    Minutes of one instance in which nothing was done to it, and what its monitor wrote.

    A minute is undisturbed when one emitter and one monitor ran from before it began
    until after it ended, and its host's clock was not moved. Delivery does not matter:
    a lost network, a late answer or a restart of the stack disturb no minute.

    Attributes:
        instance_id: The instance.

        reports: What one run of its monitor says it wrote, `local.monitor.truth.read_truth`;
            all of that run's, also those outside of the minutes.

        minutes_ms: Starts of the undisturbed minutes, ms since the epoch.

        margin_ms: A report written less than this from a full minute may be in either;
            of the host's clock, so it grows with its speed. Less than 30,000.
    """

    instance_id: str
    reports: Sequence[ReportTruth]
    minutes_ms: Collection[int]
    margin_ms: int = 15_000


def against_reports(one: Undisturbed, records: Sequence[MinuteRecord]) -> Iterator[Wrong]:
    """Where the records of these minutes do not say what was produced."""
    expected = expected_minutes(one.reports, margin_ms=one.margin_ms)
    by_minute: dict[int, list[MinuteRecord]] = {}
    for record in records:
        if record.instance_id == one.instance_id:
            by_minute.setdefault(record.minute_ms, []).append(record)
    told: dict[int, MinuteRecord] = {}
    for minute_ms in sorted(one.minutes_ms):
        found = by_minute.get(minute_ms, [])
        wanted = expected.get((one.instance_id, minute_ms))
        if len(found) != 1 or wanted is None:
            produced = "no report" if wanted is None else "one record"
            yield minute_ms, "undisturbed minute", produced, f"{len(found)} records"
            continue
        told[minute_ms] = found[0]
        yield from _minute(found[0], wanted)
    for stretch in _stretches(sorted(told)):
        yield from _in_a_row([told[minute_ms] for minute_ms in stretch], one)


def _minute(record: MinuteRecord, wanted: Expected) -> Iterator[Wrong]:
    percents = [percent for percent in record.utilization_percent if percent is not None]
    mean = sum(percents) / len(percents) if percents else None
    state = record.core_state
    for what, interval, value, tolerance in (
        ("NeuronCores", Interval(wanted.neuron_cores, wanted.neuron_cores), len(state), 0.0),
        ("BusyCores", wanted.busy_cores, state.count("b"), 0.0),
        ("AttachedIdleCores", wanted.attached_idle_cores, state.count("a"), 0.0),
        ("UnattachedCores", wanted.unattached_cores, state.count("u"), 0.0),
        ("UnknownCores", wanted.unknown_cores, state.count("?"), 0.0),
        ("NeuronCoreUtilization", wanted.utilization_percent, mean, TOLERANCE_PERCENT),
        ("Executions", wanted.executions, record.executions, 0.0),
        ("ExecutionErrors", wanted.execution_errors, record.execution_errors, 0.0),
        ("EccCorrectedRise", wanted.ecc_corrected_rise, record.ecc_corrected_rise, 0.0),
        ("EccUncorrectedRise", wanted.ecc_uncorrected_rise, record.ecc_uncorrected_rise, 0.0),
        ("Reports", wanted.reports, record.reports, 0.0),
    ):
        if not interval.admits(value, tolerance):
            yield record.minute_ms, what, _said(interval), _number(value)


def _stretches(minutes_ms: Sequence[int]) -> Iterator[list[int]]:
    """Minutes in a row."""
    stretch: list[int] = []
    for minute_ms in minutes_ms:
        if stretch and minute_ms != stretch[-1] + MINUTE_MS:
            yield stretch
            stretch = []
        stretch.append(minute_ms)
    if stretch:
        yield stretch


def _in_a_row(records: Sequence[MinuteRecord], one: Undisturbed) -> Iterator[Wrong]:
    begin_ms, end_ms = records[0].minute_ms, records[-1].minute_ms + MINUTE_MS
    surely, perhaps = [
        [report for report in one.reports if begin_ms + room <= report.at_ms < end_ms - room]
        for room in (one.margin_ms, -one.margin_ms)
    ]
    amounts: Mapping[str, tuple[Callable[[ReportTruth], int], Callable[[MinuteRecord], int]]] = {
        "Reports": (lambda _: 1, lambda one: one.reports),
        "Executions": (lambda one: _sum(one, ENDED), lambda one: one.executions or 0),
        "ExecutionErrors": (lambda one: _sum(one, FAILED), lambda one: one.execution_errors or 0),
    }
    for what, (produced, told) in amounts.items():
        interval = Interval(sum(map(produced, surely)), sum(map(produced, perhaps)))
        total = sum(map(told, records))
        if not interval.admits(total):
            what_all = f"{what} of {len(records)} minutes"
            yield begin_ms, what_all, _said(interval), _number(total)


def _sum(report: ReportTruth, endings: Sequence[str]) -> int:
    return 0 if report.executions is None else sum(report.executions[one] for one in endings)


def _said(interval: Interval) -> str:
    if interval.lo is None or interval.lo == interval.hi:
        return _number(interval.lo)
    return f"{_number(interval.lo)} to {_number(interval.hi)}"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")
