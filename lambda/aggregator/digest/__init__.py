"""The digest: each week, a message about the cost of idle cores, from the ledger alone."""

from aggregator.digest.function import handler

__all__ = ["handler"]
