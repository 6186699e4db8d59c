"""
From reports to a minute: the meaning of every number in a minute line.

One file per subject, each a small accumulator with `add` and a reading at the
end of the minute. All of it is pure: times come in as arguments, state goes
out as a value.

* `minute`           the open minute: what its reports add up to, and its record
* `minute_clock`     which minute is open
* `stamp`            what a minute takes from people and from the emitter
* `state`            what must survive a restart
* `inventory`        which instance this is and which cores exist
* `periods`          how long a report's sample is, and how long it may be believed
* `listing`          what the runtimes of one report say about each core
* `span`             which cores a report is about
* `cores`            utilization and FLOP/s of each core, and its state
* `idle`             whole minutes in a row a core has not been busy
* `minute_runtimes`  the runtimes of the open minute
* `runtime_fold`     what each of them did
* `held_cores`       which cores a runtime holds, and who holds those that are attached idle
* `core_pods`        which pod a core is allocated to
* `runtimes`         one runtime's minute, for its line
* `runtime_lines`    which runtimes a line is due for
* `executions`       execution tallies and latency
* `memory`           device and host bytes of the runtimes
* `ecc`              memory errors of the devices, and how they rise
* `readings`         numbers of the system groups that need no more than one line each
* `group_errors`     errors that reports carry, as events when they come and when they go
* `sample`           a single report, for high-resolution metrics
* `amounts`          what a number of a report can be at all
"""

from emitter.fold.minute import Fold
from emitter.fold.runtime_owner import RuntimeOwner
from emitter.fold.runtimes import RuntimeMinute
from emitter.fold.sample import ReportSample
from emitter.fold.stamp import FoldSettings, Stamp

__all__ = ["Fold", "FoldSettings", "ReportSample", "RuntimeMinute", "RuntimeOwner", "Stamp"]
