"""
Each hour, the ledger's objects of an hour whose minutes no longer change.

* `function`    the handler
* `run`         which hours are due, in what order, what is remembered
* `parts`       the minutes of some buckets become their objects, in processes as close has them
* `hour`        the minutes of one bucket become rows
* `admission`   which instances of a bucket count
* `purchases`   how EC2 says that instances are bought, remembered with the first reading
"""

from aggregator.settle.function import handler

__all__ = ["handler"]
