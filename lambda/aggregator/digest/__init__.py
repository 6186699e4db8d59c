"""
Each week, what idle cores cost, as a message to the alarm topic: of the ledger alone.

* `function`  the handler
* `week`      the sums of seven days
* `text`      what is said of them
"""

from aggregator.digest.function import handler

__all__ = ["handler"]
