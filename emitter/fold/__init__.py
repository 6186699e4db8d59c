"""
From reports to a minute: the meaning of every number in a minute line.

One file per subject, each a small accumulator with `add` and a reading at the
end of the minute. All of it is pure: times come in as arguments, state goes
out as a value.
"""

from emitter.fold.minute import Fold
from emitter.fold.runtime_owner import RuntimeOwner
from emitter.fold.sample import ReportSample
from emitter.fold.stamp import FoldSettings, Stamp

__all__ = ["Fold", "FoldSettings", "ReportSample", "RuntimeOwner", "Stamp"]
