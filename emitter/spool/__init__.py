"""
Records on disk until the destination has answered for them.

* `spool`           what the rest of the emitter uses
* `records`         what goes in and comes out
* `ledger`          records and counters as rows
* `transactions`    one writer, all or nothing
* `opening`         the file: making it, refusing it, saying why
* `layout`          the tables
* `directory_lock`  one emitter per directory
"""

from emitter.spool.spool import (
    NewRecord,
    Spool,
    SpooledRecord,
    SpoolFailedError,
    SpoolHealth,
    SpoolHeldError,
    SpoolUnusableError,
)

__all__ = [
    "NewRecord",
    "Spool",
    "SpoolFailedError",
    "SpoolHealth",
    "SpoolHeldError",
    "SpoolUnusableError",
    "SpooledRecord",
]
