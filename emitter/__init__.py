"""
neuron-emf on an instance: neuron-monitor reports in, EMF log lines out.

* `cli`, `options`, `settings`   what a person may ask for
* `service`, `replay`            the running emitter, and the same without a clock
* `reports`                      from neuron-monitor to typed reports
* `fold`                         from reports to a minute
* `emf`                          from a minute to lines
* `spool`                        lines on disk until they are delivered
* `outlet`, `delivery`           from the spool to where the lines go
* `health`, `identity`, `logs`   the emitter on itself, on its host, and to its operator
"""

from typing import Final

__version__: Final = "0.1.0"
