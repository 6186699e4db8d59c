"""
Records on disk until the destination has answered for them.

* `spool`           what the rest of the emitter uses
* `records`         what goes in and comes out, and the name of an emitter start
* `bounds`          how much is kept, and for how long
* `record_queue`    all that waits, on the disk and in memory
* `backlog`         reading it
* `boot_counters`   what became of a boot's records, and what the disk does not have yet
* `mirror`          keeping the disk up to date: asked again, or replaced
* `notices`         saying so
* `disk`            one directory and its file, and damaged files
* `directory_lock`  one emitter per directory
* `layout`          the tables
* `ledger`          records and counters as rows
* `transactions`    done, refused or damaged
* `quarantine`      records that no destination takes, for people
"""

from emitter.spool.disk import SpoolHeldError, SpoolUnusableError
from emitter.spool.records import NewRecord, SpooledRecord, SpoolHealth
from emitter.spool.spool import Spool
from emitter.spool.transactions import SpoolFailedError

__all__ = [
    "NewRecord", "Spool", "SpoolFailedError", "SpoolHealth", "SpoolHeldError",
    "SpoolUnusableError", "SpooledRecord",
]  # fmt: skip
