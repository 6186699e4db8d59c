"""One emitter after the other on one spool, each ended, and what is known of each afterwards."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, final

from proof.kills.life import CLOCKED, Life

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proof.wall_clock import WallClock

INSTANCE_ID, CLUSTER = "i-0123456789abcdef0", "blue"
INSTANCE_TYPE, SCENARIO = "trn1.32xlarge", "multi-runtime"


@final
@dataclass
class Lives:
    """
    What all lives share: a folder, a spool, a clock, a service.

    Attributes:
        variables: Of every life, beside what the simulation needs.
    """

    folder: Path
    clock: WallClock
    variables: Mapping[str, str]
    options: tuple[str, ...] = ()
    _count: int = field(default=0)
    _last: Life | None = None

    @property
    def spool(self) -> Path:
        """The spool's directory."""
        return self.folder / "spool"

    def begin(self) -> Life:
        """Start an emitter."""
        self._count += 1
        truth = self.folder / f"life-{self._count}-truth"
        play = {
            "instance_type": INSTANCE_TYPE, "scenario": SCENARIO, "instance_id": INSTANCE_ID,
            "truth": str(truth),
        }  # fmt: skip
        simulated = {"TMPDIR": str(self.folder), "NEURON_SIM": json.dumps(play)}
        options = [
            *("--cluster", CLUSTER, "--spread-seconds", "0"),
            *("--spool-dir", self.spool),
            *("--instance-id", INSTANCE_ID),  # known from the first minute on
            *("--monitor-command", self._monitor(), *self.options),
        ]
        self._last = Life.begin(truth, self.clock, options, {**self.variables, **simulated})
        return self._last

    def __enter__(self) -> Lives:
        return self

    def __exit__(self, *_error: object) -> None:
        """Whatever the test came to, nothing goes on living."""
        if self._last is not None:
            self._last.process.kill()
            self._last.process.wait()
            self._last.end_orphans()

    def changed_at(self) -> tuple[int, ...]:
        """When each file of the spool was last written to, ns."""
        times_ns = []
        for path in self._files():
            with contextlib.suppress(FileNotFoundError):
                times_ns.append(path.stat().st_mtime_ns)
        return tuple(times_ns)

    def kept(self) -> Kept:
        """
        What the spool has on disk, read from a copy: the next life must find what the last left.
        """
        with tempfile.TemporaryDirectory(dir=self.folder) as copy:
            for path in self._files():
                shutil.copy(path, copy)
            with contextlib.closing(sqlite3.connect(Path(copy) / "spool.sqlite")) as database:
                if not database.execute("PRAGMA user_version").fetchone()[0]:
                    return Kept({}, 0, 0)  # nothing, or nothing yet
                (waiting,), (dropped,) = (
                    database.execute(f"SELECT {count} FROM {table}").fetchone()
                    for count, table in (("count(*)", "records"), ("total(records)", "drops"))
                )
                produced = dict(database.execute("SELECT boot, produced FROM boots"))
                return Kept(produced, waiting, int(dropped))

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

        waiting: Records that were not yet delivered.

        dropped: Records that were given up.
    """

    produced: Mapping[str, int]
    waiting: int
    dropped: int
