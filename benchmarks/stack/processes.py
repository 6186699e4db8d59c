"""What the kernel says about the process that asks."""

from __future__ import annotations

from pathlib import Path


def peak_mib() -> float:
    """
    The most memory that this process has had.

    Not what getrusage says: that begins with what the parent had when it
    started us.

    Raises:
        RuntimeError: If the kernel does not say it: it must be Linux.
    """
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    msg = "the kernel does not say VmHWM, the memory that a process has had; measure on Linux"
    raise RuntimeError(msg)
