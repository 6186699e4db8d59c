"""
From reports to a minute: the meaning of every number in a minute line.

One file per subject, each a small accumulator that reports are added to and
that is read at the end of the minute. All of it is pure: times come in as
arguments, state goes out as a value.
"""

from neuron_emitter.fold.minute import Fold, LineIdentity
from neuron_emitter.fold.minute_cores import ReportSample
from neuron_emitter.fold.samples import FoldSettings

__all__ = ["Fold", "FoldSettings", "LineIdentity", "ReportSample"]
