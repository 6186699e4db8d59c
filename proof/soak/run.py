"""
One emitter under soak: fed report by report, looked at from outside, to its planned end.

The reports are those of hours or weeks, their moments too; only the wall clock
is the proof's, moved on when the emitter has read what came before. Every report
is read within its own minute, so that each line can be foretold.
"""

from __future__ import annotations

import contextlib
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, final

from proof.arrivals import Arrivals
from proof.emitter_process import environment, wait_until
from proof.soak.history import PERIOD_S, REPORTS_A_MINUTE, REPORTS_AN_HOUR, history
from proof.soak.manual_monitor import PATIENCE_S, ManualMonitor, MonitorGoneError
from proof.soak.timetable import DEATH, FAULT, HOURS_A_DAY, RELOAD

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator

    from proof.soak.receivers import Receiver
    from proof.soak.timetable import Timetable
    from proof.wall_clock import WallClock

START_S = 1_800_000_000
MINUTE_S = 60
MINUTES_AN_HOUR = 60
REPORTS_A_DAY = HOURS_A_DAY * REPORTS_AN_HOUR
CLOCKED = Path(__file__).resolve().parent.parent / "clocked.py"
RELOAD_MINUTE = 2  # of the hour; its first minute has shown that the credentials are refused


@dataclass(frozen=True)
class Look:
    """
    The process and its files at one moment.

    Attributes:
        hour: Since the beginning.

        resident: Bytes of memory.

        spool_bytes: Of the spool's files.

        output_bytes: Of the files that it has written as its output.

        is_quiet: Whether everything that was closed had arrived.
    """

    hour: float
    resident: int
    descriptors: int
    threads: int
    spool_bytes: int
    output_bytes: int
    is_quiet: bool


@dataclass(frozen=True)
class Soaked:
    """
    What was seen.

    Attributes:
        found: Every line that arrived.

        happened: Troubles, by name.

        left: Records in the spool after the end.

        exit_code: Of the emitter, after SIGTERM.

        said: What it printed on standard error.
    """

    timetable: Timetable
    output: str
    resident_limit_mib: int
    looks: list[Look]
    found: Arrivals
    happened: Counter[str]
    expected: frozenset[str]
    left: int
    exit_code: int
    said: str
    took_s: float = field(compare=False)

    @property
    def reports(self) -> int:
        """Lines that were written to it, the broken ones too."""
        return self.timetable.hours * REPORTS_AN_HOUR


def soak(
    folder: Path,
    clock: WallClock,
    timetable: Timetable,
    receiver: Receiver,
    *,
    program: Path = CLOCKED,
    say: Callable[[str], object] = str,  # tells nobody
) -> Soaked:
    """The whole timetable with one emitter; *say* is told each day that has passed."""
    began_s = time.monotonic()
    clock.set(START_S)
    with receiver, Watched(folder, clock, timetable, receiver, program) as watched:
        watched.feed(history(folder, timetable.hours * REPORTS_AN_HOUR), say)
        exit_code = watched.stop()
        arrivals = Arrivals.of(receiver.events())
    return Soaked(
        timetable=timetable,
        output=receiver.name,
        resident_limit_mib=receiver.resident_limit_mib,
        looks=watched.looks,
        found=arrivals,
        happened=watched.happened,
        expected=(timetable.kinds & receiver.troubles - {FAULT}) | frozenset(receiver.faults),
        left=watched.left(),
        exit_code=exit_code,
        said=watched.said.read_text(encoding="utf-8"),
        took_s=time.monotonic() - began_s,
    )


