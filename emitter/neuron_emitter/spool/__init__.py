"""The spool: records on disk until the destination has answered for them."""

from neuron_emitter.spool.spool import Spool, SpoolFailedError
from neuron_emitter.spool.spool_records import NewRecord, SpoolHealth

__all__ = ["NewRecord", "Spool", "SpoolFailedError", "SpoolHealth"]
