"""Records on disk until the destination has answered for them."""

from emitter.spool.disk import SpoolHeldError, SpoolUnusableError
from emitter.spool.records import NewRecord, SpoolHealth
from emitter.spool.spool import Spool
from emitter.spool.transactions import SpoolFailedError

__all__ = [
    "NewRecord", "Spool", "SpoolFailedError", "SpoolHealth", "SpoolHeldError",
    "SpoolUnusableError",
]  # fmt: skip
