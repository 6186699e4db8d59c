"""
From reports to a minute: the meaning of every number in a minute line.

One file per subject, each a small accumulator with `add` and a reading at the
end of the minute. All of it is pure: times come in as arguments, state goes
out as a value.
"""

from emitter.fold.cores import ReportSample
from emitter.fold.minute import Fold, FoldSettings, Stamp
from emitter.fold.runtime import RuntimeOwner

__all__ = ["Fold", "FoldSettings", "ReportSample", "RuntimeOwner", "Stamp"]
