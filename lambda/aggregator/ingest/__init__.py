"""The emitters' lines into the table."""

from aggregator.ingest.function import handler

__all__ = ["handler"]
