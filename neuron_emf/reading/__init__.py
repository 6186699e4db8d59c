"""
Log lines of a fleet, from CloudWatch Logs or from files, as minutes.

`neuron_wire.merging` merges several records of one instance and minute, as in the stack's rollups.
"""

from neuron_emf.reading.files import lines_in
from neuron_emf.reading.log_group import MINUTES_FILTER, LogGroup, pattern_of
from neuron_emf.reading.minute_lines import Records
from neuron_emf.reading.periods import moment_ms

__all__ = ["MINUTES_FILTER", "LogGroup", "Records", "lines_in", "moment_ms", "pattern_of"]
