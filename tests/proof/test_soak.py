"""
Thirty hours of reports through one process: it stays as small as it was after two.

The reports are those of 30 hours, their moments too; only the wall clock is the
test's, moved on when the emitter has read what came before. Every report is
read at its own moment, so that each line can be foretold.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from arrivals import Arrivals
from emitter_process import bytes_in, environment, wait_until
from lives import CLOCKED, PATIENCE_S
from logs_service import ANSWER_LOST, INTERNAL, LATE, RESET, THROTTLED, UNAVAILABLE, LogsService
from long_history import PERIOD_S, REPORTS_A_MINUTE, REPORTS_AN_HOUR, history, is_broken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wall_clock import WallClock

START_S = 1_800_000_000
HOURS = 30
REPORTS = HOURS * REPORTS_AN_HOUR
WARM_UP_HOURS = 2
LOOKS_AN_HOUR = 4
LOOK_EVERY = REPORTS_AN_HOUR // LOOKS_AN_HOUR
SHORTLY_S = 0.0003
WHOLE_S = 45  # covered seconds of a whole minute, by definition
MIB = 1 << 20
MAX_GROWTH_BYTES = 2 * MIB
CHANCES = dict.fromkeys((THROTTLED, UNAVAILABLE, INTERNAL, RESET, ANSWER_LOST, LATE), 0.01)


class Watched:
    """
    An emitter on standard input: fed report by report, looked at from outside.

    Attributes:
        resident: Bytes at each look.

        descriptors: Open files at each look.

        threads: Threads at each look.
    """

    def __init__(self, process: subprocess.Popen[bytes], clock: WallClock) -> None:
        self.resident: list[int] = []
        self.descriptors: list[int] = []
        self.threads: list[int] = []
        self._process = process
        self._clock = clock

    def feed(self, lines: Iterator[bytes], arrived: Callable[[], int]) -> None:
        """
        Every line at its moment; a look four times an hour, when no line is on its way.
        """
        for number, line in enumerate(lines):
            self._clock.set(START_S + PERIOD_S * (number + 0.5))
            self._give(line)
            minutes, place = divmod(number, REPORTS_A_MINUTE)
            if place == REPORTS_A_MINUTE - 1:
                # Once an empty line was read too, what came before it was taken.
                self._give(b"\n")
            if number % LOOK_EVERY == LOOK_EVERY - 1:
                wait_until(lambda due=minutes: arrived() >= due, PATIENCE_S)
                self._look()

    def _give(self, chunk: bytes) -> None:
        pipe = self._process.stdin
        pipe.write(chunk)
        pipe.flush()
        deadline_s = time.monotonic() + PATIENCE_S
        while bytes_in(pipe):
            assert time.monotonic() < deadline_s, "the emitter reads no more"
            time.sleep(SHORTLY_S)

    def _look(self) -> None:
        process = Path(f"/proc/{self._process.pid}")
        pages = int((process / "statm").read_text(encoding="ascii").split()[1])
        self.resident.append(pages * resource.getpagesize())
        self.descriptors.append(len(list((process / "fd").iterdir())))
        self.threads.append(len(list((process / "task").iterdir())))

    def growth_bytes(self) -> int:
        """
        From the end of the warm-up to the end; what goes up and down in an hour is no growth.
        """
        hour = LOOKS_AN_HOUR
        warm = self.resident[WARM_UP_HOURS * hour : (WARM_UP_HOURS + 1) * hour]
        return int(statistics.median(self.resident[-hour:]) - statistics.median(warm))


def soak(
    folder: Path, clock: WallClock, output: str, service: LogsService
) -> tuple[Watched, Arrivals]:
    """
    Thirty hours of reports through an emitter that writes to *output*, to its planned end.
    """
    clock.set(START_S)
    arguments = (
        "--cluster",
        "blue",
        "--input",
        "-",
        "--interval",
        str(PERIOD_S),
        "--output",
        output,
    )
    if output == "logs":
        arguments += ("--spool-dir", str(folder / "spool"), "--spread-seconds", "0")
    said = folder / "said"
    with said.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, CLOCKED, clock.path, "emitter", "run", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment(folder, **service.variables),
        )
    printed: list[str] = []
    reader = threading.Thread(
        target=lambda: printed.extend(line.decode() for line in process.stdout), daemon=True
    )
    reader.start()

    def messages() -> list[str]:
        return printed if output == "stdout" else [one.message for one in service.rules.applied]

    def minutes() -> int:
        return sum('"Kind":"minute"' in message for message in set(messages()))

    watched = Watched(process, clock)
    try:
        watched.feed(history(folder, REPORTS), minutes)
        process.stdin.close()
        assert 0 == process.wait(PATIENCE_S), said.read_text(encoding="utf-8")
        reader.join(PATIENCE_S)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    return watched, Arrivals.of((0, message) for message in messages())


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("output", "chances"),
    [("logs", {}), ("logs", CHANCES), ("stdout", {})],
    ids=["logs", "failing logs", "stdout"],
)
def test_thirty_hours_of_reports_leave_no_trace(output, chances, tmp_path, clock):
    """
    Resident memory grows by less than 2 MiB after the first two hours; no file, no thread stays.

    Every report is in a line: 1,800 whole minutes, numbered from 1 without a gap.
    """
    with LogsService(clock) as service:
        service.chances = chances
        watched, found = soak(tmp_path, clock, output, service)
    print(  # noqa: T201 - the figures, with pytest -s
        f"{output}: {REPORTS} reports, {len(found.lines)} lines, {found.copies} copies,"
        f" resident {watched.resident[0] / MIB:.1f} MiB after {1 / LOOKS_AN_HOUR:g} h,"
        f" {max(watched.resident) / MIB:.1f} at most, {watched.resident[-1] / MIB:.1f} at the end,"
        f" growth after {WARM_UP_HOURS} h {watched.growth_bytes() / 1024:.0f} KiB,"
        f" descriptors {sorted(set(watched.descriptors))}, threads {sorted(set(watched.threads))},"
        f" {service.happened}"
    )
    minutes = [one for one in found.documents if one["Kind"] == "minute"]
    broken = sum(map(is_broken, range(REPORTS)))
    assert ([], ()) == (found.gaps(), found.conflicts)
    assert REPORTS // REPORTS_A_MINUTE == len(minutes)
    assert REPORTS - broken == sum(one["Reports"] for one in minutes)
    assert WHOLE_S <= min(one["CoveredSeconds"] for one in minutes)
    assert ([], 0) == (found.unbalanced(), found.dropped())
    warm = WARM_UP_HOURS * LOOKS_AN_HOUR
    assert watched.growth_bytes() < MAX_GROWTH_BYTES
    # A connection that broke may not have been opened again at the moment of a look.
    assert max(watched.descriptors[warm:]) <= max(watched.descriptors[:warm])
    assert max(watched.threads[warm:]) <= max(watched.threads[:warm])
    told = [one["EmitterMemory"] for one in minutes]
    assert told[-1] - told[60 * WARM_UP_HOURS] < MAX_GROWTH_BYTES
