"""The digest: each week, what idle cores cost, as a message, of the ledger alone."""

from aggregator.digest.function import handler

__all__ = ["handler"]
