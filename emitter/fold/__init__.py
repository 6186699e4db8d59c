"""
From reports to a minute: the meaning of every number in a minute line.

One file per subject, each a small accumulator with `add` and a reading at the
end of the minute. All of it is pure: times come in as arguments, state goes
out as a value.

* `minute`      the open minute: which reports belong to it, what it says when it closes
* `stamp`       what a minute takes from people and from the emitter
* `inventory`   which instance this is and which cores exist
* `periods`     how long a report's sample is, and how long it may be believed
* `listing`     what the runtimes of one report say about each core
* `cores`       utilization and FLOP/s of each core
* `held`        which cores a runtime holds
* `idle`        whole minutes in a row a core has not been busy
* `executions`  execution tallies and latency
* `memory`      device and host bytes of the runtimes
* `ecc`         memory errors of the devices, and how they rise
* `host`        vCPU and memory of the host
* `amounts`     what a number of a report can be at all
"""

from emitter.fold.minute import Fold
from emitter.fold.stamp import FoldSettings, Stamp

__all__ = ["Fold", "FoldSettings", "Stamp"]
