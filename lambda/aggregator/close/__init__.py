"""
Each minute, one rollup per cluster: which minutes are due, and what is remembered of them.

* `function`       the handler
* `run`            one run of close: which minutes, in what order, what is remembered
* `share`          what each of them does: some of the buckets
* `reduction`      a minute put together from what each has read
* `publishing`     its rollups, printed and remembered
* `outcome`        what that run did
* `attempts`       when to give up a minute that no run can read whole
* `registry`       which instances there are, which have gone silent, which are gone
* `presence`       the minutes in which one of them was there
"""

from aggregator.close.function import handler

__all__ = ["handler"]
