"""
The emitters' lines into the table.

* `function`  the handler
* `intake`    which log lines become records, which are dropped and why
"""

from aggregator.ingest.function import handler

__all__ = ["handler"]
