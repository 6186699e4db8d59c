"""
What happens to neuron-monitor, for the log and for lines of their own.

A monitor that dies each second must fill neither: each kind of event is let
through at most once per interval, with the number of those that were not.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final

from emitter.events import Event
from emitter.logs import Repeats

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.reports.child import End
    from emitter.reports.last_words import LastWords

DIED: Final = "MonitorDied"
STALLED: Final = "MonitorStalled"
NOT_STARTED: Final = "MonitorNotStarted"
RESTARTED: Final = "MonitorRestarted"

LOG_INTERVAL_S: Final = 10.0
EVENT_INTERVAL_S: Final = 300.0

Details = dict[str, str | int | float]

_log = logging.getLogger(__name__)


class Troubles:
    """
    One monitor's failures in a row, until it reports again.

    Attributes:
        failures: In a row, since it last reported.
    """

    def __init__(
        self,
        name: str,
        on_event: Callable[[Event], None],
        clock: Callable[[], float] = time.monotonic,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self.failures = 0
        self._name = name
        self._on_event = on_event
        self._clock = clock
        self._now_s = now_s
        self._log_repeats = Repeats(LOG_INTERVAL_S, clock)
        self._event_repeats = Repeats(EVENT_INTERVAL_S, clock)
        self._failing_since_s = 0.0

    def died(self, end: End, words: LastWords, *, ran_s: float, wait_s: float) -> None:
        """It ended, or closed the output it should write to."""
        details: Details = {"RanSeconds": round(ran_s, 3)}
        if end.was_stopped:
            how = f"closed its output after {ran_s:.0f} s and was stopped"
        elif end.signal_name is not None:
            how = f"was killed by {end.signal_name} after {ran_s:.0f} s"
            details["Signal"] = end.signal_name
        else:
            how = f"exited with code {end.exit_code} after {ran_s:.0f} s"
            details["ExitCode"] = end.exit_code or 0
        self._failed(DIED, how, details, words, wait_s)

    def stalled(self, words: LastWords, *, silent_s: float, ran_s: float, wait_s: float) -> None:
        """It wrote nothing for too long."""
        how = f"wrote nothing for {silent_s:.0f} s and was stopped"
        details: Details = {"SilentSeconds": round(silent_s, 3), "RanSeconds": round(ran_s, 3)}
        self._failed(STALLED, how, details, words, wait_s)

    def not_started(self, error: OSError, *, wait_s: float) -> None:
        """The system refused to start it."""
        reason = error.strerror or type(error).__name__
        how = f"could not be started: {reason}"
        self._failed(NOT_STARTED, how, {"Reason": reason}, None, wait_s)

    def reported(self) -> None:
        """It writes again, after failures."""
        failures, self.failures = self.failures, 0
        silent_s = self._clock() - self._failing_since_s
        if count := self._event_repeats.due(RESTARTED):
            noun = "failure" if failures == 1 else "failures"
            what = f"reports again after {silent_s:.0f} s and {failures} {noun}"
            _log.info("%s %s", self._name, what)
            details: Details = {"DownSeconds": round(silent_s, 3), "Failures": failures}
            self._event(RESTARTED, f"neuron-monitor {what}", details, count)

    def _failed(
        self, name: str, how: str, details: Details, words: LastWords | None, wait_s: float
    ) -> None:
        if not self.failures:
            self._failing_since_s = self._clock()
        self.failures += 1
        said = "" if words is None else words.text()
        if count := self._event_repeats.due(name):
            if said:
                details["Stderr"] = said
            self._event(name, f"neuron-monitor {how}", details, count)
        if times := self._log_repeats.due("restart"):
            last_line = "" if words is None else words.last_line()
            _log.warning(
                "%s %s%s; restarting it in %.1f s%s",
                self._name,
                how,
                f" ({times} times since the last message)" if times > 1 else "",
                wait_s,
                f"; its last output: {last_line}" if last_line else "",
            )

    def _event(self, name: str, message: str, details: Details, count: int) -> None:
        if count > 1:
            details["Count"] = count
        self._on_event(Event(name, self._now_s(), message, details))
