"""
Hardware faults in the kernel log.

The Neuron runtime has the driver write `NEURON_HW_ERR=CODE` with the device
and the recommended action into the kernel log, from
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/neuron-runtime/nrt-troubleshoot.html
No report of neuron-monitor carries it.

A thread reads the log; the reading loop takes what it found. The position in the
log goes into the spool in the transaction of the events and of the minute: a
restart counts what came meanwhile, and nothing twice. Where the log cannot be
read the count is missing, which is not the same as no fault.
"""

from neuron_emitter.kernel.faults import KernelFaults
from neuron_emitter.kernel.watch import KernelWatch, watch_of

__all__ = ["KernelFaults", "KernelWatch", "watch_of"]
