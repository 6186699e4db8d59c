"""
Each minute, one rollup per cluster: which minutes are due, and what is remembered of them.

* `function`       the handler
* `run`            one run of close: which minutes, in what order, what is remembered
* `clock`          the time it has
* `processes`      the same question to several processes
* `share`          what each of them does: some of the buckets
* `reduction`      a minute put together from what each has read
* `publishing`     its rollups, printed and remembered
* `outcome`        what that run did
* `attempts`       when to give up a minute that no run can read whole
* `bucket_reader`  the records of a minute, and no more than it can hold
* `registry`       which instances there are, which have gone silent, which are gone
* `presence`       the minutes in which one of them was there
* `capacity`       how many of them are remembered
"""

from aggregator.close.function import handler

__all__ = ["handler"]
