"""
The processes and the folder of a rehearsal, and their removal at its end.

A signal interrupts nothing: it is remembered, and the next wait raises. Each process is registered
before the next wait, so a signal always finds every process registered.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from local.embedded_aws.child_processes import ChildProcess

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STOP_PATIENCE_S: Final = 6.0  # an emitter flushes for 5
FOLDER_PREFIX: Final = "neuron-emf-rehearsal-"
DOT_EACH_S: Final = 2.0
_LOOK_S: Final = 0.05
"""Seconds between two checks for a signal during a wait: sleep continues after one."""


class StoppedError(Exception):
    """
    A signal asked the rehearsal to stop.

    Attributes:
        signal_number: The signal's number.
    """

    def __init__(self, signal_number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(signal_number).name}")
        self.signal_number = signal_number


@final
class Workspace:
    """
    The workspace of a rehearsal, a context manager; everything started inside is gone after it.

    Attributes:
        folder: The folder for all written files.
    """

    def __init__(self) -> None:
        self._signal_number = 0
        self._children: list[ChildProcess] = []
        self._exits = contextlib.ExitStack()
        self.folder = Path()

    def __enter__(self) -> Workspace:
        for number in SIGNALS:
            self._exits.callback(signal.signal, number, signal.signal(number, self._remember))
        self.folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
        self._exits.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self._exits.callback(self.stop_all)
        return self

    def __exit__(self, *_error: object) -> None:
        self._exits.close()

    def check_signals(self) -> None:
        """
        Raise if a signal came.

        Raises:
            StoppedError: If a signal came.
        """
        if self._signal_number:
            raise StoppedError(self._signal_number)

    def forget_signal(self) -> None:
        """Continue after Ctrl-C, which ends the display and not the comparison after it."""
        self._signal_number = 0

    def wait(self, seconds: float) -> None:
        """
        Wait, but at most until a signal comes.

        Raises:
            StoppedError: If one came.
        """
        until = time.monotonic() + seconds
        while not self._signal_number and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _LOOK_S))
        self.check_signals()

    def adopt(self, child: ChildProcess) -> ChildProcess:
        """Stop *child* together with the workspace."""
        self._children.append(child)
        return child

    def write(self, name: str, text: str) -> None:
        """Put *text* into a file of the folder, for people."""
        (self.folder / name).write_text(f"{text}\n", encoding="utf-8")

    def stop_all(self) -> None:
        """Stop every registered process, all at once."""
        children = self._children
        self._children = []
        for child in children:
            child.ask_to_stop()
        deadline = time.monotonic() + STOP_PATIENCE_S
        for child in children:
            child.stop(deadline - time.monotonic())

    def _remember(self, number: int, _frame: FrameType | None) -> None:
        # No lock: the handler may run while the main thread holds it.
        self._signal_number = self._signal_number or number


@contextlib.contextmanager
def step(title: str) -> Iterator[None]:
    """Print *title*, a dot each `DOT_EACH_S`, then the time that the block took."""
    started_s = time.monotonic()
    print(f"{title} ...", end="", flush=True)
    outcome = "stopped after"
    ended = threading.Event()
    dots = threading.Thread(target=_print_dots, args=(ended,), daemon=True)
    dots.start()
    try:
        yield
        outcome = "done in"
    finally:
        ended.set()
        dots.join()
        print(f" {outcome} {time.monotonic() - started_s:.1f} s", flush=True)


def _print_dots(ended: threading.Event) -> None:
    while not ended.wait(DOT_EACH_S):
        print(".", end="", flush=True)
