"""
Log lines of a fleet, from CloudWatch Logs or from files, as minutes.

What several records of one instance and minute say together is
`neuron_wire.merging`, the same rule that the stack's rollups follow.
"""

from neuron_emf.reading.files import lines_in
from neuron_emf.reading.log_group import MINUTES_FILTER, LogGroup, pattern_of
from neuron_emf.reading.minute_records import Records
from neuron_emf.reading.periods import moment_ms

__all__ = ["MINUTES_FILTER", "LogGroup", "Records", "lines_in", "moment_ms", "pattern_of"]
