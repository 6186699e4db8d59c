"""
One emitter after the other on one spool, each killed, and what is known of each afterwards.
"""

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
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, final

from emitter_process import environment, wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from wall_clock import WallClock

CLOCKED = Path(__file__).with_name("clocked.py")
PATIENCE_S = 120.0
MINUTE_MS = 60_000
PIPE_BYTES = 1 << 16  # what a Linux pipe holds, and the most that one read takes
LIFE = "PROOF_OF_LIFE"  # a variable that marks a process and all that it starts

INSTANCE_TYPE = "trn1.32xlarge"
REPORT_BYTES = 34_000  # at least, of the simulated monitor for this type
INSTANCE_ID = "i-0123456789abcdef0"


@dataclass
class Life:
    """
    One run of the emitter, with a simulated monitor as its child.

    Attributes:
        name: Unlike that of any other life on this machine.

        truth: Where the monitor notes each report that it has written.
    """

    name: str
    truth: Path
    process: subprocess.Popen[bytes]
    said: Path

    def kill(self) -> None:
        """
        End it as the kernel's out-of-memory killer would.
        """
        assert self.process.poll() is None, self.last_words()
        self.process.send_signal(signal.SIGKILL)
        assert -signal.SIGKILL == self.process.wait(PATIENCE_S), self.last_words()

    def stop(self) -> int:
        """
        End it as systemd would; its exit code.
        """
        self.process.terminate()
        return self.process.wait(PATIENCE_S)

    @property
    def has_ended(self) -> bool:
        """
        Whether it is over, by itself or not.
        """
        return self.process.poll() is not None

    def last_words(self) -> str:
        """
        What it printed on standard error.
        """
        return self.said.read_text(encoding="utf-8")

    def orphans(self) -> list[int]:
        """
        Processes that it started and that are still there.
        """
        mark = f"{LIFE}={self.name}".encode()
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
        return found

    def leaves_no_orphan(self) -> None:
        """
        Wait until all that it started is gone; end what is left, and fail, if it stays.
        """
        try:
            wait_until(lambda: not self.orphans(), PATIENCE_S)
        except AssertionError:
            left = self.orphans()
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            msg = f"life {self.name} left {len(left)} process(es) behind"
            raise AssertionError(msg) from None

    def reports(self) -> list[int]:
        """
        When its monitor had written each report, ms since the epoch.
        """
        if not self.truth.exists():
            return []
        *lines, _cut = self.truth.read_bytes().split(b"\n")
        return [json.loads(line)["at_ms"] for line in lines]

    def minutes_surely_closed(self) -> set[int]:
        """
        Minutes with a report that were closed before it ended, however slow the machine was.

        What the monitor began to write after a minute can only have been read
        after it. Once it has written as much as a pipe holds and a read takes,
        the emitter has come back for another read, and closed the minute before.
        """
        reports = self.reports()
        sure_after = 2 * PIPE_BYTES // REPORT_BYTES + 1
        if len(reports) <= sure_after:
            return set()
        came_back_after_ms = reports[-1 - sure_after]
        minutes = {at_ms // MINUTE_MS * MINUTE_MS for at_ms in reports}
        return {one for one in minutes if one + MINUTE_MS <= came_back_after_ms}


@final
@dataclass
class Lives:
    """
    What all lives share: a folder, a spool, a clock, a service.
    """

    folder: Path
    clock: WallClock
    variables: Mapping[str, str]
    options: tuple[str, ...] = ()
    _count: int = field(default=0)
    _last: Life | None = None

    @property
    def spool(self) -> Path:
        """
        The spool's directory.
        """
        return self.folder / "spool"

    def begin(self) -> Life:
        """
        Start an emitter.
        """
        self._count += 1
        name = f"{self.folder}/life-{self._count}"
        truth, said = Path(f"{name}-truth"), Path(f"{name}-stderr")
        variables = {
            **self.variables,
            LIFE: name,
            "TMPDIR": str(self.folder),
            "NEURON_SIM_INSTANCE_TYPE": INSTANCE_TYPE,
            "NEURON_SIM_SCENARIO": "multi-runtime",
            "NEURON_SIM_INSTANCE_ID": INSTANCE_ID,
            "NEURON_SIM_TRUTH": str(truth),
        }
        with said.open("wb") as stderr:
            process = subprocess.Popen(
                [
                    *(sys.executable, CLOCKED, self.clock.path, "emitter", "run"),
                    *("--cluster", "blue", "--spread-seconds", "0", "--spool-dir", self.spool),
                    *("--instance-id", INSTANCE_ID),  # known from the first minute on
                    *("--monitor-command", self._monitor(), *self.options),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env=environment(self.folder, **variables),
                cwd=self.folder,
            )
        self._last = Life(name, truth, process, said)
        return self._last

    def __enter__(self) -> Lives:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """
        Whatever the test came to, nothing goes on living.
        """
        if self._last is not None:
            self._last.process.kill()
            self._last.process.wait()

    def changed_at(self) -> tuple[int, ...]:
        """
        When each file of the spool was last written to, ns.
        """
        return tuple(path.stat().st_mtime_ns for path in self._files())

    def kept(self) -> Kept:
        """
        What the spool has on disk, read from a copy: the next life must find what the last left.
        """
        with tempfile.TemporaryDirectory(dir=self.folder) as copy:
            for path in self._files():
                shutil.copy(path, copy)
            path = Path(copy) / "spool.sqlite"
            if not path.exists():
                return Kept({}, 0, 0)
            with contextlib.closing(sqlite3.connect(path)) as database:
                if not database.execute("PRAGMA user_version").fetchone()[0]:
                    return Kept({}, 0, 0)
                (records,) = database.execute("SELECT count(*) FROM records").fetchone()
                (dropped,) = database.execute("SELECT count(*) FROM drops").fetchone()
                produced = dict(database.execute("SELECT boot, produced FROM boots"))
                return Kept(produced, records, dropped)

    def _files(self) -> list[Path]:
        names = ("spool.sqlite", "spool.sqlite-journal", "spool.sqlite-wal")
        return [path for name in names if (path := self.spool / name).exists()]

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
    What a spool knows.

    Attributes:
        produced: Records of each boot that it remembers.

        records: Waiting, of all boots.

        drops: Reasons for which records were dropped.
    """

    produced: Mapping[str, int]
    records: int
    drops: int
