"""
Run a command that dies with the process that started it.

    python tether.py PARENT-PID COMMAND ARGUMENT...

Asks the kernel to send SIGTERM to this process when its parent ends, however it
ends, then becomes COMMAND. The request survives exec, so COMMAND needs to know
nothing. Linux only: elsewhere COMMAND is run as it is.

A program of its own rather than code between fork and exec, where a parent with
threads may do almost nothing. Facts: `PR_SET_PDEATHSIG` in prctl(2).
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
NO_SUCH_COMMAND = 127  # the exit code a shell gives


def main(arguments: list[str]) -> None:
    """Become the command in *arguments*; returns only by exiting."""
    parent_pid, *command = arguments
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != int(parent_pid):
            return  # the parent was gone before the kernel knew of us
    try:
        os.execvp(command[0], command)  # noqa: S606  # no shell is the point
    except OSError as error:
        print(f"{command[0]} cannot be run: {error.strerror}", file=sys.stderr)
        raise SystemExit(NO_SUCH_COMMAND) from error


if __name__ == "__main__":
    main(sys.argv[1:])
