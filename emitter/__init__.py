"""
neuron-emf on an instance: neuron-monitor reports in, EMF log lines out.

* `cli`, `command_line`          the commands of an instance, and how a command runs and ends
* `drop_in`                      neuron-monitor-cloudwatch.py with one word changed
* `settings`                     what a person may ask for
* `run`, `replay`                the running emitter, and the same without a clock
* `reports`                      from neuron-monitor to typed reports
* `fold`                         from reports to a minute
* `lines`, `writer`              from a minute to lines
* `spool`                        lines on disk until they are delivered
* `delivery`                     from the spool to where the lines go
* `instance`, `owners`, `kernel` what is not in reports: who this is, whose a process is, faults
* `prometheus`                   the last report on a page for Prometheus, where it is asked for
* `health`, `logs`               the emitter on itself, and to its operator
* `errors`, `events`             what can go wrong, and what is reported as an event
* `backoff`, `repeats`           growing waits, and events that repeat
"""

from typing import Final

__version__: Final = "0.1.0"
VARIABLE_PREFIX: Final = "NEURON_EMF"
