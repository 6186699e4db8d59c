"""
neuron-monitor as a supervised child process.

No failure of neuron-monitor stops the emitter: it is restarted with growing, jittered waits, and a
monitor that stops writing counts as dead. It never outlives the emitter.
"""

from __future__ import annotations

import logging
import os
import time
from contextlib import ExitStack
from shutil import which
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Final

from neuron_emitter.errors import SourceError
from neuron_emitter.logs import Backoff, Event, Repeats
from neuron_emitter.reports.child import END_WITHIN_S, Child
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    import random

    from neuron_emitter.logs import Clock, OnEvent
    from neuron_emitter.reports.child import End, ErrorTail


DIED: Final = "MonitorDied"
STALLED: Final = "MonitorStalled"
NOT_STARTED: Final = "MonitorNotStarted"
RESTARTED: Final = "MonitorRestarted"
LOG_INTERVAL_S: Final = 10.0
EVENT_INTERVAL_S: Final = 300.0
Details = dict[str, str | int | float]
_log = logging.getLogger(__name__)
PACKAGE_PATH: Final = "/opt/aws/neuron/bin"  # the folder of the package aws-neuronx-tools
SHORTEST_WAIT_S: Final = 1.0
LONGEST_WAIT_S: Final = 60.0
WELL_AFTER_S: Final = 60.0  # a monitor that ran this long has a new failure, not a repeated one
SILENT_PERIODS: Final = 3
SILENT_AT_LEAST_S: Final = 30.0


def find_monitor(command: str) -> str:
    """
    Return the path of *command*.

    Raises:
        SourceError: If it is neither on PATH nor where its package puts it.
    """
    path = which(command) or which(command, path=PACKAGE_PATH)
    if path is None:
        msg = (
            f"{command} was not found on PATH or in {PACKAGE_PATH}. Install the "
            "package aws-neuronx-tools, or use --monitor-command."
        )
        raise SourceError(msg)
    return path


