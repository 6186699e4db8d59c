"""What the operator asks for by signals."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

RUN: Final = "run"  # the command that a stop is part of
_STOP: Final = (signal.SIGINT, signal.SIGTERM)
_LOOK_S: Final = 0.05
_BY_SIGNAL: Final = 128  # plus its number: the exit code that shells give what a signal ended


def end_at_once_if_stopped() -> None:
    """
    Until `Signals` begins, let a stop end this process with exit code 0: nothing has begun yet.

    To be called before the imports, which take longer than anything else at the
    start. Without it a supervisor sees a failure (-15), and the first process of
    a container sees no signal at all.
    """
    for number in _STOP:
        signal.signal(number, lambda *_: os._exit(0))


def is_stopping_within(patience_s: float, is_stopping: Callable[[], bool]) -> bool:
    """Whether a stop is asked for, now or in the next *patience_s* seconds."""
    ends_at_s = time.monotonic() + patience_s
    while not (found := is_stopping()) and time.monotonic() < ends_at_s:
        time.sleep(_LOOK_S)
    return found


@final
class Signals:
    """
    SIGTERM and SIGINT ask for a planned stop, SIGHUP to read the configuration again.

    A second request to stop is not waited for: it ends the process. What the
    signals did before comes back at the end of the block.
    """

    def __init__(self) -> None:
        self._stopping = False
        self._reload = False
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> Signals:
        for number in _STOP:
            self._before[number] = signal.signal(number, self._ask_to_stop)
        self._before[signal.SIGHUP] = signal.signal(signal.SIGHUP, self._ask_to_reload)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal() gave us
        self._before.clear()

    def is_stopping(self) -> bool:
        """Whether a stop was asked for. It stays so."""
        return self._stopping

    def take_reload(self) -> bool:
        """Whether the configuration is to be read again; the request is then taken."""
        asked, self._reload = self._reload, False
        return asked

    def _ask_to_stop(self, number: int, _frame: FrameType | None) -> None:
        if self._stopping:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
            os._exit(_BY_SIGNAL + number)  # only the first process of a container is still there
        self._stopping = True

    def _ask_to_reload(self, _number: int, _frame: FrameType | None) -> None:
        self._reload = True
