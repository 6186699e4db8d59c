"""What the kernel says about the process that asks, or about another one."""

from __future__ import annotations

import os
from pathlib import Path


def peak_mib(process: int | str = "self") -> float:
    """
    The most memory that *process* has had.

    Not what getrusage says: that begins with what the parent had when it
    started us.

    Raises:
        RuntimeError: If the kernel does not say it: it must be Linux.
    """
    for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    msg = "the kernel does not say VmHWM, the memory that a process has had; measure on Linux"
    raise RuntimeError(msg)


def processor_s(process: int) -> float:
    """Processor time of another *process*, in hundredths."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
