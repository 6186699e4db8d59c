"""Records on disk until the destination has answered for them."""

from neuron_emitter.spool.records import NewRecord, SpoolHealth
from neuron_emitter.spool.spool import Spool, SpoolFailedError

__all__ = ["NewRecord", "Spool", "SpoolFailedError", "SpoolHealth"]
