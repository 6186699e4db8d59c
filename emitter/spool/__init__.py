"""
Records on disk until the destination has answered for them.

* `spool`           what the rest of the emitter uses
* `records`         what goes in and comes out
* `holdings`        all that waits, on the disk and in memory
* `waiting`         reading it
* `books`           the counters of a boot, and what the disk does not have yet
* `mirror`          keeping the disk up to date: asked again, or replaced
* `notices`         saying so
* `disk`            one directory and its file
* `ledger`          records and counters as rows
* `transactions`    done, refused or damaged
* `opening`         the file: making it, refusing it, saying why
* `layout`          the tables
* `directory_lock`  one emitter per directory
* `set_aside`       damaged files
* `quarantine`      records that no destination takes, for people
* `bounds`          how much is kept, and for how long
* `boots`           the name of an emitter start
"""

from emitter.spool.opening import SpoolHeldError, SpoolUnusableError
from emitter.spool.records import NewRecord, SpooledRecord, SpoolHealth
from emitter.spool.spool import Spool
from emitter.spool.transactions import SpoolFailedError

__all__ = [
    "NewRecord",
    "Spool",
    "SpoolFailedError",
    "SpoolHealth",
    "SpoolHeldError",
    "SpoolUnusableError",
    "SpooledRecord",
]
