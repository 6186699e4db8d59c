"""Reports that somebody pipes into an emitter that reads none from there."""

from __future__ import annotations

import fcntl
import logging
import os
import stat
import struct
import sys
import termios
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

LOOK_AFTER_S: Final = 10.0  # a monitor in front of us has written by then
STANDARD_INPUT: Final = 0

_log = logging.getLogger(__name__)


class UnreadInput:
    """
    One look at standard input, some seconds after the start.

    Whatever waits there was written by somebody: the pipes that supervisors
    and ssh give a program stay empty, so none of them need be known by name.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._look_at_s = clock() + LOOK_AFTER_S

    def look(self) -> None:
        """Say what is wrong, if it is time to look and something is; at most once."""
        if self._clock() < self._look_at_s:
            return
        self._look_at_s = float("inf")
        if bytes_waiting(STANDARD_INPUT):
            _log.warning(
                "Standard input is a pipe that is being written to, but it is not read. "
                "Use --input - to read reports from it instead of starting "
                "neuron-monitor."
            )


def bytes_waiting(descriptor: int) -> int:
    """What was written to a pipe or socket and not yet read; 0 for anything else."""
    try:
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            return 0
        answer = fcntl.ioctl(descriptor, termios.FIONREAD, struct.pack("i", 0))
    except OSError:  # it is closed
        return 0
    return int.from_bytes(answer, sys.byteorder)
