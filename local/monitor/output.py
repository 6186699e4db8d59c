"""
Writing to a reader that may be slow or gone, and ending when told to.

A signal only leaves a mark and wakes whoever waits: a report is either written
whole and then noted as true, or cut off and not noted. An exception out of a
signal handler could fall between the two.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import stat
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_LOOK_EVERY_S: Final = 1.0


class Stop:
    """
    Whether the simulator has been told to end.

    Attributes:
        requested: Whether it has.
    """

    def __init__(self) -> None:
        self.requested = False
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_writer, False)

    @property
    def descriptor(self) -> int:
        """Readable from the moment that it is told."""
        return self._wake_reader

    def request(self, _signal: int = 0, _frame: FrameType | None = None) -> None:
        """End soon; also the signal handler."""
        self.requested = True
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_writer, b"\0")

    def wait(self, seconds: float) -> bool:
        """
        Wait, but not beyond being told.

        Returns:
            Whether it has been told.
        """
        if not self.requested and seconds > 0:
            select.select([self._wake_reader], [], [], seconds)
        return self.requested

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self._wake_reader)
        os.close(self._wake_writer)


@contextlib.contextmanager
def stopping_on_signals() -> Iterator[Stop]:
    """SIGTERM and SIGINT request a stop while this lasts."""
    stop = Stop()
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, stop.request) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        stop.close()


class ReportStream:
    """
    Where the lines go: standard output, unbuffered, so that each report is out when written.

    Attributes:
        stop: Whether told to end.
    """

    def __init__(self, descriptor: int, stop: Stop) -> None:
        self._descriptor = descriptor
        self.stop = stop
        self._is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)

    def write(self, line: bytes) -> bool:
        """
        Write the whole *line*, however slowly it is read.

        Returns:
            Whether all of it was written; False when told to stop meanwhile.

        Raises:
            BrokenPipeError: If nobody reads any more.
        """
        rest = memoryview(line)
        while rest:
            if self.stop.requested:
                return False
            if self._is_file:
                rest = rest[os.write(self._descriptor, rest) :]
                continue
            ready = select.select([self.stop.descriptor], [self._descriptor], [])[1]
            if ready:
                # As much as a pipe that is ready surely takes without blocking.
                rest = rest[os.write(self._descriptor, rest[: select.PIPE_BUF]) :]
        return True

    def hang(self) -> None:
        """
        Write nothing and take no notice of SIGTERM.

        Ends on SIGINT, so that a person can, and when the reader or the parent
        is gone, so that no rehearsal leaves a hung process behind. A program
        that waits for its end while it holds the pipe open sees a process that
        only SIGKILL ends.
        """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        parent = os.getppid()
        watch = select.poll()
        watch.register(self.stop.descriptor, select.POLLIN)
        if not self._is_file:
            watch.register(self._descriptor, 0)  # errors are always reported
        while not self.stop.requested and os.getppid() == parent:
            for descriptor, event in watch.poll(1000 * _LOOK_EVERY_S):
                if descriptor == self._descriptor and event & select.POLLERR:
                    return
