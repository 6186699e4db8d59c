"""
Log lines of a fleet, from CloudWatch Logs or from files, as minutes.

* `log_group`   lines of a time range out of CloudWatch Logs, page by page
* `files`       lines of files, plain or gzip, or of standard input
* `records`     the minute records among lines, each once, and a count of the rest
* `rollup_line` one line of a rollup
* `clusters`    which clusters there are, for whoever named another
* `periods`     what `--since 7d` and `--until 2026-11-20T08:00:00Z` mean, and the clock

What several records of one instance and minute say together is
`neuron_wire.merging`, the same rule that the stack's rollups follow.
"""

from neuron_emf.reading.files import lines_in
from neuron_emf.reading.log_group import MINUTES, LogGroup, pattern_of
from neuron_emf.reading.periods import moment_ms, period_ms
from neuron_emf.reading.records import Records

__all__ = ["MINUTES", "LogGroup", "Records", "lines_in", "moment_ms", "pattern_of", "period_ms"]
