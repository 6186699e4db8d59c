"""The simulator at work: reports at their moments, the truth behind them, an end as told."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from local.monitor.instance import SimulatedInstance
from local.monitor.output import ReportStream, stopping_on_signals
from local.monitor.processes import write_processes
from local.monitor.report import ReportWriter
from local.monitor.scenarios import SCENARIOS
from local.monitor.schedule import Schedule, live_schedule
from local.monitor.truth_log import TruthLog

if TYPE_CHECKING:
    from pathlib import Path

    from local.monitor.configuration import Configuration, GroupKey
    from local.monitor.output import Stop

EXIT_DIED: Final = 1
DEATH_MESSAGE: Final = "neuron-monitor: lost the connection to the Neuron driver (simulated)"
_FAR_AHEAD_S: Final = 2.0
"""Beyond the next moment by this much, the clock must have been set back."""


@dataclass(frozen=True, slots=True)
class Play:
    """
    What to play, and how.

    Attributes:
        instance_type: As EC2 spells it.

        scenario: Its name.

        seed: Chooses among equal instances.

        instance_id: Or None for one derived from the three above.

        period_ms: Replaces every configured period, or None.

        reports: Reports after which it ends with code 0, or None for no end.

        ends_after: Reports after which `dies` dies and `hangs` hangs.

        waits: Whether to wait for each moment, or to write as fast as is read.

        start_ms: Moment of the first report when it does not wait.

        aligned: Whether to keep away from full minutes when it waits.

        truth: Where to write the truth, or None.

        verbose: From 0 to 4.

        machine: Folder for the files of the machine, its `/proc` among them, or None.

        owners: Who owns each runtime, in their order; for *machine*.
    """

    instance_type: str
    scenario: str
    seed: int
    instance_id: str | None
    period_ms: int | None
    reports: int | None
    ends_after: int
    waits: bool
    start_ms: int
    aligned: bool
    truth: Path | None
    verbose: int
    machine: Path | None = None
    owners: tuple[str, ...] = ()


def run(play: Play, configuration: Configuration, descriptor: int) -> int:
    """
    Play until the end, writing to *descriptor*.

    Returns:
        The exit code.

    Raises:
        OwnersError: If the owners cannot be played.
    """
    instance = SimulatedInstance(play.instance_type, play.scenario, play.seed, play.instance_id)
    if play.machine is not None:
        write_processes(play.machine, instance, play.owners)
    truth = _truth_log(play, configuration, instance)
    try:
        with stopping_on_signals() as stop:
            writer = ReportWriter(instance, configuration)
            schedule = _schedule(play, _periods_ms(play, configuration), instance)
            outlet = ReportStream(descriptor, stop)
            return _run(play, writer=writer, schedule=schedule, outlet=outlet, truth=truth)
    except BrokenPipeError:
        return 0  # the reader has what it wanted
    finally:
        if truth is not None:
            truth.close()


def _run(
    play: Play,
    *,
    writer: ReportWriter,
    schedule: Schedule,
    outlet: ReportStream,
    truth: TruthLog | None,
) -> int:
    ending = SCENARIOS[play.scenario].ending
    while True:
        tick = schedule.next(_now_ms() if play.waits else None)
        if tick.number == play.reports:
            return 0
        if ending != "never" and tick.number == play.ends_after:
            if ending == "hangs":
                outlet.hang()
                return 0
            print(DEATH_MESSAGE, file=sys.stderr)
            return EXIT_DIED
        line, produced = writer.write(tick)
        if play.waits and _wait(tick.at_ms, outlet.stop):
            return 0
        if not outlet.write(line):
            return 0
        if truth is not None:
            truth.append(tick.number, _now_ms() if play.waits else tick.at_ms, produced)
        if play.verbose >= 4:
            print(f"report {tick.number}: {len(line)} bytes", file=sys.stderr)


def _wait(at_ms: int, stop: Stop) -> bool:
    """Wait until *at_ms*; returns whether told to stop."""
    longest_s = (at_ms - _now_ms()) / 1000 + _FAR_AHEAD_S
    until = time.monotonic() + longest_s
    while not stop.requested:
        left_s = min((at_ms - _now_ms()) / 1000, until - time.monotonic())
        if left_s <= 0:
            break
        stop.wait(left_s)
    return stop.requested


def _schedule(play: Play, periods_ms: dict[GroupKey, int], instance: SimulatedInstance) -> Schedule:
    if not play.waits:
        return Schedule(periods_ms, play.start_ms)
    chance = instance.rng("phase").random()
    return live_schedule(periods_ms, _now_ms(), chance=chance, aligned=play.aligned)


def _periods_ms(play: Play, configuration: Configuration) -> dict[GroupKey, int]:
    periods_ms = configuration.periods_ms()
    return periods_ms if play.period_ms is None else dict.fromkeys(periods_ms, play.period_ms)


def _truth_log(
    play: Play, configuration: Configuration, instance: SimulatedInstance
) -> TruthLog | None:
    if play.truth is None:
        return None
    nominal_ms = play.period_ms or configuration.counters_period_ms()
    return TruthLog(
        play.truth,
        {
            "instance": instance.instance_id,
            "type": play.instance_type,
            "scenario": play.scenario,
            "seed": play.seed,
            "cores": instance.cores,
            "nominal_s": None if nominal_ms is None else nominal_ms / 1000,
        },
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
