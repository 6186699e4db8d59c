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

* `message`   one message of the kernel log, from wherever it was read
* `fault`     what a message says about broken hardware
* `kmsg`      messages out of /dev/kmsg
* `journal`   messages out of systemd's journal
* `opening`   which of the two is read
* `position`  how far the log was read, over restarts and from either place
* `sight`     which messages are news, and which of those are faults
* `watch`     the thread that reads
* `faults`    what was found, until the spool holds it
* `telling`   faults as events, and no more than a person can read
"""

from __future__ import annotations

from emitter.kernel.faults import KernelFaults
from emitter.kernel.opening import AUTO, opener
from emitter.kernel.position import read_log_state
from emitter.kernel.watch import KernelWatch

__all__ = ["KernelFaults", "KernelWatch", "watch_of"]


def watch_of(choice: str, state: bytes | None) -> KernelWatch | None:
    """
    Read the kernel log of this machine as *choice* says, on from where *state* is.

    None for `none`. It has to be closed.
    """
    open_log = opener(choice)
    if open_log is None:
        return None
    return KernelWatch(open_log, read_log_state(state), is_asked_for=choice != AUTO)
