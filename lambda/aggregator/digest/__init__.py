"""Each week, what idle cores cost, as a message to the alarm topic: of the ledger alone."""

from aggregator.digest.function import handler

__all__ = ["handler"]
