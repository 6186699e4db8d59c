"""
Hardware faults in the kernel log.

The Neuron runtime makes the driver write `NEURON_HW_ERR=CODE` with the device and the recommended
action into the kernel log, from
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/neuron-runtime/nrt-troubleshoot.html No
report of neuron-monitor contains it.

A thread reads the log, and the reading loop takes the faults that it found. The position in the log
is stored in the spool, in the transaction of the events and of the minute: after a restart, faults
from the meantime are counted, and no fault is counted twice. If the log cannot be read, the count
is missing, which does not mean that there was no fault.
"""

from neuron_emitter.kernel.faults import KernelFaults
from neuron_emitter.kernel.watch import KernelWatch, watch_of

__all__ = ["KernelFaults", "KernelWatch", "watch_of"]
