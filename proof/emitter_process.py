"""
Run `neuron-emf` as its own process, as a person or systemd starts it.

It sees nothing of this machine: no configuration file of the system, no credentials, no instance
metadata, no kernel messages, no processes, no home folder.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
import termios
import time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def environment(home: Path, **variables: str) -> dict[str, str]:
    """Return the environment of a process: its own home and the given variables."""
    return {
        "HOME": str(home),
        "PATH": os.defpath,
        "PYTHONPATH": ":".join(sys.path),
        "AWS_EC2_METADATA_DISABLED": "true",
        "NEURON_EMF_KERNEL_MESSAGES": "none",
        "NEURON_EMF_ATTRIBUTION": "none",
        **variables,
    }


HUNG_AFTER_S: Final = 600.0  # limits a hang and judges nothing: retries alone may take 240 s


def wait_until(
    is_so: Callable[[], object], within_s: float = HUNG_AFTER_S, *, event: str = "the condition"
) -> None:
    """
    Check *is_so* every few milliseconds until it is true.

    Raises:
        AssertionError: *event* did not happen within *within_s* seconds.
    """
    deadline_s = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline_s, f"{event} did not happen within {within_s:.0f} s"
        time.sleep(0.01)


def bytes_in(pipe: Any) -> int:
    """Return the number of bytes that wait in a pipe."""
    answer = fcntl.ioctl(pipe.fileno(), termios.FIONREAD, struct.pack("i", 0))
    return int(struct.unpack("i", answer)[0])
