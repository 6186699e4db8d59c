"""
What the emitter and the stack cost, measured on the machine that asks: `python -m benchmarks`.

Every figure of the emitter's processor time stands beside a bare decode of the same bytes in
the same process, the two in turns, so that a slow or a busy machine makes both
slow. Limits are printed beside figures; only `--check` makes a figure over its
limit a failure.

* `figures`      one figure, its limit, the table
* `turns`        two pieces of work in turns, and their ratio
* `reports`      reports of the sizes that matter, from the simulated neuron-monitor
* `reading`      a report: read, decoded, folded
* `minutes`      a minute: its lines' size and what closing it costs
* `spooling`     records through the spool
* `residence`    memory of running emitters
* `logs_sink`    what they send to: a CloudWatch Logs that says yes
* `stack`        what the stack's functions cost
* `scale`        from that to a bill: `python -m benchmarks.scale`, docs/scale.md
"""

from __future__ import annotations

import sys
from pathlib import Path

# Where the functions live: a root folder of its own, which is not installed.
sys.path.append(str(Path(__file__).resolve().parent.parent / "lambda"))
