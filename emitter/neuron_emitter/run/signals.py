"""
Signals from the operator, and notifications to the supervisor that started us.

systemd is notified with its own protocol: one datagram per message, to the socket that the
variables name, from https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html Without
these variables nothing is sent. A failed notification is logged and is not an error: the watchdog
acts by itself if heartbeats are missing.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import time
from contextlib import ExitStack
from signal import SIGHUP, SIGINT, SIGTERM
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping
    from types import FrameType

    from neuron_emitter.logs import Clock

RUN: Final = "run"  # the command that stops as planned
_STOP_SIGNALS: Final = (SIGINT, SIGTERM)
_LOOK_S: Final = 0.05
_BY_SIGNAL: Final = 128  # plus the signal's number: a shell's exit code for an ended process

SOCKET_VARIABLE: Final = "NOTIFY_SOCKET"
WATCHDOG_VARIABLE: Final = "WATCHDOG_USEC"
WATCHDOG_PID_VARIABLE: Final = "WATCHDOG_PID"
SEND_WITHIN_S: Final = 1.0
BEATS_IN_A_PERIOD: Final = 4  # heartbeats in a watchdog period: three may be lost or late
_MAX_STATUS_CHARS: Final = 500

_log = logging.getLogger(__name__)


def end_at_once_if_stopped() -> None:
    """
    Exit with code 0 on a stop signal, until `Signals` takes over: no work has started yet.

    Call this before the imports, which take longer than anything else at the start. Without it a
    supervisor sees a failure (-15), and the first process of a container ignores the signal.
    """
    for number in _STOP_SIGNALS:
        signal.signal(number, lambda *_: os._exit(0))


def is_stopping_within(patience_s: float, is_stopping: Callable[[], bool]) -> bool:
    """Return True if a stop is requested, now or in the next *patience_s* seconds."""
    ends_at_s = time.monotonic() + patience_s
    while not (found := is_stopping()) and time.monotonic() < ends_at_s:
        time.sleep(_LOOK_S)
    return found


@final
class Signals(ExitStack):
    """
    SIGTERM and SIGINT request a planned stop, SIGHUP to read the configuration again.

    A second stop request ends the process at once. At the end of the block, the earlier signal
    handlers are restored.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stopping = False
        self._reload = False
        handlers = dict.fromkeys(_STOP_SIGNALS, self._ask_to_stop)
        for number, handler in {**handlers, SIGHUP: self._ask_to_reload}.items():
            self.callback(signal.signal, number, signal.signal(number, handler))

    def is_stopping(self) -> bool:
        """Return True if a stop was requested. It never becomes False again."""
        return self._stopping

    def take_reload(self) -> bool:
        """Return True if a reload was requested, and clear the request."""
        asked = self._reload
        self._reload = False
        return asked

    def _ask_to_stop(self, number: int, _frame: FrameType | None) -> None:
        if self._stopping:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
            # only the first process of a container still exists after the signal
            os._exit(_BY_SIGNAL + number)
        self._stopping = True

    def _ask_to_reload(self, _number: int, _frame: FrameType | None) -> None:
        self._reload = True


@final
class Supervisor:
    """
    The supervisor behind the notification socket, if there is one.

    Its variables are removed from *environ*: a program that we start must not notify in our name.
    """

    def __init__(
        self,
        environ: MutableMapping[str, str] | None = None,
        *,
        monotonic: Clock = time.monotonic,
    ) -> None:
        environ = os.environ if environ is None else environ
        self._monotonic = monotonic
        self._address = _address(environ.pop(SOCKET_VARIABLE, ""))
        self._beat_every_s = _beat_every_s(
            environ.pop(WATCHDOG_VARIABLE, ""), environ.pop(WATCHDOG_PID_VARIABLE, "")
        )
        self._beat_at_s = monotonic()
        self._has_failed = False

    def notify_ready(self, status: str) -> None:
        """Notify that we are ready: what depends on us may start."""
        self._notify("READY=1", _status(status))

    def notify_status(self, sentence: str) -> None:
        """Set the status that `systemctl status` shows."""
        self._notify(_status(sentence))

    def notify_watchdog(self) -> None:
        """Send a heartbeat, if one is due."""
        if self._beat_every_s is None or self._monotonic() < self._beat_at_s:
            return
        if self._notify("WATCHDOG=1"):  # otherwise try again at the next turn
            self._beat_at_s = self._monotonic() + self._beat_every_s

    def notify_reloading(self) -> None:
        """Notify that the configuration is being reloaded; `notify_ready` ends that."""
        self._notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def notify_stopping(self, status: str) -> None:
        """Notify that we are stopping, so that no watchdog fires and no supervisor restarts us."""
        self._notify("STOPPING=1", _status(status))

    def _notify(self, *assignments: str) -> bool:
        """Send one datagram. Return True if it was delivered."""
        if self._address is None:
            return False
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.settimeout(SEND_WITHIN_S)  # a supervisor that hangs must not block us
                sender.connect(self._address)
                sender.send("\n".join(assignments).encode("utf-8", "replace"))
        except OSError as error:
            if not self._has_failed:
                self._has_failed = True
                _log.warning("Cannot notify %s: %s", SOCKET_VARIABLE, error)
            return False
        return True


def _address(given: str) -> str | None:
    """The socket's address: a path, or an abstract name behind `@`."""
    if given.startswith("/"):
        return given
    return f"\0{given[1:]}" if given.startswith("@") else None


def _beat_every_s(period_us: str, pid: str) -> float | None:
    """Return the seconds between two heartbeats; None without a watchdog of this process."""
    if not (period_us.isascii() and period_us.isdigit()) or (pid and pid != str(os.getpid())):
        return None
    return int(period_us) / 1e6 / BEATS_IN_A_PERIOD or None


def _status(sentence: str) -> str:
    return f"STATUS={' '.join(sentence.split())[:_MAX_STATUS_CHARS]}"
