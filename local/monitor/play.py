"""
Run the simulator: reports at their times, and the truth behind them.

A report is never written close to a full minute, because a reader adds it to the minute in which it
receives it. A report written just before the minute may be received after it, and then its minute
is unknown: the comparison with the truth would be a guess. A writer on a loaded machine is late,
never early, so the time of writing is in the first half of the time between two writes.
"""

from __future__ import annotations

import itertools
import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from local.monitor.owner_processes import write_processes
from local.monitor.report_writer import ReportWriter
from local.monitor.simulated_instance import SimulatedInstance
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DEFAULT_PERIOD_S: Final = 5
CLEAR_OF_MINUTES_MS: Final = 800
LONGEST_SLEEP_S = 1.0
"""The most seconds between two readings of the time of day, because the clock may be set."""


class Play(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The instance, the scenario and their options; as JSON, the simulator's argument.

    Attributes:
        instance_type: The type as EC2 writes it.

        scenario: The scenario's name.

        seed: Determines all random values: the same seed gives the same bytes.

        instance_id: The ID, or None for one derived from the three above.

        period_s: Seconds between reports, or None for the configured ones.

        reports: Reports after which it ends with code 0, or None for no end.

        start_ms: Time of the first report of a replay, which is written as fast as it is read; None
            to wait for each time.

        truth: File for the truth, one line per report, or None.

        machine: Folder for the files of the machine, including its `/proc`, or None.

        owners: The owner of each runtime, in order; for *machine*.

        assigned: Cores that Kubernetes assigned, such as `ml/trainer-0/main=0,1`; for *machine*.
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
    assigned: tuple[str, ...] = ()


def run(play: Play, descriptor: int) -> None:
    """
    Play until the end, writing to *descriptor*. The truth of a report is noted after it is written.

    Raises:
        KeyError: If the type or the scenario cannot be played.

        ValueError: If the owners cannot be played.

        BrokenPipeError: If the reader closed the pipe.
    """
    instance = SimulatedInstance(play.instance_type, play.scenario, play.seed, play.instance_id)
    if play.machine is not None:
        write_processes(Path(play.machine), instance, play.owners, play.assigned)
    truth = None
    if play.truth is not None:
        truth = os.open(play.truth, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    period_s = play.period_s or DEFAULT_PERIOD_S
    waits = play.start_ms is None
    moments = (
        itertools.count(play.start_ms, 1000 * period_s)
        if play.start_ms is not None
        else live_moments(1000 * period_s, _now_ms, chance=instance.rng("phase").random())
    )
    writer = ReportWriter(instance, period_s)
    for at_ms in itertools.islice(moments, play.reports):
        line, produced = writer.write_report(at_ms)
        while waits and (left_s := (at_ms - _now_ms()) / 1000) > 0:
            time.sleep(min(left_s, LONGEST_SLEEP_S))
        _write(descriptor, line)
        if truth is not None:
            written = msgspec.structs.replace(produced, at_ms=_now_ms() if waits else at_ms)
            _write(truth, msgspec.json.encode(written) + b"\n")


def live_moments(period_ms: int, now_ms: Callable[[], int], *, chance: float) -> Iterator[int]:
    """
    Yield the times of the reports of a simulator that starts now, ms since the epoch.

    The first report waits until it is not close to the full minute. The second report comes one to
    two steps later, and all later reports keep its phase. A step is the longest time that divides
    both the minute and the period. A step under 1.6 s has no room for the whole distance from the
    full minute, so half the distance is kept. Times that have passed are omitted, as a ticker omits
    them if no reader took the last report.

    Args:
        period_ms: Milliseconds between two reports.

        now_ms: The clock.

        chance: A number from 0 to 1 that chooses the phase.
    """
    step_ms = math.gcd(MINUTE_MS, period_ms)
    clear_ms = min(CLEAR_OF_MINUTES_MS, step_ms // 2)
    phase_ms = clear_ms + int(chance * (step_ms // 2 - clear_ms))
    at_ms = now_ms()
    into_ms = at_ms % MINUTE_MS
    if into_ms < clear_ms:
        at_ms += clear_ms - into_ms
    elif into_ms > MINUTE_MS - clear_ms:
        at_ms += MINUTE_MS - into_ms + clear_ms
    yield at_ms
    at_ms += (phase_ms - at_ms) % step_ms
    while True:
        at_ms += period_ms
        missed = max(0, -(-(now_ms() - at_ms) // period_ms))
        at_ms += missed * period_ms
        yield at_ms


def _write(descriptor: int, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
