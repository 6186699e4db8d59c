"""
A neuron-monitor of which only the process is real: what it "writes", the proof writes.

The emitter starts it, reads it and looks after it like any other. The process
itself only stays; the pipe that is its standard output is opened a second time,
by its name in /proc, and filled from here. So every report comes when the
proof's clock says so, and how much of it is still unread can be asked.
"""

from __future__ import annotations

import os
import select
import signal
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, final

from proof.emitter_process import bytes_in, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_S = 120.0
SHORTLY_S = 0.0003
WHAT_IT_DOES = """\
#!/bin/sh
echo $$ > "{folder}/monitor.new"
mv "{folder}/monitor.new" "{folder}/monitor.pid"
exec sleep 1000000
"""


class MonitorGoneError(Exception):
    """The emitter has ended the monitor that was written to."""


@final
class ManualMonitor:
    """
    One command, and the process that was started with it last.

    Attributes:
        command: For `--monitor-command`.
    """

    def __init__(self, folder: Path) -> None:
        self.command = folder / "neuron-monitor"
        self.command.write_text(WHAT_IT_DOES.format(folder=folder), encoding="utf-8")
        self.command.chmod(0o755)
        self._file = folder / "monitor.pid"
        self._pid = 0
        self._pipe: IO[bytes] | None = None

    def attach(self, has_ended: Callable[[], bool]) -> None:
        """
        Wait for the next process, and write to that one from now on.

        *has_ended* says whether the emitter is no more: then there will be none.
        """
        self.let_go()
        wait_until(lambda: self._file.exists() or has_ended(), PATIENCE_S)
        assert self._file.exists(), "the emitter has ended"
        self._pid = int(self._file.read_text(encoding="ascii"))
        self._file.unlink()
        path = Path(f"/proc/{self._pid}/fd/1")
        self._pipe = path.open("wb", buffering=0)
        os.set_blocking(self._pipe.fileno(), False)

    def write(self, chunk: bytes) -> None:
        """
        Write all of *chunk*, waiting for the reader as a program does.

        Raises:
            MonitorGoneError: If there is no reader any more.
        """
        left = memoryview(chunk)
        ready = select.poll()
        ready.register(self._pipe, select.POLLOUT)
        while left:
            assert ready.poll(PATIENCE_S * 1000), "the emitter reads no more"
            try:
                left = left[self._pipe.write(left) or 0 :]
            except BrokenPipeError:
                msg = "the emitter has ended its monitor: as a rule after 30 s of silence"
                raise MonitorGoneError(msg) from None

    def was_read(self) -> None:
        """Wait until all that was written has been taken, and not only read."""
        self._empty()
        # Once an empty line was read too, what came before it was taken.
        self.write(b"\n")
        self._empty()

    def kill(self) -> None:
        """End the process as the kernel does, and its output with it."""
        os.kill(self._pid, signal.SIGKILL)
        self.let_go()

    def let_go(self) -> None:
        """Close our end of the pipe. May be called twice."""
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None

    def _empty(self) -> None:
        deadline_s = time.monotonic() + PATIENCE_S
        while bytes_in(self._pipe):
            assert time.monotonic() < deadline_s, "the emitter reads no more"
            time.sleep(SHORTLY_S)
