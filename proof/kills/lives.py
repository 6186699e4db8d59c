"""One emitter after another on one spool, each ended, and outside evidence about each."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from neuron_wire.names import MINUTE_MS
from proof.emitter_process import HUNG_AFTER_S, environment, wait_until
from proof.factories.records import AN_INSTANCE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proof.wall_clock import WallClock


CLOCKED = Path(__file__).resolve().parent.parent / "wall_clock.py"
PIPE_BYTES = 1 << 16  # the capacity of a Linux pipe, and the most that one read takes
REPORT_BYTES = 34_000  # the shortest report of the simulated monitor
LIFE = "PROOF_OF_LIFE"  # a variable that marks a process and everything it starts


def processes_of(truth: Path) -> list[int]:
    """Return the processes marked by *truth*."""
    mark = f"{LIFE}={truth}".encode()
    pids = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                pids.append(int(entry.name))
    return pids


@dataclass
class Life:
    """
    A process and its end.

    Attributes:
        truth: The file in which the monitor notes each written report; each life has its own.
    """

    truth: Path
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """Kill it as the kernel's out-of-memory killer would."""
        assert self.process.poll() is None, self.last_words()
        self.process.send_signal(signal.SIGKILL)
        assert -signal.SIGKILL == self.process.wait(HUNG_AFTER_S), self.last_words()

    def stop(self) -> int:
        """Stop it as systemd would. Return its exit code."""
        self.process.terminate()
        return self.process.wait(HUNG_AFTER_S)

    @property
    def has_ended(self) -> bool:
        """Return True if it has ended, by itself or not."""
        return self.process.poll() is not None

    def last_words(self) -> str:
        """Return its standard error."""
        return self.truth.with_suffix(".said").read_text("utf-8", "replace")

    def leaves_no_orphan(self) -> None:
        """Wait until all processes that it started are gone; fail if one stays."""
        wait_until(lambda: not processes_of(self.truth))

    def end_orphans(self) -> None:
        """Kill the remaining processes that it started."""
        for pid in processes_of(self.truth):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def reports(self) -> list[int]:
        """Return when its monitor had written each report, ms since the epoch."""
        if not self.truth.exists():
            return []
        *lines, _cut = self.truth.read_bytes().split(b"\n")
        return [json.loads(line)["at_ms"] for line in lines]

    def minutes_surely_closed(self) -> set[int]:
        """
        Return minutes with a report that were closed before it ended, however slow the machine was.

        The monitor's reports after a minute can only have been read after it. Once the monitor has
        written as much as a pipe holds and a read takes, the emitter has started another read, and
        closed the minute before.
        """
        reports = self.reports()
        sure_after = 2 * PIPE_BYTES // REPORT_BYTES + 1
        if len(reports) <= sure_after:
            return set()
        came_back_after_ms = reports[-1 - sure_after]
        minutes = {at_ms // MINUTE_MS * MINUTE_MS for at_ms in reports}
        return {minute for minute in minutes if minute + MINUTE_MS <= came_back_after_ms}


@final
@dataclass
class Lives:
    """
    The common parts of all lives: a folder, a spool, a clock, a service.

    Attributes:
        variables: Variables of every life, in addition to those of the simulation.
    """

    folder: Path
    clock: WallClock
    variables: Mapping[str, str]
    _count: int = 0
    _last: Life | None = None

    def begin(self) -> Life:
        """Start an emitter."""
        self._count += 1
        truth = self.folder / f"life-{self._count}-truth"
        play = {
            "instance_type": "trn1.32xlarge",
            "scenario": "multi-runtime",
            "truth": str(truth),
            "instance_id": AN_INSTANCE,
        }
        command = (
            *(sys.executable, CLOCKED, self.clock.path, "neuron_emitter", "run"),
            *("--cluster", "blue"),
            *("--spool-dir", self.folder / "spool", "--spread-seconds", "0"),
            *("--instance-id", AN_INSTANCE),  # known from the first minute on
            *("--monitor-command", self._monitor(), "--runtime-lines", "all"),
        )
        variables = {"TMPDIR": str(self.folder), "NEURON_SIM": json.dumps(play), LIFE: str(truth)}
        with truth.with_suffix(".said").open("wb") as stderr:
            process = subprocess.Popen(
                list(map(str, command)),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env=environment(self.folder, **self.variables, **variables),
            )
        self._last = Life(truth, process)
        return self._last

    def __enter__(self) -> Lives:
        return self

    def __exit__(self, *_error: object) -> None:
        """Stop every process, whatever the result of the test."""
        if self._last is not None:
            self._last.process.kill()
            self._last.process.wait()
            self._last.end_orphans()

    def changed_at(self) -> tuple[int, ...]:
        """Return when each file of the spool was last written, ns."""
        times_ns = []
        for path in self._files():
            with contextlib.suppress(FileNotFoundError):
                times_ns.append(path.stat().st_mtime_ns)
        return tuple(times_ns)

    def kept(self) -> Kept:
        """Return the spool's content from a copy: the next life must find it unchanged."""
        with tempfile.TemporaryDirectory(dir=self.folder) as copy:
            for path in self._files():
                shutil.copy(path, copy)
            with contextlib.closing(sqlite3.connect(Path(copy) / "spool.sqlite")) as database:
                if not database.execute("PRAGMA user_version").fetchone()[0]:
                    return Kept({}, 0, 0)  # the emitter has not created its tables
                (waiting,), (dropped,) = (
                    database.execute(f"SELECT {count} FROM {table}").fetchone()
                    for count, table in (("count(*)", "records"), ("total(records)", "drops"))
                )
                produced = dict(database.execute("SELECT boot, produced FROM boots"))
                return Kept(produced, waiting, int(dropped))

    def _files(self) -> list[Path]:
        names = ("spool.sqlite", "spool.sqlite-journal", "spool.sqlite-wal")
        return [path for name in names if (path := self.folder / "spool" / name).exists()]

    def _monitor(self) -> Path:
        path = self.folder / "neuron-monitor"
        if not path.exists():
            path.write_text(
                f'#!/bin/sh\nexec {sys.executable} {CLOCKED} {self.clock.path} local.monitor "$@"\n'
            )
            path.chmod(0o755)
        return path


@dataclass(frozen=True)
class Kept:
    """
    The content of a spool.

    Attributes:
        produced: Records of each boot that it remembers.

        waiting: Undelivered records.

        dropped: Dropped records.
    """

    produced: Mapping[str, int]
    waiting: int
    dropped: int
