"""
What the kernel log says of broken Neuron hardware.

The Neuron runtime has the driver write `NEURON_HW_ERR=CODE` with the device
and the action it advises into the kernel log, from
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/neuron-runtime/nrt-troubleshoot.html
No report of neuron-monitor carries it.

A thread reads; the reading loop takes what it found, and the place in the log
goes into the spool together with what was counted and told: a restart counts
what came meanwhile, and nothing again. Where the log cannot be read nobody
counts, which is not the same as no fault.
"""

from __future__ import annotations

import logging

from emitter.kernel.faults import KernelFaults
from emitter.kernel.kmsg import AUTO, JOURNAL, opener
from emitter.kernel.position import LogState
from emitter.kernel.watch import KernelWatch

__all__ = ["KernelFaults", "KernelWatch", "LogState", "watch_of"]

_log = logging.getLogger(__name__)


def watch_of(choice: str, state: LogState) -> KernelWatch | None:
    """
    Read the kernel log of this machine as *choice* says, on from *state*; None for `none`.

    The caller closes it.
    """
    if choice == JOURNAL:
        _log.warning("--kernel-messages journal is deprecated and reads /dev/kmsg. Use auto.")
    open_log = opener(choice)
    if open_log is None:
        return None
    return KernelWatch(open_log, state, is_asked_for=choice != AUTO)
