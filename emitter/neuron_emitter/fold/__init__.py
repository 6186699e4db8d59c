"""
The fold: compute every number of a minute line from reports.

Each file has one subject: a small accumulator that takes reports and is read at the end of the
minute. The code is pure: times are arguments, and state is a value.
"""

from neuron_emitter.fold.minute import Fold, LineIdentity
from neuron_emitter.fold.minute_cores import ReportSample
from neuron_emitter.fold.samples import FoldSettings

__all__ = ["Fold", "FoldSettings", "LineIdentity", "ReportSample"]