class Monitor:
    """
    A `Source` that reads the standard output of a child and keeps the child alive.

    One thread reads, reconfigures and closes it; the thread lives longer.

    Attributes:
        restarts: The number of restarts after a failure.

        name: Its name in messages.

        is_stream: Always True: its output has no end.
    """

    is_stream = True

    def __init__(
        self,
        command: str,
        config: str,
        period_s: float,
        on_event: OnEvent = lambda _event: None,
        *,
        rng: random.Random | None = None,
        clock: Clock = time.monotonic,
        now_s: Clock = time.time,
    ) -> None:
        """
        Find *command*. Nothing is started before the first read.

        Raises:
            SourceError: If it is not there, or its configuration cannot be written.
        """
        self.restarts = 0
        self.name = command
        self._path = find_monitor(command)
        self._on_event = on_event
        self._clock = clock
        self._now_s = now_s
        self._backoff = Backoff(SHORTEST_WAIT_S, LONGEST_WAIT_S, rng)
        self._log_repeats = Repeats(LOG_INTERVAL_S, clock)
        self._event_repeats = Repeats(EVENT_INTERVAL_S, clock)
        self._child: Child | None = None
        self._config = config
        self._silent_after_s = _silent_after_s(period_s)
        self._config_file = config_file(config)
        self._started_at_s = self._heard_at_s = self._failing_since_s = clock()
        self._failures = 0  # in a row, since its last report
        self._start_at_s = clock()  # when the next child starts
        self._has_failed = False  # True if the next start follows a failure
        # True until a child has written: before that, no broken line can precede the output
        self._is_first = True

    def read_chunk(self, timeout_s: float) -> bytes | None:
        """Return the next bytes of the child; empty if none came in time. It never ends."""
        if self._child is None:
            wait_s = self._start_at_s - self._clock()
            if wait_s > 0:
                time.sleep(min(wait_s, timeout_s))
                return b""
            self._start()
            if not self._is_first:
                return b"\n"  # the last child may have died in the middle of a line
            self._is_first = False
        return self._read_child(timeout_s)

    def reconfigure(self, config: str, period_s: float) -> None:
        """
        Restart the child at once if its configuration has changed; that is not a failure.

        Raises:
            SourceError: If *config* cannot be written; all stays as it was.
        """
        if config != self._config:
            file = config_file(config)
            self.close()
            self._config = config
            self._config_file = file
            self._has_failed = False
            self._backoff.reset()
            self._start_at_s = self._clock()
        self._silent_after_s = _silent_after_s(period_s)

    def close(self) -> None:
        """Stop the child."""
        if self._child is not None:
            self._child.stop()
            self._child = None
        self._config_file.close()

    def _start(self) -> None:
        self.restarts += self._has_failed
        self._has_failed = False
        self._started_at_s = self._heard_at_s = self._clock()
        file = f"/proc/{os.getpid()}/fd/{self._config_file.fileno()}"
        try:
            self._child = Child([self._path, "-c", file])
        except OSError as error:
            reason = error.strerror or type(error).__name__
            how = f"could not be started: {reason}"
            self._report_failure(NOT_STARTED, how, {"Reason": reason})

    def _read_child(self, timeout_s: float) -> bytes:
        child = self._child
        if child is None:
            return b""
        chunk = child.read_chunk(timeout_s)
        now_s = self._clock()
        ran_s = now_s - self._started_at_s
        if chunk:
            self._heard_at_s = now_s
            if ran_s >= WELL_AFTER_S:
                self._backoff.reset()
            if self._failures:
                self._report_recovery()
            return chunk
        silent_s = now_s - self._heard_at_s
        details: Details = {"RanSeconds": round(ran_s, 3)}
        if chunk is None:
            self._child = None
            how = _end_words(child.stop(END_WITHIN_S), ran_s, details)
            self._report_failure(DIED, how, details, child.error_tail)
        elif silent_s >= self._silent_after_s:
            self._child = None
            child.stop()
            how = f"wrote nothing for {silent_s:.0f} s and was stopped"
            details = {"SilentSeconds": round(silent_s, 3), **details}
            self._report_failure(STALLED, how, details, child.error_tail)
        return b""

    def _report_failure(
        self, name: str, how: str, details: Details, words: ErrorTail | None = None
    ) -> None:
        """Report a failure and delay the next start."""
        if not self._failures:
            self._failing_since_s = self._clock()
        self._failures += 1
        self._has_failed = True
        wait_s = self._backoff.next_s()
        self._start_at_s = self._clock() + wait_s
        if count := self._event_repeats.due(name):
            if text := words and words.text():
                details["Stderr"] = text
            self._report_event(name, f"neuron-monitor {how}", details, count)
        if times := self._log_repeats.due("restart"):
            last_line = words and words.last_line()
            _log.warning(
                "%s %s%s; restarting it in %.1f s%s",
                self.name,
                how,
                f" ({times} times since the last message)" if times > 1 else "",
                wait_s,
                f"; its last output: {last_line}" if last_line else "",
            )

    def _report_recovery(self) -> None:
        failures = self._failures
        self._failures = 0
        down_s = self._clock() - self._failing_since_s
        if count := self._event_repeats.due(RESTARTED):
            what = f"reports again after {down_s:.0f} s and {counted(failures, 'failure')}"
            _log.info("%s %s", self.name, what)
            details: Details = {"DownSeconds": round(down_s, 3), "Failures": failures}
            self._report_event(RESTARTED, f"neuron-monitor {what}", details, count)

    def _report_event(self, name: str, message: str, details: Details, count: int) -> None:
        if count > 1:
            details["Count"] = count
        self._on_event(Event(name, self._now_s(), message, details))


def config_file(config: str) -> IO[bytes]:
    """
    Write *config* to a file without a name, which disappears with us, even after kill -9.

    The child opens the file through our `/proc`.

    Raises:
        SourceError: If the file cannot be written.
    """
    try:
        with ExitStack() as stack:
            file = TemporaryFile()  # noqa: SIM115 - the monitor closes it
            stack.callback(file.close)
            file.write(config.encode())
            file.flush()
            stack.pop_all()
            return file
    except OSError as error:
        msg = (
            "Cannot write neuron-monitor's configuration to a temporary file: "
            f"{error.strerror}. Set TMPDIR to a writable folder."
        )
        raise SourceError(msg) from error


def _silent_after_s(period_s: float) -> float:
    return max(SILENT_AT_LEAST_S, SILENT_PERIODS * period_s)


def _end_words(end: End, ran_s: float, details: Details) -> str:
    """Return how the child ended, for a person; its exit code or signal is added to *details*."""
    if end.was_stopped:
        return f"closed its output after {ran_s:.0f} s and was stopped"
    if end.signal_name is not None:
        details["Signal"] = end.signal_name
        return f"was killed by {end.signal_name} after {ran_s:.0f} s"
    details["ExitCode"] = end.code
    return f"exited with code {end.code} after {ran_s:.0f} s"
