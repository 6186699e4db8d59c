"""Each minute, one rollup per cluster: which minutes are due, and what is remembered of them."""

from aggregator.close.function import handler

__all__ = ["handler"]
