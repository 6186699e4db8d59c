"""
The simulator at work: reports at their moments, the truth behind them, an end as told.

A signal only leaves a mark and wakes whoever waits: a report is either written
whole and then noted as true, or cut off and not noted. An exception out of a
signal handler could fall between the two.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from local.monitor.configuration import COUNTERS
from local.monitor.instance import SimulatedInstance
from local.monitor.processes import write_processes
from local.monitor.report import ReportWriter
from local.monitor.schedule import Schedule, live_schedule
from local.monitor.truth_lines import TruthLog

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from local.monitor.configuration import Configuration

_FAR_AHEAD_S: Final = 2.0
"""Beyond the next moment by this much, the clock must have been set back."""


class Play(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    What to play, and how; as JSON, the simulator's one argument.

    Attributes:
        instance_type: As EC2 spells it.

        scenario: Its name.

        seed: Chooses among equal instances: the same seed, the same bytes.

        instance_id: Or None for one derived from the three above.

        period_s: Replaces every configured period, or None.

        reports: Reports after which it ends with code 0, or None for no end.

        start_ms: Moment of the first report of a replay, which is written as fast as it is
            read; None to wait for each moment.

        truth: File that takes the truth, a line per report, or None.

        machine: Folder for the files of the machine, its `/proc` among them, or None.

        owners: Who owns each runtime, in their order; for *machine*.
    """

    instance_type: str = "trn1.32xlarge"
    scenario: str = "busy"
    seed: int = 1
    instance_id: str | None = None
    period_s: int | None = None
    reports: int | None = None
    start_ms: int | None = None
    truth: str | None = None
    machine: str | None = None
    owners: tuple[str, ...] = ()


def run(play: Play, configuration: Configuration, descriptor: int) -> int:
    """
    Play until the end, writing to *descriptor*.

    Returns:
        The exit code.

    Raises:
        KeyError: If the type or the scenario cannot be played.

        OwnersError: If the owners cannot be played.
    """
    instance = SimulatedInstance(play.instance_type, play.scenario, play.seed, play.instance_id)
    if play.machine is not None:
        write_processes(Path(play.machine), instance, play.owners)
    truth = _truth_log(play, configuration, instance)
    try:
        with stopping_on_signals() as stop:
            schedule = _schedule(play, configuration, instance)
            outlet = ReportStream(descriptor, stop)
            _run(play, ReportWriter(instance, configuration), schedule, outlet, truth)
    except BrokenPipeError:
        pass  # the reader has what it wanted
    finally:
        if truth is not None:
            truth.close()
    return 0


def _run(
    play: Play,
    writer: ReportWriter,
    schedule: Schedule,
    outlet: ReportStream,
    truth: TruthLog | None,
) -> None:
    waits = play.start_ms is None
    while True:
        tick = schedule.next(_now_ms() if waits else None)
        if tick.number == play.reports:
            return
        line, produced = writer.write(tick)
        if waits and _wait(tick.at_ms, outlet.stop):
            return
        if not outlet.write(line):
            return
        if truth is not None:
            truth.append(tick.number, _now_ms() if waits else tick.at_ms, produced)


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


def _schedule(play: Play, configuration: Configuration, instance: SimulatedInstance) -> Schedule:
    periods_ms = configuration.periods_ms()
    if play.period_s is not None:
        periods_ms = dict.fromkeys(periods_ms, 1000 * play.period_s)
    if play.start_ms is not None:
        return Schedule(periods_ms, play.start_ms)
    return live_schedule(periods_ms, _now_ms(), chance=instance.rng("phase").random())


def _truth_log(
    play: Play, configuration: Configuration, instance: SimulatedInstance
) -> TruthLog | None:
    if play.truth is None:
        return None
    counters_ms = configuration.runtime_periods_ms.get(COUNTERS)
    nominal_s = None if counters_ms is None else counters_ms / 1000
    constants: dict[str, object] = {
        "instance": instance.instance_id,
        "cores": instance.cores,
        "nominal_s": play.period_s or nominal_s,
    }
    return TruthLog(play.truth, constants)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Stop:
    """
    Whether the simulator has been told to end.

    Attributes:
        requested: Whether it has.
    """

    def __init__(self) -> None:
        self.requested = False
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_writer, False)

    @property
    def descriptor(self) -> int:
        """Readable from the moment that it is told."""
        return self._wake_reader

    def request(self, _signal: int = 0, _frame: FrameType | None = None) -> None:
        """End soon; also the signal handler."""
        self.requested = True
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_writer, b"\0")

    def wait(self, seconds: float) -> bool:
        """
        Wait, but not beyond being told.

        Returns:
            Whether it has been told.
        """
        if not self.requested and seconds > 0:
            select.select([self._wake_reader], [], [], seconds)
        return self.requested

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self._wake_reader)
        os.close(self._wake_writer)


@contextlib.contextmanager
def stopping_on_signals() -> Iterator[Stop]:
    """SIGTERM and SIGINT request a stop while this lasts."""
    stop = Stop()
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, stop.request) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        stop.close()


class ReportStream:
    """
    Where the lines go: standard output, unbuffered, so that each report is out when written.

    Attributes:
        stop: Whether told to end.
    """

    def __init__(self, descriptor: int, stop: Stop) -> None:
        self._descriptor = descriptor
        self.stop = stop
        self._is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)

    def write(self, line: bytes) -> bool:
        """
        Write the whole *line*, however slowly it is read.

        Returns:
            Whether all of it was written; False when told to stop meanwhile.

        Raises:
            BrokenPipeError: If nobody reads any more.
        """
        rest = memoryview(line)
        while rest:
            if self.stop.requested:
                return False
            if self._is_file:
                rest = rest[os.write(self._descriptor, rest) :]
                continue
            ready = select.select([self.stop.descriptor], [self._descriptor], [])[1]
            if ready:
                # As much as a pipe that is ready surely takes without blocking.
                rest = rest[os.write(self._descriptor, rest[: select.PIPE_BUF]) :]
        return True