@final
class Watched:
    """The process."""

    def __init__(
        self,
        folder: Path,
        clock: WallClock,
        timetable: Timetable,
        receiver: Receiver,
        program: Path,
    ) -> None:
        self.looks: list[Look] = []
        self.happened = receiver.happened
        self.said = folder / "said"
        self._clock = clock
        self._timetable = timetable
        self._receiver = receiver
        self._spool = folder / "spool"
        self._period_s = PERIOD_S
        self._settings = folder / "config.toml"
        self._monitor = ManualMonitor(folder)
        self._write_settings()
        options = ("--config", self._settings, "--spool-dir", self._spool)
        with self.said.open("wb") as stderr:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, program, clock.path, "emitter", "run", *options),
                    *("--cluster", "blue", "--monitor-command", self._monitor.command),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env=environment(folder, **receiver.variables),
                cwd=folder,
            )

    def feed(self, lines: Iterator[bytes], say: Callable[[str], object]) -> None:
        """Every line in its minute, and every trouble in its hour."""
        look_every = REPORTS_AN_HOUR // self._timetable.looks_an_hour
        self._monitor.attach(self._has_ended)
        for number, line in enumerate(lines):
            minutes, place = divmod(number, REPORTS_A_MINUTE)
            if place == 0:
                self._trouble(*divmod(minutes, MINUTES_AN_HOUR))
            self._clock.set(START_S + PERIOD_S * (number + 0.5))
            self._monitor.write(line)
            if place == REPORTS_A_MINUTE - 1:
                self._monitor.was_read()
            if number % look_every == look_every - 1:
                self._look((number + 1) / REPORTS_AN_HOUR, minutes)
            if (number + 1) % REPORTS_A_DAY == 0:
                day, all_days = (number + 1) // REPORTS_A_DAY, self._timetable.hours // HOURS_A_DAY
                say(f"--output {self._receiver.name}: day {day} of {all_days}")

    def stop(self) -> int:
        """End it as systemd would; its exit code."""
        self._process.terminate()
        return self._process.wait(PATIENCE_S)

    def left(self) -> int:
        """Records in the spool of a process that has ended."""
        path = self._spool / "spool.sqlite"
        if not path.exists():
            return 0
        with contextlib.closing(sqlite3.connect(path)) as database:
            (records,) = database.execute("SELECT count(*) FROM records").fetchone()
        return int(records)

    def _trouble(self, hour: int, minute: int) -> None:
        receiver = self._receiver
        if self._timetable.is_gone(hour, minute) is receiver.is_there:
            (receiver.go if receiver.is_there else receiver.come_back)()
        kinds = self._timetable.at(hour)
        if minute == 0:
            for kind in receiver.troubles.intersection(kinds):
                receiver.happen(kind)
                self.happened[kind] += 1
            if DEATH in kinds:
                self._monitor.kill()
                self._monitor.attach(self._has_ended)
        elif minute == RELOAD_MINUTE and RELOAD in kinds:
            self._reload(hour, minute)

    def _reload(self, hour: int, minute: int) -> None:
        """
        What an operator does: repair, then SIGHUP; here the monitor is asked for more, or less.
        """
        if self._receiver.is_there:
            self._receiver.was_refused()
        self._period_s = 2 * PERIOD_S + 1 - self._period_s
        self._write_settings()
        self._process.send_signal(signal.SIGHUP)
        # It is taken between two minutes: as soon as the one before this has been closed.
        self._clock.set(START_S + MINUTE_S * (MINUTES_AN_HOUR * hour + minute))
        with contextlib.suppress(MonitorGoneError):
            self._monitor.write(b"\n")
        self._monitor.attach(self._has_ended)

    def _write_settings(self) -> None:
        settings = {**self._receiver.settings, "period": self._period_s}
        lines = (
            f"{name} = {value}" if isinstance(value, int) else f'{name} = "{value}"'
            for name, value in settings.items()
        )
        self._settings.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _has_ended(self) -> bool:
        return self._process.poll() is not None

    def _have_come(self, minutes: int) -> bool:
        if self._receiver.minutes() >= minutes:
            return True
        self._monitor.write(b"\n")  # one that is silent for 30 s counts as dead
        return False

    def _look(self, hour: float, due: int) -> None:
        if self._receiver.is_there:
            wait_until(lambda: self._have_come(due), PATIENCE_S)
        process = Path(f"/proc/{self._process.pid}")
        pages = int((process / "statm").read_text(encoding="ascii").split()[1])
        self.looks.append(
            Look(
                hour=hour,
                resident=pages * resource.getpagesize(),
                descriptors=len(list((process / "fd").iterdir())),
                threads=len(list((process / "task").iterdir())),
                spool_bytes=sum(path.stat().st_size for path in self._spool.glob("spool.sqlite*")),
                output_bytes=self._receiver.bytes_on_disk(),
                is_quiet=self._receiver.is_there,
            )
        )

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_error: object) -> None:
        """Whatever it came to, nothing goes on living."""
        self._monitor.let_go()
        if self._process.poll() is None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(PATIENCE_S / 12)
        self._process.kill()
        self._process.wait()
