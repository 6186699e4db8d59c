"""Records on disk until the destination has answered for them."""

from emitter.spool.records import NewRecord, SpoolHealth
from emitter.spool.spool import Spool, SpoolFailedError

__all__ = ["NewRecord", "Spool", "SpoolFailedError", "SpoolHealth"]
