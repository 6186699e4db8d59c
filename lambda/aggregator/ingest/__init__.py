"""Ingest: store the emitters' lines in the table."""

from aggregator.ingest.function import handler

__all__ = ["handler"]
