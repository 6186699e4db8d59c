"""Close: each minute, one rollup per cluster, from due minutes and stored progress."""

from aggregator.close.function import handler

__all__ = ["handler"]
