"""
What the emitter and the stack cost, measured on the machine that asks: `python -m benchmarks`.

Processor time stands beside a reference in the same run, the two in turns where both are
ours to run, so that a slow or a busy machine makes both slow: a bare decode of the same
bytes, and what people run today. Limits are printed beside figures; only `--check` makes
a figure over its limit a failure, and only `--record` changes docs/explanation/benchmarks.md.

* `figure`       one figure, its limit, its reference, the table
* `turns`        two pieces of work in turns, and their ratio
* `reports`      reports of the sizes that matter, from the simulated neuron-monitor
* `reading`      a report: read, decoded, folded
* `instance`     the emitter's minute in one process
* `minutes`      a minute: its lines' size and what closing it costs
* `spooling`     records through the spool
* `residence`    memory of running emitters, and of naive ones
* `others`       what people run today, beside the emitter
* `sink`         what everything sends to: an AWS that says yes
* `month`        what a month costs, beside PutMetricData
* `ledger`       a month of the ledger: its size, and how long its readers take
* `fresh_clone`  from a fresh clone to the first rollup on screen
* `page`         docs/explanation/benchmarks.md, from what was recorded
* `record`       what a command printed, kept for the pages
* `machine`      what it ran on
* `stack`        what the stack's functions cost
* `scale`        from that to a bill: `python -m benchmarks.scale`, docs/explanation/scale.md
"""

from __future__ import annotations

import sys
from pathlib import Path

# Where the functions live: a root folder of its own, which is not installed.
sys.path.append(str(Path(__file__).resolve().parent.parent / "lambda"))
